import { readFileSync } from "node:fs";

/** Two statements of a conversation, and whether the later one ends the earlier. */
export interface EndingPair {
  /** The name of the file in `scripts/answers`, without its extension. */
  readonly file: string;
  /** The place of the conversation in it, from 0. */
  readonly conversation: number;
  readonly earlier: string;
  readonly later: string;
  /** 1, or 0.5 where only a part is ended, or 0. */
  readonly target: number;
}

const TARGETS: Readonly<Record<string, number>> = { E: 1, P: 0.5, N: 0 };

/** The judged pairs of `ending-pairs.tsv`, but for those that the reader could not tell. */
export function readEndingPairs(): EndingPair[] {
  const lines = readFileSync(new URL("ending-pairs.tsv", import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.flatMap((line) => {
    if (line.startsWith("#")) return [];
    const [place = "", verdict = "", earlier = "", later = ""] = line.split("\t");
    const [file = "", conversation] = place.split(" ");
    const target = TARGETS[verdict];
    return target === undefined ? [] : [{ file, conversation: Number(conversation), earlier, later, target }];
  });
}
