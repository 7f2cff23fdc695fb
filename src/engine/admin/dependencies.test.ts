import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { folderArchive } from "../../adapters/backups/index.ts";
import { createInMemoryStore, memoryCache } from "../../adapters/memory/index.ts";
import { createBackupWorkshop } from "../../adapters/sqlite/backup-workshop.ts";
import type { DependencyState } from "../api/inspection-types.ts";
import { watchDependencies } from "./dependencies.ts";

const clock = () => new Date("2026-11-21T10:00:00Z");

/** The state of a cache whose first `failures` answers fail. */
async function stateAfter(failures: number): Promise<string | undefined> {
  let asked = 0;
  const cache = {
    ...memoryCache({ clock }),
    get: async () => {
      asked += 1;
      if (asked <= failures) throw new Error("no answer in 50 ms");
      return undefined;
    },
  };
  const store = createInMemoryStore();
  const watch = watchDependencies({ store, cache, clock });
  try {
    const find = () => watch.states().find(({ kind }) => kind === "cache")?.state;
    await vi.waitUntil(() => find() !== undefined);
    return find();
  } finally {
    watch.stop();
    await store.close();
  }
}

it("a service whose first answer fails is up if its second comes, because the first request opens the connection", async () => {
  expect(await stateAfter(0)).toBe("up");
  expect(await stateAfter(1)).toBe("up");
});

it("a service that fails twice in a row is down", async () => {
  expect(await stateAfter(2)).toBe("down");
});

const DAY_MS = 86_400_000;

describe("backups in the report of dependencies", () => {
  /** The state with a backup of that age, if there is one, after the server has run for `hours`. */
  async function stateOfBackups(
    hours: number,
    { checkedAt, isFile = false }: { readonly checkedAt?: string; readonly isFile?: boolean } = {},
  ): Promise<DependencyState | undefined> {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-backup-state-"));
    const place = join(folder, "kept");
    if (isFile) writeFileSync(place, "");
    const store = createInMemoryStore();
    let now = clock().getTime();
    const tell = () => new Date(now);
    if (checkedAt !== undefined) {
      const owner = (await store.identity()).replace(/[^A-Za-z0-9]/g, "").slice(0, 12);
      const name = `keepsake-${owner}-${checkedAt.slice(0, 19).replaceAll(":", "-")}Z.db`;
      const note = { name, at: checkedAt, until: "2027-01-01T00:00:00.000Z", bytes: 1, digest: "ab" };
      await store.backups.save(note);
      // A later one that failed its check, and one of another database.
      await store.backups.save({ ...note, name: `keepsake-${owner}-2026-11-21T09-59-00Z.db`, digest: "" });
      await store.backups.save({ ...note, name: "keepsake-another-2026-11-21T09-58-00Z.db" });
    }
    const workshop = createBackupWorkshop({ path: join(folder, "memory.db"), digestKey: "", clock: tell });
    const backups = {
      archive: folderArchive({ path: place }),
      workshop,
      everyMs: DAY_MS,
      keptMs: 30 * DAY_MS,
    };
    const watch = watchDependencies({ store, backups, clock: tell });
    now += hours * 3_600_000;
    try {
      const find = () => watch.states().find(({ kind }) => kind === "backups");
      await vi.waitUntil(() => find() !== undefined);
      return find();
    } finally {
      watch.stop();
      await store.close();
      rmSync(folder, { recursive: true });
    }
  }

  it("are up with the time of the newest one that was checked", async () => {
    expect(await stateOfBackups(0, { checkedAt: "2026-11-20T11:00:00.000Z" })).toMatchObject({
      kind: "backups",
      name: "folder",
      state: "up",
      lastSuccess: "2026-11-20T11:00:00.000Z",
    });
  });

  it("are degraded and overdue if the newest one is two hours older than it may be", async () => {
    const checkedAt = "2026-11-20T11:00:00.000Z";
    expect((await stateOfBackups(2.9, { checkedAt }))?.state).toBe("up");
    expect(await stateOfBackups(3.1, { checkedAt })).toMatchObject({
      state: "degraded",
      problem: "overdue",
      lastSuccess: checkedAt,
    });
  });

  it("are up shortly after the start although there is none, and overdue two hours later", async () => {
    const first = await stateOfBackups(1);
    expect([first?.state, first?.lastSuccess]).toEqual(["up", undefined]);
    expect(await stateOfBackups(2.1)).toMatchObject({ state: "degraded", problem: "overdue" });
  });

  it("are down if their place cannot be reached, without its path", async () => {
    const state = await stateOfBackups(0, { isFile: true });
    expect(state).toMatchObject({ state: "down", problem: "silent" });
    expect(JSON.stringify(state)).not.toContain("kept");
  });
});
