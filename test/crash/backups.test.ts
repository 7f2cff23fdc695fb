import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { folderArchive } from "../../src/adapters/backups/index.ts";
import { createBackupWorkshop } from "../../src/adapters/sqlite/backup-workshop.ts";
import { digestKeyOf, fileSecret, openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createBackupJob } from "../../src/engine/jobs/backup-job.ts";
import { createMemory, restoreMemory } from "../../src/index.ts";
import type { BackupArchive } from "../../src/ports/backup-archive.ts";
import { killed, random } from "./kill.ts";

const DAY_MS = 86_400_000;
let folder: string;
let path: string;
let kept: string;
let now: number;
const clock = () => new Date(now);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-backups-"));
  path = join(folder, "memory.db");
  kept = join(folder, "kept");
  now = Date.parse("2026-03-01T10:00:00Z");
  await say("I use Shram and Magnet as productivity tools.");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function say(text: string): Promise<void> {
  await using memory = await createMemory({ path, clock, jobs: "elsewhere" });
  await memory.scope({ user: "ana" }).remember(text);
}

async function forget(): Promise<{ readonly name: string; readonly until?: string }[]> {
  await using memory = await createMemory({ path, clock, jobs: "elsewhere" });
  const receipt = await memory.scope({ user: "ana" }).forget("Magnet");
  return [...(("backups" in receipt && receipt.backups) || [])];
}

/** One run of the job, as the background does it. */
async function run(archive: BackupArchive = folderArchive({ path: kept })): Promise<void> {
  const digestKey = digestKeyOf(fileSecret(`${path}.secret`).secret);
  const store = await openSqliteStore({ path, digestKey });
  const workshop = createBackupWorkshop({ path, digestKey, clock });
  const plan = { archive, workshop, everyMs: DAY_MS, keptMs: 30 * DAY_MS };
  try {
    const { signal } = new AbortController();
    for await (const _step of createBackupJob({ store, clock }, plan).run(signal));
  } finally {
    await store.close();
  }
}

const listKept = (): string[] => (existsSync(kept) ? readdirSync(kept).sort() : []);

it("makes a backup when one is due, which can be restored, and leaves no work behind", {
  timeout: 120_000,
}, async () => {
  await run();
  await run();
  expect(listKept()).toHaveLength(1);
  expect(listKept()[0]).toMatch(/^keepsake-[a-zA-Z0-9]{12}-2026-03-01T10-00-00Z\.db$/);
  expect(existsSync(`${path}.backup-work`)).toBe(false);
  now += DAY_MS;
  await run();
  expect(listKept()).toHaveLength(2);
  const into = join(folder, "other.db");
  await restoreMemory({
    from: join(kept, listKept()[1] ?? ""),
    path: into,
    withoutLedger: true,
    jobs: "elsewhere",
  });
  await using memory = await createMemory({ path: into, jobs: "elsewhere" });
  expect((await memory.scope({ user: "ana" }).answer("What productivity tools do I use?")).text).toMatch(
    /Shram/,
  );
});

it("lets a receipt say which backups still hold what was erased, and until when", {
  timeout: 120_000,
}, async () => {
  await run();
  const [name = ""] = listKept();
  const backups = await forget();
  // A day more than the retention, so that a late run does not break the promise.
  expect(backups).toMatchObject([{ name, until: "2026-04-01T10:00:00.000Z" }]);
  expect(readFileSync(join(kept, name)).includes("Magnet")).toBe(true);
  now += 30 * DAY_MS;
  await run();
  expect(listKept()).not.toContain(name);
  for (const file of listKept()) expect(readFileSync(join(kept, file)).includes("Magnet")).toBe(false);
  await say("I use Magnet again.");
  expect((await forget()).map((one) => one.name)).not.toContain(name);
});

it("removes a backup that does not restore, and says so", { timeout: 120_000 }, async () => {
  const archive = folderArchive({ path: kept });
  const spoiling: BackupArchive = {
    ...archive,
    async put(name, file, digest) {
      const bytes = readFileSync(file);
      bytes.fill(255, 40_000, 41_000);
      writeFileSync(file, bytes);
      await archive.put(name, file, digest);
    },
  };
  await expect(run(spoiling)).rejects.toMatchObject({ code: "corrupt" });
  expect(listKept()).toEqual([]);
  expect(existsSync(`${path}.backup-work`)).toBe(false);
  now += 1000;
  expect(await forget()).toEqual([]);
});

it("makes the next backup though an old one cannot be removed, says so, and names no end for the old one", {
  timeout: 120_000,
}, async () => {
  await run();
  const [old = ""] = listKept();
  now += 32 * DAY_MS;
  const archive = folderArchive({ path: kept });
  const stuck: BackupArchive = { ...archive, remove: () => Promise.reject(new Error("no right to delete")) };
  await expect(run(stuck)).rejects.toThrow("no right to delete");
  expect(listKept()).toEqual([old, expect.stringContaining("2026-04-02")]);
  const noted = await forget();
  expect(noted.find(({ name }) => name === old)).toEqual(
    expect.not.objectContaining({ until: expect.anything() }),
  );
  expect(noted.map(({ name }) => name).sort()).toEqual(listKept());
});

