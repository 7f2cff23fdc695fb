import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { CallReport } from "../../src/domain/model-usage.ts";
import { createMemory, restoreMemory } from "../../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-calls-"));
afterAll(() => rmSync(folder, { recursive: true }));

const REPORT: CallReport = {
  purpose: "understand",
  model: "gpt-4o-mini",
  host: "api.openai.com",
  outcome: "ok",
  units: 1,
  tokensIn: 100,
  tokensCached: 0,
  tokensOut: 10,
  ms: 5,
};

async function usersIn(path: string): Promise<(string | undefined)[]> {
  const record = await openSqliteStore({ path });
  const calls = await record.calls.list({ limit: 100 });
  await record.close();
  return calls.map(({ user }) => user).sort();
}

it("an erasure of all takes the name out of the ledger of calls, and a restored backup has it no more either", async () => {
  const path = join(folder, "memory.db");
  const copy = join(folder, "copy.db");
  const memory = await createMemory({ path });
  for (const user of ["ana", "bea"]) {
    await memory.scope({ user }).remember("I live in Porto. I use Shram.");
    memory.onCall(REPORT, { project: "default", user });
  }
  await memory.stats();
  await memory.backup(copy);
  await memory.scope({ user: "ana" }).forget("Shram");
  await memory.scope({ user: "bea" }).remember("Forget everything you know about me.");
  await memory.scope({ user: "ana" }).forget({ everything: true });
  const { usage } = await memory.stats();
  expect(usage.chat).toMatchObject({ calls: 2, tokensIn: 200 });
  await memory.close();
  expect(await usersIn(path)).toEqual([undefined, undefined]);
  expect(await usersIn(copy)).toEqual(["ana", "bea"]);
  await restoreMemory({ from: copy, path, replace: true });
  expect(await usersIn(path)).toEqual([undefined, undefined]);
});
