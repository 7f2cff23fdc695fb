import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { openSqliteStore } from "./index.ts";

const HOUR = 3_600_000;

let folder: string;
let record: MemoryStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-leases-"));
  record = await openSqliteStore({ path: join(folder, "a.db") });
});
afterEach(async () => {
  await record.close();
  rmSync(folder, { recursive: true });
});

/** As if another process had taken it. */
function taken(change: (token: string) => string): void {
  const database = new DatabaseSync(join(folder, "a.db"));
  const row = database.prepare("SELECT token FROM leases WHERE name = 'decay'").get();
  const token = change(String(row?.token));
  database.prepare("UPDATE leases SET token = ? WHERE name = 'decay'").run(token);
  database.close();
}

describe("a lease in a SQLite file", () => {
  it("is free at once after its process was killed", async () => {
    await record.jobs.takeLease("decay", { forMs: HOUR });
    const { pid } = spawnSync(process.execPath, ["--version"]);
    taken((token) => token.replace(`.${process.pid}.`, `.${pid}.`));
    const { token } = await record.jobs.takeLease("decay", { forMs: HOUR });
    expect(token).toBeDefined();
    expect(await record.jobs.renewLease("decay", token ?? "", HOUR)).toBe(true);
  });

  it("is held while its process lives, or if it is on another machine", async () => {
    await record.jobs.takeLease("decay", { forMs: HOUR });
    expect(await record.jobs.takeLease("decay", { forMs: HOUR })).toMatchObject({ refused: "held" });
    const { pid } = spawnSync(process.execPath, ["--version"]);
    taken((token) => token.replace(/^[^.]+\.\d+\./, `elsewhere.${pid}.`));
    expect(await record.jobs.takeLease("decay", { forMs: HOUR })).toMatchObject({ refused: "held" });
  });
});
