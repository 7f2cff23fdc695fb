import { isUnspaced, splitWords } from "../search/search-terms.ts";
import { runAtOnce, runInSlices } from "../time-slicing.ts";
import { matchWholeTokens } from "./cut-text.ts";
import { foldTextInPlace } from "./normalize-text.ts";
import type { TextSpan } from "./split-text.ts";

/** The shape of a value, if it is recognisable. */
export type ValueShape =
  | "email"
  | "link"
  | "phone"
  | "extension"
  | "money"
  | "room"
  | "address"
  | "date"
  | "time"
  | "amount"
  | "code"
  | "number"
  | "quoted";

/** An index of many phrases: a text is compared only with those that may occur in it. */
export interface PhraseIndex {
  /** The phrases that occur in a text, as `findPhrase` finds them, in the given order. */
  findIn(text: string): readonly (readonly string[])[];
}

const BETWEEN = /[^\p{L}\p{N}]+/u;

export function createPhraseIndex(runs: readonly (readonly string[])[]): PhraseIndex {
  return runAtOnce(buildPhraseIndex(runs));
}

/** Builds the index in slices, for thousands of phrases. */
export function createPhraseIndexInSlices(runs: readonly (readonly string[])[]): Promise<PhraseIndex> {
  return runInSlices(buildPhraseIndex(runs));
}

function* buildPhraseIndex(runs: readonly (readonly string[])[]): Generator<void, PhraseIndex, void> {
  const byParts = new Map<string, number[]>();
  const lengths = new Set<number>();
  // These have no spaces around them, so every text is searched for them.
  const anywhere: number[] = [];
  for (const [place, run] of runs.entries()) {
    const parts = run.some(isUnspaced) ? [] : splitAtSigns(run.join(" "));
    const key = parts.join(" ");
    const known = byParts.get(key);
    if (parts.length === 0) anywhere.push(place);
    else if (known) known.push(place);
    else byParts.set(key, [place]);
    lengths.add(parts.length);
    yield;
  }
  lengths.delete(0);
  return {
    findIn(text) {
      if (text === "" || runs.length === 0) return [];
      const places = new Set(anywhere);
      for (const key of iterateNGrams(splitAtSigns(text), lengths)) {
        for (const place of byParts.get(key) ?? []) places.add(place);
      }
      return [...places]
        .sort((one, other) => one - other)
        .map((place) => runs[place] ?? [])
        .filter((run) => findPhrase(text, run).length > 0);
    },
  };
}

/** All n-grams of the given lengths, each joined by spaces. */
export function* iterateNGrams(words: readonly string[], lengths: ReadonlySet<number>): Generator<string> {
  for (const length of lengths) {
    for (let from = 0; from + length <= words.length; from += 1) {
      yield words.slice(from, from + length).join(" ");
    }
  }
}

/** The parts of a text between signs, as `findPhrase` splits it. */
function splitAtSigns(text: string): string[] {
  return foldTextInPlace(text)
    .toLowerCase()
    .split(BETWEEN)
    .filter((part) => part !== "");
}

/** Shapes whose signs are part of the value: `jo@pine.io` is not in `jo@pine.io.nz`. */
const STRICT_SHAPES: ReadonlySet<ValueShape> = new Set([
  "email",
  "link",
  "code",
  "number",
  "phone",
  "extension",
]);

/**
 * The spans of consecutive words in a text, whatever is between them. A span is never part of a number, a
 * code or a word: it is widened to the whole, or dropped ("350" in "2,350").
 */
export function findPhrase(text: string, run: readonly string[]): TextSpan[] {
  return matchWords(text, run).flatMap((span) => matchWholeTokens(text, span) ?? []);
}

function matchWords(text: string, run: readonly string[]): TextSpan[] {
  if (run.length === 0) return [];
  const pattern = new RegExp(buildPattern(run), "giu");
  return Array.from(foldTextInPlace(text).matchAll(pattern), ({ 0: match, index }) => ({
    start: index,
    end: index + match.length,
  }));
}

/** The spans of a complete value: not inside a longer address, number or code. */
export function findExactPhrase(text: string, value: string): TextSpan[] {
  return matchWords(text, splitWords(value))
    .filter(
      ({ start, end }) =>
        !/[\p{L}\p{N}][._%+@-]$/u.test(text.slice(Math.max(0, start - 2), start)) &&
        !/^(?:[@_-]|\.(?=[\p{L}\p{N}]))[\p{L}\p{N}]/u.test(text.slice(end, end + 3)),
    )
    .flatMap((span) => matchWholeTokens(text, span) ?? []);
}

/** The spellings of a value: as given, and without the characters that join its parts. */
export function listSpellings({
  text,
  shape,
}: {
  readonly text: string;
  readonly shape?: ValueShape;
}): string[] {
  const extended =
    shape === "phone" ? /^(?<line>.*?),? ?(?<extension>(?:ext\.?|extension|x) ?\d+)$/iu.exec(text) : null;
  if (extended?.groups) {
    const { line = "", extension = "" } = extended.groups;
    const digits = /\d+$/.exec(extension)?.[0] ?? "";
    return [text, ...listSpellings({ text: line, shape: "phone" }), `extension ${digits}`, `ext ${digits}`];
  }
  const parts = splitWords(text);
  const isJoined = shape !== undefined && STRICT_SHAPES.has(shape) && parts.length > 1 && shape !== "email";
  return isJoined ? [text, parts.join("")] : [text];
}

/** The words in sequence; Chinese, Japanese and Thai words are not separated by spaces. */
function buildPattern(run: readonly string[]): string {
  const escaped = run.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const between = (one: string, other: string): string =>
    isUnspaced(one) && isUnspaced(other) ? "[^\\p{L}\\p{N}]*" : "[^\\p{L}\\p{N}]+";
  const joined = escaped
    .map((word, i) => (i === 0 ? word : between(run[i - 1] ?? "", run[i] ?? "") + word))
    .join("");
  const before = isUnspaced(run[0] ?? "") ? "" : "(?<![\\p{L}\\p{N}])";
  const after = isUnspaced(run.at(-1) ?? "") ? "" : "(?![\\p{L}\\p{N}])";
  return `${before}${joined}${after}`;
}
