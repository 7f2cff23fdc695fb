import { splitSentences, type TextSpan } from "../../domain/text/split-text.ts";

/**
 * Citation marks of a model: "[2]", "[1, 3]", "[1][4]", "[2-4]", and common deviations: "【2】", "[^2]", "[note
 * 2]", "[n2]". Includes the white space before a mark.
 */
const CITATION_SOURCE = String.raw`\s*[[【]\s*\^?(?:notes?\s*|n\s*)?\d{1,3}(?:\s*(?:,|;|and|[-–])\s*(?:n\s*)?\d{1,3})*\s*(?:†[^\]】]{0,20})?[\]】]`;
const CITATION = new RegExp(CITATION_SOURCE, "giu");
/** A mark after the end of a sentence belongs to that sentence. */
const CITATION_AFTER_END = new RegExp(`([.!?…。！？]["'”’)]*)((?:${CITATION_SOURCE})+)`, "giu");
/** Text that may become a mark when more of it arrives. */
const OPEN_CITATION = /\s*(?:[[【][^\]】\n]{0,40})?$/u;

/** Removes citation marks from a streamed text and collects the cited notes. */
export interface CitationReader {
  /** Takes the next text and gives what can be shown. */
  take(text: string): string;
  /** Gives the rest. If the text was cut off, an unfinished sentence does not count. */
  end(isCut: boolean): string;
  /** Numbers of the cited notes, in order of citation. */
  readonly used: readonly number[];
  /** Number of sentences left out. */
  readonly dropped: number;
}

/** The numbers in the marks of a text that lie between 1 and `most`. */
function parseCitations(text: string, most: number): number[] {
  const numbers = [...text.matchAll(CITATION)].flatMap(([mark]) =>
    [...mark.matchAll(/(\d+)(?:\s*[-–]\s*(?:n\s*)?(\d+))?/giu)].flatMap(([, from, to]) => {
      const first = Number(from);
      const last = to === undefined ? first : Math.min(Number(to), most);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
    }),
  );
  return numbers.filter((number) => number >= 1 && number <= most);
}

/**
 * Passes on only sentences that cite an existing note, without their marks. A line that ends with a colon is
 * kept with the text after it, and so is a list number.
 */
export function createStrictCitationReader(most: number): CitationReader {
  const used: number[] = [];
  let dropped = 0;
  let rest = "";
  let heading = "";
  let place = "";
  let isBegun = false;

  /** A sentence without a mark: a list number, a heading line, or a statement without a source. */
  const passBy = (gap: string, plain: string): void => {
    if (/^\d{1,3}[.)]$/.test(plain)) {
      place = `${gap}${plain}`;
      return;
    }
    if (plain.endsWith(":")) heading += `${place}${gap}${plain}`;
    else if (/\p{L}/u.test(plain)) dropped += 1;
    place = "";
  };
  const give = (gap: string, sentence: string): string => {
    const plain = sentence.replace(CITATION, "").trim();
    const numbers = parseCitations(sentence, most);
    if (numbers.length === 0) {
      passBy(gap, plain);
      return "";
    }
    addNumbers(used, numbers);
    const whole = `${heading}${place}${gap}${plain}`;
    heading = "";
    place = "";
    const given = isBegun ? whole : whole.trimStart();
    isBegun = true;
    return given;
  };
  const read = (sure: readonly TextSpan[], isCut: boolean): string => {
    let output = "";
    let from = 0;
    for (const { start, end } of sure) {
      const text = rest.slice(start, end);
      const gap = rest.slice(from, start).includes("\n") ? "\n" : " ";
      if (!isCut || end < rest.trimEnd().length || isWholeSentence(text)) output += give(gap, text);
      from = end;
    }
    rest = rest.slice(from);
    return output;
  };
  return {
    take(text) {
      rest = (rest + text).replace(CITATION_AFTER_END, "$2$1");
      const spans = splitSentences(rest);
      // The last sentence may continue; if it may be a mark, it belongs to the previous sentence.
      const isMark = /^[[【]/.test(rest.slice(spans.at(-1)?.start ?? 0));
      return read(spans.slice(0, Math.max(0, spans.length - (isMark ? 2 : 1))), false);
    },
    end: (isCut) => read(splitSentences(rest), isCut),
    used,
    get dropped() {
      return dropped;
    },
  };
}

function addNumbers(used: number[], numbers: readonly number[]): void {
  for (const number of numbers) if (!used.includes(number)) used.push(number);
}

const isWholeSentence = (sentence: string): boolean => /[.!?…。！？\]】]["'”’)]*$/u.test(sentence);

/** Passes on all text as it arrives, without its marks. Code keeps its brackets. */
export function createLenientCitationReader(most: number): CitationReader {
  const used: number[] = [];
  let rest = "";
  let isCode = false;

  const give = (text: string): string =>
    // Text between backticks is code.
    text
      .split(/(`+)/u)
      .map((piece) => {
        if (piece.startsWith("`")) {
          isCode = !isCode;
          return piece;
        }
        if (isCode) return piece;
        addNumbers(used, parseCitations(piece, most));
        return piece.replace(CITATION, "");
      })
      .join("");
  return {
    take(text) {
      rest += text;
      const openLength = /`+$/u.exec(rest)?.[0].length ?? OPEN_CITATION.exec(rest)?.[0].length ?? 0;
      const sure = rest.slice(0, rest.length - openLength);
      rest = rest.slice(sure.length);
      return give(sure);
    },
    end() {
      const output = give(rest);
      rest = "";
      return output.trimEnd();
    },
    used,
    dropped: 0,
  };
}
