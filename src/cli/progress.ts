/** How far a long work is. On a terminal a bar that is drawn over; else a line a second; nothing with `--json`. */
export interface Progress {
  /** `done` of `total`, which may not be known; `text` says of what. */
  show(done: number, total: number | undefined, text: string): void;
  end(): void;
}

const WIDTH = 30;

export function progress(isQuiet: boolean, stream: NodeJS.WriteStream = process.stderr): Progress {
  if (isQuiet) return { show() {}, end() {} };
  let last = 0;
  let isDrawn = false;
  return {
    show(done, total, text) {
      const now = Date.now();
      if (now - last < (stream.isTTY ? 80 : 1000)) return;
      last = now;
      const share = total ? Math.min(1, done / total) : undefined;
      if (!stream.isTTY) {
        stream.write(`${share === undefined ? "" : `${Math.round(100 * share)} % `}${text}\n`);
        return;
      }
      const full = Math.round(WIDTH * (share ?? 0));
      const bar =
        share === undefined
          ? ""
          : `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${String(Math.round(100 * share)).padStart(3)} % `;
      stream.write(`\r\u001b[2K${bar}${text}`);
      isDrawn = true;
    },
    end() {
      if (isDrawn) stream.write("\r\u001b[2K");
    },
  };
}
