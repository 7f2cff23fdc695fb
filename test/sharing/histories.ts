/**
 * Random histories of sharing, in the store in memory and, a tenth of them, in SQLite, against a model of who may see what.
 * Ends with 1 for the first difference, which it prints with the steps that lead to it.
 *
 *   node test/sharing/histories.ts --histories 1000 --seed 7
 */
import { parseArgs } from "node:util";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { playShareHistories } from "./play-histories.ts";

const { values } = parseArgs({
  options: { histories: { type: "string", default: "1000" }, seed: { type: "string" } },
});
const histories = Number(values.histories);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
const inMemory = await playShareHistories(async () => createInMemoryStore(), { histories, seed });
const inSqlite = await playShareHistories(() => openSqliteStore({ path: ":memory:" }), {
  histories: Math.ceil(histories / 10),
  seed: seed + 1,
});
const figures = Object.fromEntries(
  Object.entries(inMemory).map(([name, count]) => [name, count + inSqlite[name as keyof typeof inSqlite]]),
);
// Else it would have compared nothing with nothing.
const isEmpty = Object.values(figures).some((count) => count === 0);
process.stdout.write(`${JSON.stringify({ test: "S10", ...figures, seed })}\n`);
process.exitCode = isEmpty ? 1 : 0;
