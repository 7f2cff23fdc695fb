import { isUnspaced, splitWords } from "../../domain/search/search-terms.ts";
import { matchWholeTokens } from "../../domain/text/cut-text.ts";
import { foldTextInPlace } from "../../domain/text/normalize-text.ts";
import type { TextSpan } from "../../domain/text/split-text.ts";
import type { ValueShape } from "../../language/en/value-shapes.ts";
import { runAtOnce, runInSlices } from "../time-slicing.ts";

/** Many runs of words: a text is held against those alone that may stand in it. */
export interface PhraseIndex {
  /** The runs that stand in a text, as `placesOf` finds them, in the order in which they were given. */
  findIn(text: string): readonly (readonly string[])[];
}

const BETWEEN = /[^\p{L}\p{N}]+/u;

export function createPhraseIndex(runs: readonly (readonly string[])[]): PhraseIndex {
  return runAtOnce(buildPhraseIndex(runs));
}

/** The same in slices, for runs by the thousand. */
export function createPhraseIndexInSlices(runs: readonly (readonly string[])[]): Promise<PhraseIndex> {
  return runInSlices(buildPhraseIndex(runs));
}

function* buildPhraseIndex(runs: readonly (readonly string[])[]): Generator<void, PhraseIndex, void> {
  const byParts = new Map<string, number[]>();
  const lengths = new Set<number>();
  // No space parts these from what stands around them: they are looked for in every text.
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

/** All stretches of words that have one of the lengths, each joined by spaces. */
export function* iterateNGrams(words: readonly string[], lengths: ReadonlySet<number>): Generator<string> {
  for (const length of lengths) {
    for (let from = 0; from + length <= words.length; from += 1) {
      yield words.slice(from, from + length).join(" ");
    }
  }
}

/** What stands between signs, as `placesOf` takes a text apart. */
function splitAtSigns(text: string): string[] {
  return foldTextInPlace(text)
    .toLowerCase()
    .split(BETWEEN)
    .filter((part) => part !== "");
}

/** Shapes whose signs belong to them: `jo@pine.io` is not in `jo@pine.io.nz`. */
const STRICT_SHAPES: ReadonlySet<ValueShape> = new Set([
  "email",
  "link",
  "code",
  "number",
  "phone",
  "extension",
]);

/**
 * Where words stand one after the other in a text, whatever stands between their letters' ends. A place is never a part of
 * a number, a code or a word: it is widened to the whole, or is none ("350" in "2,350").
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

/** Where a text stands as a whole: not inside a longer address, number or code. */
export function findExactPhrase(text: string, value: string): TextSpan[] {
  return matchWords(text, splitWords(value))
    .filter(
      ({ start, end }) =>
        !/[\p{L}\p{N}][._%+@-]$/u.test(text.slice(Math.max(0, start - 2), start)) &&
        !/^(?:[@_-]|\.(?=[\p{L}\p{N}]))[\p{L}\p{N}]/u.test(text.slice(end, end + 3)),
    )
    .flatMap((span) => matchWholeTokens(text, span) ?? []);
}

/** The ways to write a value: as it stands, and without what joins its parts. */
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

/** The words in a row; no space parts those of Chinese, Japanese or Thai from what stands around them. */
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
