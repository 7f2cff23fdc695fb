import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory, type Keepsake, restoreMemory } from "../../src/index.ts";
import { killed, random } from "../crash/kill.ts";
import { isInstalled } from "../left-out.ts";

let folder = "";
let path = "";
let copy = "";
let memory: Keepsake;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-backup-"));
  path = join(folder, "memory.db");
  copy = join(folder, "copies.db");
  memory = await createMemory({ path });
  const ana = memory.scope({ user: "ana" });
  await ana.remember("I use Shram and Magnet as productivity tools.");
  await ana.remember("My cat is called Quixote. I live in Porto.", { session: "s1" });
});
afterEach(async () => {
  await memory.close();
  rmSync(folder, { recursive: true });
});

const texts = async (held: Keepsake, user = "ana"): Promise<string> =>
  (await held.scope({ user }).list({ status: "all", limit: 1000 })).items.map(({ text }) => text).join("\n");
const bytesOf = (file: string): string => readFileSync(file, "latin1").toLowerCase();
const leftovers = (): string[] => readdirSync(folder).filter((name) => /\.(?:part|new|restoring)/.test(name));

/** For the superuser: without the right to write to every file. */
const AS_OWNER: readonly string[] =
  process.getuid?.() === 0 && isInstalled("setpriv")
    ? ["setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override"]
    : [];

