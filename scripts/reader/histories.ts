// Facts that change, from `scripts/answers/histories.txt`: what held first, how its change or its end was told, what only sounds like a
// change, and questions about now and before.
import { readFileSync } from "node:fs";

const SIGNS = {
  "1": "first",
  "+": "changed",
  "-": "ended",
  "~": "unchanging",
  ".": "beside",
  "?": "asksNow",
  "<": "asksBefore",
  "!": "asksWhether",
} as const;

/** A fact that can change, in the phrasings of a writer. */
export type FactHistory = Readonly<Record<(typeof SIGNS)[keyof typeof SIGNS], readonly string[]>>;

/** The histories of a file, in order. */
export function readHistories(file: string | URL): FactHistory[] {
  return readFileSync(file, "utf8")
    .split(/\n\s*\n/)
    .map(readHistory)
    .filter(({ first, asksNow }) => first.length > 0 && asksNow.length > 0);
}

function readHistory(block: string): FactHistory {
  const lists = Object.fromEntries(Object.values(SIGNS).map((key) => [key, [] as string[]]));
  for (const line of block.split("\n")) {
    const key = SIGNS[line.slice(0, 1) as keyof typeof SIGNS];
    if (key && line.slice(1, 2) === " ") lists[key]?.push(line.slice(1).trim());
  }
  return lists as unknown as FactHistory;
}