it("keeps the only backup of a restored database after its retention, until a newer one is checked", {
  timeout: 120_000,
}, async () => {
  await run();
  const [only = ""] = listKept();
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
  await restoreMemory({ from: join(kept, only), path, withoutLedger: true, jobs: "elsewhere" });
  now += 60 * DAY_MS;
  const archive = folderArchive({ path: kept });
  const full: BackupArchive = { ...archive, put: () => Promise.reject(new Error("no space")) };
  await expect(run(full)).rejects.toThrow("no space");
  expect(listKept()).toEqual([only]);
});

it("removes the draft of a run that was killed, also after the retention", { timeout: 120_000 }, async () => {
  const killing: BackupArchive = {
    ...folderArchive({ path: kept }),
    put: (name) => {
      writeFileSync(join(kept, `${name}.part`), "a part of it");
      throw new Error("killed");
    },
    remove: () => Promise.reject(new Error("killed")),
  };
  await expect(run(killing)).rejects.toThrow("killed");
  expect(listKept()).toEqual([expect.stringContaining(".part")]);
  now += 60 * DAY_MS;
  await run();
  expect(listKept().filter((name) => name.endsWith(".part"))).toEqual([]);
});

it("keeps the newest checked backup after its retention until a newer one is checked", {
  timeout: 120_000,
}, async () => {
  await run();
  now += 5 * DAY_MS;
  await run();
  const [first = "", second = ""] = listKept();
  now += 60 * DAY_MS;
  const archive = folderArchive({ path: kept });
  const full: BackupArchive = { ...archive, put: () => Promise.reject(new Error("no space")) };
  await expect(run(full)).rejects.toThrow("no space");
  expect([first !== second, listKept()]).toEqual([true, [second]]);
  await run();
  expect(listKept()).toEqual([expect.stringContaining("2026-05-05")]);
});

it("removes what a killed run wrote of its own backup, and the draft of no other database", {
  timeout: 120_000,
}, async () => {
  const archive = folderArchive({ path: kept });
  const killed: BackupArchive = {
    ...archive,
    // As a kill leaves it: the draft, and the note of the store.
    put: (name) => {
      writeFileSync(join(kept, `${name}.part`), "half of it");
      return Promise.reject(new Error("killed"));
    },
    remove: () => Promise.reject(new Error("killed")),
  };
  const others = join(kept, "keepsake-b-2026-03-01T10-00-00Z.db.part");
  await archive.list();
  writeFileSync(others, "another's");
  await expect(run(killed)).rejects.toThrow("killed");
  expect(listKept()).toHaveLength(2);
  now += DAY_MS;
  await run();
  expect(listKept()).toHaveLength(2);
  expect(listKept()).toContain("keepsake-b-2026-03-01T10-00-00Z.db.part");
  expect(listKept()).toContainEqual(expect.stringMatching(/2026-03-02T10-00-00Z\.db$/));
});

/** A run is killed after its first line, while it copies; its second, while it stores; then while it fetches, and verifies. */
const STAGES = 4;
const KILLS = 12;

it(`is whole or not there after ${KILLS} kills under way, and the next run makes up for them`, {
  timeout: 600_000,
}, async () => {
  const draw = random(20260301);
  /** The last word of each run that was killed. */
  const killedAt: string[] = [];
  const runOnce = (afterMs: number, since: number): Promise<string[]> => {
    // At another time, so that each run has a backup to make.
    now += DAY_MS;
    return killed([path, kept, clock().toISOString()], afterMs, since, "backup-child.ts");
  };
  for (let tries = 0; killedAt.length < KILLS && tries < 4 * KILLS; tries += 1) {
    const stage = killedAt.length % STAGES;
    // The copy and the check take the time: both start a process. Later tries come sooner.
    const words = await runOnce((draw() * (stage % 3 === 0 ? 150 : 5)) / (1 + tries / KILLS), stage + 1);
    expect(words[0]).toBe("begun");
    const last = words.at(-1) ?? "";
    if (last !== "done") killedAt.push(last);
  }
  expect(killedAt).toHaveLength(KILLS);
  expect([...new Set(killedAt)].sort()).toEqual(expect.arrayContaining(["begun", "fetched"]));
  now += DAY_MS;
  await run();
  expect(existsSync(`${path}.backup-work`)).toBe(false);
  expect(listKept().length).toBeGreaterThan(0);
  expect(listKept().filter((name) => !name.endsWith(".db"))).toEqual([]);
  await using memory = await createMemory({ path, clock, jobs: "elsewhere" });
  const noted = (await memory.audit()).backups.filter(({ until = "9" }) => until > clock().toISOString());
  expect(noted.map((one) => one.name).sort()).toEqual(listKept());
  for (const name of listKept()) {
    const into = join(folder, `${name}.restored`);
    await restoreMemory({ from: join(kept, name), path: into, withoutLedger: true, jobs: "elsewhere" });
  }
});
