/**
 * Random histories, of which each is replayed: in the store in memory and, a tenth of them, in SQLite. The digests of the store
 * and of the replay must be equal. Ends with 1 for the first difference, which it prints with the steps that lead to it.
 *
 *   node test/replay/histories.ts --histories 1000 --seed 7
 */
import { parseArgs } from "node:util";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { playReplayHistories } from "./play-histories.ts";

const { values } = parseArgs({
  options: { histories: { type: "string", default: "1000" }, seed: { type: "string" } },
});
const histories = Number(values.histories);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
const inMemory = await playReplayHistories(async () => createInMemoryStore(), { histories, seed });
const inSqlite = await playReplayHistories(() => openSqliteStore({ path: ":memory:" }), {
  histories: Math.ceil(histories / 10),
  seed: seed + 1,
});
const figures = Object.fromEntries(
  Object.entries(inMemory).map(([name, count]) => [name, count + inSqlite[name as keyof typeof inSqlite]]),
);
// Else it would have compared nothing with nothing.
const isEmpty = Object.values(figures).some((count) => count === 0);
process.stdout.write(`${JSON.stringify({ test: "P6", ...figures, seed })}\n`);
process.exitCode = isEmpty ? 1 : 0;
