import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Calls } from "../../../ports/language/model-calls.ts";
import { callsConformance, makeModelCall } from "../../../testing/model-calls-conformance.ts";
import { openSqliteStore, type SqliteStore } from "../index.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-calls-"));
const records = new Map<Calls, { readonly record: SqliteStore; readonly path: string }>();
let count = 0;

async function open(path: string): Promise<Calls> {
  const record = await openSqliteStore({ path });
  records.set(record.calls, { record, path });
  return record.calls;
}

afterAll(async () => {
  for (const { record } of records.values()) await record.close();
  rmSync(folder, { recursive: true });
});

callsConformance({
  name: "sqlite",
  open: () => {
    count += 1;
    return open(join(folder, `${count}.db`));
  },
  async reopen(calls) {
    const held = records.get(calls);
    await held?.record.close();
    return open(held?.path ?? "");
  },
});

it("adds up the calls of two processes in one file", async () => {
  const path = join(folder, "two.db");
  const [one, other] = [await open(path), await open(path)];
  await Promise.all([one.note([makeModelCall({ id: "1" })]), other.note([makeModelCall({ id: "2" })])]);
  expect((await one.sums({}))[0]?.calls).toBe(2);
  expect((await other.sums({}))[0]?.calls).toBe(2);
});

it("throws `unavailable` after the database is closed", async () => {
  const record = await openSqliteStore({ path: ":memory:" });
  await record.close();
  await expect(record.calls.note([makeModelCall({ id: "1" })])).rejects.toMatchObject({
    code: "unavailable",
  });
});
