// Writes what the reader learns of changes from into a folder: node scripts/reader/history-rows.ts FOLDER
// Pairs of an earlier and a later statement of the histories of `scripts/answers/histories.txt`, and whether the later one ends the earlier.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pick, seeded } from "../../bench/speed/vocabulary.ts";
import { splitIntoPieces } from "../../src/language/en/embedding/sentence-vectors.ts";
import { ROLES, toWindows } from "../../src/language/en/transformer/windows.ts";
import { type FactHistory, readHistories } from "./histories.ts";

/** Word pieces of a statement that are read. */
const MOST_PIECES = 60;
/** One history in so many is held out. */
const HELD = 10;
/** Statements of other histories behind each first statement, half of them of neighbours in the file, which are near in meaning. */
const OTHERS = 4;

const random = seeded(7);
const histories = readHistories(new URL("../answers/histories.txt", import.meta.url));
const rows = histories.flatMap((history, i) =>
  history.first.flatMap((first) => {
    const others = Array.from({ length: OTHERS }, () => {
      const near = i + 1 + Math.floor(random() * 4);
      const other =
        histories[random() < 0.5 ? near % histories.length : Math.floor(random() * histories.length)];
      return other && other !== history
        ? pick(random, [...other.changed, ...other.ended, ...other.first])
        : [];
    }).flat();
    const again = history.first.filter((one) => one !== first);
    return [
      ...pairs(first, history, ["changed", "ended"], 1, i),
      ...pairs(first, history, ["unchanging", "beside"], 0, i),
      ...again.map((later) => toRow("again", first, later, 0, i)),
      ...others.map((later) => toRow("others", first, later, 0, i)),
    ];
  }),
);

function pairs(
  first: string,
  history: FactHistory,
  kinds: readonly (keyof FactHistory)[],
  target: number,
  i: number,
): string[] {
  return kinds.flatMap((kind) => history[kind].map((later) => toRow(kind, first, later, target, i)));
}

function toRow(set: string, earlier: string, later: string, target: number, history: number): string {
  const [before, behind] = [earlier, later].map((text) =>
    splitIntoPieces(text)
      .slice(0, MOST_PIECES)
      .map(({ row }) => row),
  ) as [number[], number[]];
  const request = { tokens: before, roles: before.map(() => ROLES.question) };
  const [window] = toWindows(request, [
    { tokens: behind, roles: behind.map(() => ROLES.user), clauses: [[0, behind.length]] },
  ]);
  const clauses = window?.clauses.map(({ from, to }) => [from, to, target]);
  return JSON.stringify({ set, isHeld: history % HELD === 0, ...window, clauses });
}

const folder = process.argv[2] ?? "reports/reader";
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "histories.jsonl"), `${rows.join("\n")}\n`);
console.log(`${rows.length} pairs`);
