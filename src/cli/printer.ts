import { stripVTControlCharacters, styleText } from "node:util";
import { toWire } from "../http/schemas/wire.ts";

/** The output of a command: results on stdout, notes on stderr. With `json`, one document on stdout and nothing else. */
export interface Printer {
  readonly json: boolean;
  /** Prints the result: as a JSON document, or as lines for people. */
  result(value: unknown, lines: () => readonly string[]): void;
  /** Prints a note for people; nothing with `json`. */
  note(text: string): void;
  error(code: string, message: string): void;
}

export function createPrinter(json: boolean): Printer {
  const onStdout = (value: unknown): void => {
    process.stdout.write(`${JSON.stringify(value)}\n`);
  };
  return {
    json,
    result(value, lines) {
      if (json) onStdout(toWire(value));
      else for (const line of lines()) printLine(line);
    },
    note(text) {
      if (!json) process.stderr.write(`${text}\n`);
    },
    error(code, message) {
      if (json) onStdout({ error: { code, message } });
      else process.stderr.write(`${colorText("red", "keepsake:", process.stderr)} ${message}\n`);
    },
  };
}

/** Prints a line on stdout. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Gives a text as one line of at most `most` characters. It removes escape sequences and control characters, so that a
 * message cannot move the cursor, colour the terminal or change the writing direction.
 */
export function toShortLine(text: string, most = 160): string {
  const line = stripVTControlCharacters(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to take out.
    .replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "�")
    .replace(/\s+/g, " ")
    .trim();
  const letters = [...line];
  return letters.length <= most ? line : `${letters.slice(0, most - 1).join("")}…`;
}

/** Aligns columns to their widest cell; the last column is not padded. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, countVisible(cell));
  // An empty column takes no space.
  return rows.map((row) =>
    row
      .map((cell, i) =>
        i === row.length - 1
          ? cell
          : `${cell}${" ".repeat(Math.max(0, (widths[i] ?? 0) - countVisible(cell)))}`,
      )
      .filter((_, i) => (widths[i] ?? 0) > 0)
      .join("  ")
      .trimEnd(),
  );
}

/** The length of a text without the codes of colours, in UTF-16 units. */
function countVisible(text: string): number {
  return text.includes("\u001b") ? stripVTControlCharacters(text).length : text.length;
}

/** Dims a text if the stream is a terminal with colour. Honours NO_COLOR and FORCE_COLOR. */
export function dimText(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return colorText("dim", text, stream);
}

/** How a text looks on a terminal. */
export type TextColor = "dim" | "bold" | "red" | "green" | "yellow" | "cyan";

/** Colours a text if the stream is a terminal with colour. Honours NO_COLOR and FORCE_COLOR. An empty text stays empty. */
export function colorText(
  color: TextColor,
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  return text === "" ? "" : styleText(color, text, { stream });
}

export function formatDay(at: string): string {
  return at.slice(0, 10);
}

/** "1 memory", "3 memories" */
export function formatCount(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}

/** Progress of long work: on a terminal, a bar; elsewhere a line per second; nothing if quiet. */
export interface ProgressBar {
  /** Shows `done` of `total`, which may be unknown; `text` describes the work. */
  show(done: number, total: number | undefined, text: string): void;
  /** Removes the bar. May be called more than once. */
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
  // The first line comes after one second: short work needs no line.
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

/** "12 kB" or "3.4 MB". */
export function formatSize(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
