/** How far a long work is. On a terminal a bar that is drawn over; else a line a second; nothing where it is quiet. */
export interface ProgressBar {
  /** `done` of `total`, which may not be known; `text` says of what. */
  show(done: number, total: number | undefined, text: string): void;
  /** Takes the bar away. May be called again. */
  end(): void;
}

const WIDTH = 24;
const REDRAWN_MS = 80;
const LINE_MS = 1000;

export function createProgressBar(
  isQuiet: boolean,
  stream: NodeJS.WriteStream = process.stderr,
): ProgressBar {
  if (isQuiet) return { show() {}, end() {} };
  // The first line comes after a second: short work needs none.
  let last = stream.isTTY ? 0 : Date.now();
  let isDrawn = false;
  return {
    show(done, total, text) {
      const now = Date.now();
      if (now - last < (stream.isTTY ? REDRAWN_MS : LINE_MS)) return;
      last = now;
      const share = total ? Math.min(1, done / total) : undefined;
      if (stream.isTTY) {
        stream.write(`\r\u001b[2K${`${formatBar(share)}${text}`.slice(0, (stream.columns || 80) - 1)}`);
        isDrawn = true;
      } else {
        stream.write(`${formatPercent(share)}${text}\n`);
      }
    },
    end() {
      if (isDrawn) stream.write("\r\u001b[2K");
      isDrawn = false;
    },
  };
}

function formatBar(share: number | undefined): string {
  if (share === undefined) return "";
  const full = Math.round(WIDTH * share);
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${formatPercent(share)} `;
}

function formatPercent(share: number | undefined): string {
  return share === undefined ? "" : `${String(Math.round(100 * share)).padStart(3)} % `;
}
