import { foldTextInPlace } from "../../domain/fold.ts";
import { isUnspaced } from "../../domain/unspaced.ts";
import { runAtOnce, runInSlices } from "../in-slices.ts";
import { findPhrase } from "./places.ts";

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
