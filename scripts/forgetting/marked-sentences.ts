// Reads the files of sentences and of marked conversations, for the scripts that fit what reads requests to forget. Marks stand around the
// words of a request: [what is to go], <what is told in the sentence and not to be kept>, {what is to stay}, ~when~.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A sentence of a file, without its marks. */
export interface MarkedSentence {
  readonly text: string;
  readonly isRequest: boolean;
  /** Of each UTF-16 unit of the text: 0, or the number of the mark around it, from 1, in the order above. */
  readonly parts: readonly number[];
}

const OPENING = "[<{";
const CLOSING = "]>}";
const WHEN = "~";

/** The sentences of a file beside this one, in order. */
export function readMarkedSentences(file: string): MarkedSentence[] {
  return readFileSync(new URL(file, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => /^[+-] /.test(line))
    .map((line) => {
      const text = line.slice(2);
      return line.startsWith("+")
        ? { ...unmark(text), isRequest: true }
        : { text, isRequest: false, parts: [...text].flatMap(({ length }) => Array<number>(length).fill(0)) };
    });
}

/** A sentence of ten is held out of the fit: always the same, whatever else is added. */
export function isHeldOut(text: string): boolean {
  return (createHash("sha256").update(text).digest()[0] ?? 0) % HELD_OUT === 0;
}

const HELD_OUT = 10;

/** A text without its marks, and which part each of its UTF-16 units belongs to. */
export function unmark(marked: string): { text: string; parts: number[] } {
  const parts: number[] = [];
  let [text, part] = ["", 0];
  for (const letter of marked) {
    if (letter === WHEN) part = part === 0 ? OPENING.length + 1 : 0;
    else if (OPENING.includes(letter)) part = OPENING.indexOf(letter) + 1;
    else if (CLOSING.includes(letter)) part = 0;
    else {
      parts.push(...Array<number>(letter.length).fill(part));
      text += letter;
    }
  }
  return { text, parts };
}
