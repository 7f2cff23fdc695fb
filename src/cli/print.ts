import { styleText } from "node:util";
import { toWire } from "../http/wire.ts";

/** Where a command speaks: results on stdout, words for people on stderr. With `json`, one document on stdout alone. */
export interface Printer {
  readonly json: boolean;
  /** The result: as a JSON document, or as lines for people. */
  result(value: unknown, lines: () => readonly string[]): void;
  /** Something for a person to know; nothing with `json`. */
  note(text: string): void;
}

export function printer(json: boolean): Printer {
  return {
    json,
    result(value, lines) {
      if (json) process.stdout.write(`${JSON.stringify(toWire(value))}\n`);
      else for (const line of lines()) process.stdout.write(`${printable(line)}\n`);
    },
    note(text) {
      if (!json) process.stderr.write(`${printable(text)}\n`);
    },
  };
}

/** Text that cannot move the cursor or colour the terminal: escapes in what a user said are shown, not obeyed. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to take out.
  return text.replace(/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]|\u001b(?!\[\d*m)/g, "�");
}

/** Columns as wide as their widest cell; the last one runs free. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

/** Dimmed where stderr or stdout is a terminal that wants colour. */
export function dim(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText("dim", text, { stream });
}

export function day(at: string): string {
  return at.slice(0, 10);
}

/** One line, and not longer than a terminal is wide. */
export function short(text: string, most = 100): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