describe("a backup", () => {
  it("is one file of its owner's that a memory can be opened on, and is noted", async () => {
    const made = await memory.backup(copy, { until: "2999-01-01" });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.startsWith("copies"))).toEqual(["copies.db"]);
    expect(made).toMatchObject({
      name: "copies.db",
      bytes: statSync(copy).size,
      counts: { users: 1, messages: 2 },
    });
    expect((await memory.audit()).backups).toEqual([
      {
        name: "copies.db",
        at: made.at,
        bytes: made.bytes,
        digest: made.digest,
        until: "2999-01-01T00:00:00.000Z",
      },
    ]);
    const secret = readFileSync(`${path}.secret`, "utf8");
    expect(bytesOf(copy)).not.toContain(secret);
    const opened = await createMemory({ path: copy });
    expect(await texts(opened)).toBe(await texts(memory));
    await opened.close();
  });

  it("holds one moment, whatever is written meanwhile", { timeout: 60_000 }, async () => {
    const bob = memory.scope({ user: "bob" });
    const many = (from: number) =>
      Array.from({ length: 400 }, (_, i) => ({
        role: "user" as const,
        content: `I use Tool${from + i} every day.`,
      }));
    for (let i = 0; i < 5; i += 1) await bob.remember(many(400 * i), { extract: "never" });
    const steps: number[] = [];
    const writing = (async () => {
      for (let i = 5; i < 8; i += 1) await bob.remember(many(400 * i), { extract: "never" });
    })();
    const [made] = await Promise.all([
      memory.backup(copy, { onProgress: (done) => steps.push(done) }),
      writing,
    ]);
    expect(steps.length).toBeGreaterThan(0);
    expect(made.counts.messages).toBeGreaterThanOrEqual(2002);
    const opened = await createMemory({ path: copy });
    expect(await opened.check()).toEqual([]);
    await opened.close();
  });

  it("falls upon no file, no database, and leaves nothing behind where it fails", async () => {
    writeFileSync(copy, "mine");
    await expect(memory.backup(copy)).rejects.toMatchObject({ code: "conflict" });
    expect(readFileSync(copy, "utf8")).toBe("mine");
    // As a name in other letters does on a file system that does not tell them apart.
    const otherName = join(folder, "MEMORY.db");
    linkSync(path, otherName);
    for (const file of [path, `${path}.secret`, `${path}-wal`, otherName, ""])
      await expect(memory.backup(file, { replace: true })).rejects.toMatchObject({ code: "invalid_input" });
    rmSync(otherName);
    await expect(memory.backup(join(folder, "no/where.db"))).rejects.toMatchObject({ code: "unavailable" });
    await expect(memory.backup(copy, { until: "2001-01-01" })).rejects.toMatchObject({
      code: "invalid_input",
    });
    const stop = AbortSignal.abort();
    await expect(memory.backup(join(folder, "b.db"), { signal: stop })).rejects.toThrow();
    const late = new AbortController();
    const broken = memory.backup(join(folder, "b.db"), {
      signal: late.signal,
      onProgress: () => late.abort(),
    });
    await broken.catch(() => undefined);
    expect(leftovers()).toEqual([]);
    expect((await memory.audit()).backups.filter(({ name }) => name !== "b.db")).toEqual([]);
    await memory.backup(copy, { replace: true });
    expect(readFileSync(copy).subarray(0, 15).toString()).toBe("SQLite format 3");
    await expect((await createMemory({ path: ":memory:" })).backup(copy)).rejects.toMatchObject({
      code: "unsupported",
    });
  });

  it("removes what a killed backup of the same name left, and no other file", async () => {
    const { pid } = spawnSync(process.execPath, ["--eval", ""]);
    for (const end of ["", "-journal"]) writeFileSync(`${copy}.${pid}.0a1b2c3d.new${end}`, "half of it");
    const own = `${copy}.2024.new`;
    writeFileSync(own, "a file of the user's");
    await memory.backup(copy);
    expect(leftovers()).toEqual([basename(own)]);
  });

  it("is named by the receipts of what it holds, until it is gone", async () => {
    await memory.close();
    let now = new Date();
    memory = await createMemory({ path, clock: () => now });
    const kept = await memory.backup(copy);
    const short = await memory.backup(join(folder, "short.db"), { until: new Date(now.getTime() + 1000) });
    const ana = memory.scope({ user: "ana" });
    const { backups, complete } = await ana.forget("Quixote");
    expect(complete).toBe(true);
    expect(backups).toEqual([
      { name: "copies.db", at: kept.at },
      { name: "short.db", at: short.at, until: short.until },
    ]);
    now = new Date(now.getTime() + 2000);
    await ana.remember("My boat is called Zenobia.");
    expect((await ana.forget("Zenobia")).backups).toEqual([]);
    expect((await ana.forget("Magnet")).backups).toEqual([{ name: "copies.db", at: kept.at }]);
    expect((await memory.audit()).broken).toEqual([]);
  });

  it("that lies beside the database is named while it is kept, and found when it should be gone", async () => {
    const ana = memory.scope({ user: "ana" });
    const beside = `${path}.monday`;
    await memory.backup(beside, { until: new Date(Date.now() + 60_000) });
    const first = await ana.forget("Magnet");
    expect(first).toMatchObject({ complete: true, backups: [{ name: "memory.db.monday" }] });
    await memory.backup(beside, { replace: true, until: new Date(Date.now() + 1500) });
    await new Promise((resolve) => setTimeout(resolve, 1600));
    const second = await ana.forget("Quixote");
    expect(second).toMatchObject({ complete: false, backups: [] });
    expect(second.verified.filter(({ found }) => found > 0)).toMatchObject([
      { place: "other files beside it" },
    ]);
  });
});

