import { foldedInPlace } from "../../domain/fold.ts";
import { isUnspaced } from "../../domain/unspaced.ts";
import { placesOf } from "./places.ts";

/** Many runs of words, by the first word of each: a text is held against those alone that may stand in it. */
export interface RunIndex {
  /** The runs that stand in a text, as `placesOf` finds them, in the order in which they were given. */
  in(text: string): readonly (readonly string[])[];
}

const BETWEEN = /[^\p{L}\p{N}]+/u;

export function runIndex(runs: readonly (readonly string[])[]): RunIndex {
  const byFirst = new Map<string, number[]>();
  // No space parts these from what stands before them: they are looked for in every text.
  const anywhere: number[] = [];
  for (const [place, run] of runs.entries()) {
    const [word = ""] = run;
    const first = isUnspaced(word) ? "" : (partsOf(word)[0] ?? "");
    if (first === "") anywhere.push(place);
    else if (!push(byFirst.get(first), place)) byFirst.set(first, [place]);
  }
  return {
    in(text) {
      if (text === "" || runs.length === 0) return [];
      const places = new Set(anywhere);
      for (const word of partsOf(text)) for (const place of byFirst.get(word) ?? []) places.add(place);
      return [...places]
        .sort((one, other) => one - other)
        .map((place) => runs[place] ?? [])
        .filter((run) => placesOf(text, run).length > 0);
    },
  };
}

function push(list: number[] | undefined, place: number): boolean {
  list?.push(place);
  return list !== undefined;
}

/** What stands between signs, as `placesOf` takes a text apart. */
function partsOf(text: string): string[] {
  return foldedInPlace(text)
    .toLowerCase()
    .split(BETWEEN)
    .filter((part) => part !== "");
}
