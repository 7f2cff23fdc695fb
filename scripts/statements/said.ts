import { readFileSync } from "node:fs";

/** A message with memories that it says and memories that it does not say, or that are of no use. */
export interface JudgedMessage {
  /** "written" with its memories for a reading to learn from, or "judged": its memories were made by the rules, and judged by a reader. */
  readonly set: "written" | "judged";
  /** Not to be read while the reading of statements is worked on. */
  readonly isHeld: boolean;
  readonly text: string;
  readonly said: readonly string[];
  readonly unsaid: readonly string[];
}

export function readJudged(): JudgedMessage[] {
  return readFileSync(new URL("said.jsonl", import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as JudgedMessage);
}
