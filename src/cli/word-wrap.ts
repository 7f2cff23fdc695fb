import { stripVTControlCharacters } from "node:util";

/** Characters that take two columns of a terminal: those of East Asia, and pictures. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\uff01-\uff60]/u;
/** Characters that take none: accents on the letter before them, and joiners. */
const NARROW = /\p{M}|\p{Cf}/u;

/** The columns that a text takes on a terminal, without the codes of colours. */
export function measureColumns(text: string): number {
  let columns = 0;
  for (const letter of stripVTControlCharacters(text))
    columns += NARROW.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1;
  return columns;
}

/** Writes a text that comes in parts, broken between words. */
export interface WordWrap {
  /** Writes a part. The last word is held back until it ends. */
  write(part: string): void;
  /** Writes the word that is held back. The next part begins at the left. */
  end(): void;
}

/**
 * Wraps a text at `columns`, asked for at each word. A word that is longer than a line is left to the terminal. Lines after the
 * first begin with `indent`.
 */
export function createWordWrap(columns: () => number, write: (text: string) => void, indent = ""): WordWrap {
  let word = "";
  let gap = "";
  let used = 0;
  const flush = (): void => {
    if (word === "") return;
    const wanted = measureColumns(gap) + measureColumns(word);
    if (used > 0 && used + wanted > columns()) {
      write(`\n${indent}${word}`);
      used = measureColumns(indent) + measureColumns(word);
    } else {
      write(`${gap}${word}`);
      used += wanted;
    }
    [word, gap] = ["", ""];
  };
  return {
    write(part) {
      for (const piece of part.split(/(\n|[^\S\n]+)/)) {
        if (piece === "\n") {
          flush();
          write("\n");
          [gap, used] = ["", 0];
        } else if (piece.trim() === "") {
          if (piece === "") continue;
          flush();
          gap += piece;
        } else word += piece;
      }
    },
    end() {
      flush();
      [gap, used] = ["", 0];
    },
  };
}

/** Wraps one text between words; see `createWordWrap`. */
export function wrapWords(text: string, columns: number, indent = ""): string {
  let wrapped = "";
  const wrap = createWordWrap(
    () => columns,
    (part) => {
      wrapped += part;
    },
    indent,
  );
  wrap.write(text);
  wrap.end();
  return wrapped;
}
