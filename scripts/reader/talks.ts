import { readFileSync } from "node:fs";

/** A message of a talk. */
export interface TalkLine {
  readonly text: string;
  /** What it ends of the lines before, by their places from 0, and whether a part of it only. */
  readonly ends: readonly { readonly line: number; readonly isPart: boolean }[];
  /** Whether it sounds like a change and ends nothing. */
  readonly isUnchanging: boolean;
}

/** What one person told over some weeks. */
export interface Talk {
  readonly name: string;
  readonly lines: readonly TalkLine[];
}

const MARKS = /(?<ends>(?:\s+@\d+\/?)+)?(?<sounds>\s+~)?\s*$/;

/** The talks of a file, in order. The marks are explained in its first lines. Throws for a mark that names no line before. */
export function readTalks(file: string | URL = new URL("talks.txt", import.meta.url)): Talk[] {
  return readFileSync(file, "utf8")
    .split(/^## /m)
    .slice(1)
    .map((block) => {
      const [name = "", ...lines] = block.split("\n").map((line) => line.trim());
      return { name, lines: lines.filter((line) => line !== "").map(readLine) };
    });
}

function readLine(line: string, place: number): TalkLine {
  const { ends = "", sounds } = MARKS.exec(line)?.groups ?? {};
  const ended = [...ends.matchAll(/@(\d+)(\/?)/g)].map(([, number, part]) => ({
    line: Number(number) - 1,
    isPart: part === "/",
  }));
  if (ended.some((one) => one.line < 0 || one.line >= place))
    throw new Error(`A mark names no line before: ${line}`);
  return { text: line.replace(MARKS, ""), ends: ended, isUnchanging: sounds !== undefined };
}
