import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A candidate as `sheet.ts` writes it. */
export interface SheetRow {
  readonly message: string;
  readonly set: string;
  readonly name?: string;
  readonly content: string;
  readonly source: "rules" | "trees";
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly features: Readonly<Record<string, number>>;
}

/**
 * The verdicts of the judges, by message and wording: G to keep, B to keep with a blemish, I an intent, M of the moment, X misread (Xk where
 * what was said is worth keeping, Xm where it is not).
 */
export type Verdicts = ReadonlyMap<string, readonly string[]>;

export function readVerdicts(file: string | URL = new URL("labels.tsv", import.meta.url)): Verdicts {
  return new Map(
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split("\t"))
      .map(([message, hash, ...judges]) => [`${message} ${hash}`, judges] as const),
  );
}

/** The verdicts on a candidate; undefined where nobody judged it. */
export function verdictsOn(verdicts: Verdicts, { message, text }: SheetRow): readonly string[] | undefined {
  return verdicts.get(`${message} ${hashOf(text)}`);
}

/** Names a wording without saying it: letter case and marks do not count. */
function hashOf(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  return createHash("sha256").update(plain).digest("hex").slice(0, 10);
}