describe("restoring", () => {
  it("a restored backup brings back no content that was erased since", async () => {
    const ana = memory.scope({ user: "ana" });
    await memory.backup(copy);
    await ana.forget("Quixote");
    await ana.forget("Magnet");
    await ana.remember("I play the oboe.");
    await memory.close();
    expect(bytesOf(copy)).toMatch(/quixote/);
    const restored = await restoreMemory({ from: copy, path, replace: true });
    expect(restored).toMatchObject({ again: 2, notices: [expect.stringContaining("2 of the erasures")] });
    expect(bytesOf(path)).not.toMatch(/quixote|magnet/);
    memory = await createMemory({ path });
    expect(memory.notices).toEqual([]);
    expect(await texts(memory)).toMatch(/Shram/);
    expect(await texts(memory)).toMatch(/Porto/);
    expect(await texts(memory)).not.toMatch(/Quixote|Magnet|oboe/);
    const recalled = await memory.scope({ user: "ana" }).recall("What is my cat called?");
    expect(JSON.stringify(recalled)).not.toMatch(/quixote/i);
    expect(await memory.check()).toEqual([]);
    expect((await memory.audit()).broken).toEqual([]);
    expect((await memory.audit()).receipts.every(({ complete }) => complete)).toBe(true);
    expect(leftovers()).toEqual([]);
  });

  it("keeps the database that was there, which later receipts name", async () => {
    const ana = memory.scope({ user: "ana" });
    await memory.backup(copy);
    await ana.remember("I play the oboe.");
    await memory.close();
    const { aside } = await restoreMemory({ from: copy, path, replace: true });
    expect(bytesOf(join(folder, aside ?? ""))).toMatch(/oboe/);
    expect(statSync(join(folder, aside ?? "")).mode & 0o777).toBe(0o600);
    memory = await createMemory({ path });
    const receipt = await memory.scope({ user: "ana" }).forget("Quixote");
    expect(receipt.backups?.map(({ name }) => name)).toEqual(["copies.db", aside]);
    expect(receipt.complete).toBe(true);
  });

  it("takes a backup that nobody may write to, as on a read-only medium", async () => {
    await memory.backup(copy);
    await memory.close();
    chmodSync(copy, 0o444);
    const child = join(import.meta.dirname, "restore-child.ts");
    const program = [process.execPath, "--no-warnings", child, copy, path];
    const { status, stderr } = spawnSync("env", [...AS_OWNER, ...program], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    expect([statSync(copy).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o444, 0o600]);
    memory = await createMemory({ path });
    expect(await texts(memory)).toMatch(/Porto/);
    expect(leftovers()).toEqual([]);
  });

  it("is refused while a program uses the database, and changes nothing then", async () => {
    await memory.backup(copy);
    const before = await texts(memory);
    await expect(restoreMemory({ from: copy, path, replace: true })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("a program is using"),
    });
    expect(await texts(memory)).toBe(before);
    await memory.scope({ user: "ana" }).remember("I play the oboe.");
    expect(leftovers()).toEqual([]);
  });

  it("asks before it puts a database aside, and before it goes on without a ledger", async () => {
    await memory.backup(copy);
    await memory.scope({ user: "ana" }).forget("Quixote");
    await memory.close();
    await expect(restoreMemory({ from: copy, path })).rejects.toMatchObject({ code: "conflict" });
    const other = join(folder, "elsewhere.db");
    await expect(restoreMemory({ from: copy, path: other })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("ledger"),
    });
    expect(existsSync(other)).toBe(false);
    const { notices } = await restoreMemory({ from: copy, path: other, withoutLedger: true });
    expect(notices.join()).toMatch(/Restored without the erasure ledger/);
    expect(bytesOf(other)).toMatch(/quixote/);
    expect(leftovers()).toEqual([]);
  });

  it("works where the database is gone or damaged, as long as the ledger is there", async () => {
    await memory.backup(copy);
    await memory.scope({ user: "ana" }).forget("Quixote");
    await memory.close();
    writeFileSync(path, "no database at all");
    expect(await restoreMemory({ from: copy, path, replace: true })).toMatchObject({ again: 1 });
    expect(bytesOf(path)).not.toMatch(/quixote/);
    rmSync(path);
    expect(await restoreMemory({ from: copy, path })).toMatchObject({ again: 1 });
    expect(bytesOf(path)).not.toMatch(/quixote/);
    memory = await createMemory({ path });
    expect(await texts(memory)).toMatch(/Porto/);
  });

  it("repeats an erasure once, however often the same backup is restored", async () => {
    await memory.backup(copy);
    await memory.scope({ user: "ana" }).forget("Quixote");
    await memory.scope({ user: "ana" }).forget("Magnet");
    await memory.close();
    const lines = (): number => readFileSync(`${path}.erasures`, "utf8").trimEnd().split("\n").length;
    const before = lines();
    for (let i = 0; i < 4; i += 1) {
      expect(await restoreMemory({ from: copy, path, replace: true })).toMatchObject({ again: 2 });
      expect(lines()).toBe(before);
      expect(bytesOf(path)).not.toMatch(/quixote|magnet/);
    }
    memory = await createMemory({ path });
    expect(memory.notices).toEqual([]);
    expect((await memory.audit()).broken).toEqual([]);
  });

  it("takes what the database knows where the ledger is lost", async () => {
    await memory.backup(copy);
    await memory.scope({ user: "ana" }).forget("Quixote");
    await memory.close();
    rmSync(`${path}.erasures`);
    expect(await restoreMemory({ from: copy, path, replace: true })).toMatchObject({ again: 1 });
    expect(bytesOf(path)).not.toMatch(/quixote/);
  });

  it("refuses a backup whose words another program changed, unless it is told to restore it anyway", async () => {
    await memory.backup(copy);
    await memory.close();
    const changed = readFileSync(copy).toString("latin1").replaceAll("Porto", "Lisbo");
    writeFileSync(copy, changed, "latin1");
    await expect(restoreMemory({ from: copy, path, replace: true })).rejects.toMatchObject({
      code: "corrupt",
      message: expect.stringContaining("--even-if-changed"),
    });
    expect(bytesOf(path)).toMatch(/porto/);
    expect(bytesOf(path)).not.toMatch(/lisbo/);
    expect(leftovers()).toEqual([]);
    const { notices } = await restoreMemory({ from: copy, path, replace: true, evenIfChanged: true });
    expect(notices.join()).toContain("keepsake doctor");
    memory = await createMemory({ path });
    expect(await texts(memory)).toMatch(/Lisbo/);
  });

  it("refuses what is damaged, cut off, or another program's", async () => {
    await memory.backup(copy);
    await memory.close();
    const whole = readFileSync(copy);
    const before = readFileSync(path);
    const bad: readonly (readonly [string, Buffer, string])[] = [
      ["text.db", Buffer.from("hello"), "corrupt"],
      ["cut.db", whole.subarray(0, whole.length - 9000), "corrupt"],
      [
        "holes.db",
        Buffer.concat([whole.subarray(0, 8192), Buffer.alloc(16_384), whole.subarray(24_576)]),
        "corrupt",
      ],
    ];
    for (const [name, bytes, code] of bad) {
      writeFileSync(join(folder, name), bytes);
      await expect(restoreMemory({ from: join(folder, name), path, replace: true })).rejects.toMatchObject({
        code,
      });
    }
    await expect(restoreMemory({ from: join(folder, "none.db"), path })).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(restoreMemory({ from: path, path })).rejects.toMatchObject({ code: "invalid_input" });
    // The first 100 bytes count how often the file was opened for writing.
    expect(readFileSync(path).subarray(100).equals(before.subarray(100))).toBe(true);
    expect(readFileSync(path).subarray(0, 20)).toEqual(before.subarray(0, 20));
    expect(leftovers()).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.before`))).toEqual([]);
  });

  it("that is killed leaves the database as it was or as it should be, and nothing erased in it", {
    timeout: 120_000,
  }, async () => {
    const ana = memory.scope({ user: "ana" });
    await memory.backup(copy);
    await ana.forget("Quixote");
    await ana.remember("I play the oboe.");
    await memory.close();
    const draw = random(7);
    for (let kill = 0; kill < 8; kill += 1) {
      const program = "../forgetting/restore-child.ts";
      await killed([copy, path], 5 + 450 * draw(), 1, program);
      expect(bytesOf(path)).not.toMatch(/quixote/);
      memory = await createMemory({ path });
      expect(memory.notices).toEqual([]);
      const held = await texts(memory);
      expect(held).toMatch(/Porto/);
      expect(await memory.check()).toEqual([]);
      await memory.close();
    }
    await restoreMemory({ from: copy, path, replace: true });
    expect(leftovers()).toEqual([]);
  });

  it("can be repeated, of one backup or several, and nothing comes back", async () => {
    const ana = memory.scope({ user: "ana" });
    await memory.backup(copy);
    await ana.forget("Quixote");
    const second = join(folder, "second.db");
    await memory.backup(second);
    await ana.forget("Magnet");
    await memory.close();
    for (const from of [copy, second, copy]) {
      await restoreMemory({ from, path, replace: true });
      expect(bytesOf(path)).not.toMatch(/quixote|magnet/);
      memory = await createMemory({ path });
      expect(memory.notices).toEqual([]);
      expect((await memory.audit()).broken).toEqual([]);
      await memory.close();
    }
  });
});
