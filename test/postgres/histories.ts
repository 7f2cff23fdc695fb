/**
 * Random histories, the same on the record in memory, in SQLite and in PostgreSQL: after each step the answer and the user's
 * state are compared, at the end of each all that can be read of both users, and now and then every row. Needs KEEPSAKE_TEST_POSTGRES.
 *
 *   node test/postgres/histories.ts --histories 2000
 */
import { isDeepStrictEqual, parseArgs } from "node:util";
import fc from "fast-check";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { Scope } from "../../src/domain/scope.ts";
import type { MemoryStore } from "../../src/ports/memory-store.ts";
import { makeChangeSet } from "../../src/testing/memory-store/change-sets.ts";
import {
  fitChanges,
  type HistoryStep,
  historySteps,
} from "../../src/testing/memory-store/random-histories.ts";
import {
  readAllRows,
  readContents,
  requireStoreDump,
} from "../../src/testing/memory-store/store-contents.ts";
import { testPlace } from "./place.ts";

const { values } = parseArgs({
  options: { histories: { type: "string", default: "2000" }, seed: { type: "string" } },
});
const url = process.env.KEEPSAKE_TEST_POSTGRES;
if (!url) {
  process.stderr.write('histories: needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)"\n');
  process.exit(2);
}

/** So many histories, each of a project of its own, share three records: then all rows of the three are compared. */
const TOGETHER = 25;

const place = testPlace(url, { pipeline: true });
const begun = performance.now();
const counted = { histories: 0, steps: 0, refused: 0 };
let reference = createInMemoryStore();
let others: readonly MemoryStore[] = [];
try {
  await fc.assert(fc.asyncProperty(historySteps, history), {
    numRuns: Number(values.histories),
    ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
  });
  await compareAll();
} finally {
  await place.clear();
}
const seconds = Math.round((performance.now() - begun) / 1000);
process.stdout.write(`${JSON.stringify({ test: "R8", ...counted, seconds })}\n`);

async function history(drawn: readonly HistoryStep[]): Promise<void> {
  if (counted.histories % TOGETHER === 0) {
    await compareAll();
    reference = createInMemoryStore();
    others = [await openSqliteStore({ path: ":memory:" }), await place.open()];
  }
  const project = `project ${counted.histories}`;
  for (const step of drawn) await take(step, { project, user: step.user });
  const everything = (record: MemoryStore) =>
    Promise.all(["ann", "bob"].map((user) => readContents(record, { project, user })));
  const wanted = await everything(reference);
  for (const other of others) same(other.name, await everything(other), wanted);
  counted.histories += 1;
  if (counted.histories % 100 === 0) process.stderr.write(`${counted.histories} histories\n`);
}

async function take(step: HistoryStep, scope: Scope): Promise<void> {
  const held = await reference.since(scope, 0);
  const drawn = step.isFitted ? fitChanges(step.changes, held) : step.changes;
  const whole = makeChangeSet({ ...drawn, base: held.revision + step.stale });
  const read = async (record: MemoryStore) => ({
    outcome: await record.commit(scope, whole).catch((error: { code?: unknown }) => error.code),
    delta: await record.since(scope, Math.max(0, held.revision - 1)),
  });
  const wanted = await read(reference);
  for (const other of others) same(other.name, await read(other), wanted);
  counted.steps += 1;
  if (typeof wanted.outcome !== "number") counted.refused += 1;
}

/** Every row of the records, in its order, and what they say of themselves. */
async function compareAll(): Promise<void> {
  if (others.length === 0) return;
  const wanted = await readAllRows(requireStoreDump(reference));
  for (const other of others) {
    same(other.name, await readAllRows(requireStoreDump(other)), wanted);
    await other.close();
  }
}

function same(name: string, found: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(found, wanted)) return;
  throw new Error(`${name} differs:\n${JSON.stringify(found)}\nmemory:\n${JSON.stringify(wanted)}`);
}
