import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SQLITE_MIGRATIONS } from "../../src/adapters/sqlite/migrations/index.ts";
import { createMemory } from "../../src/memory.ts";
import { FORMATS } from "./formats.ts";
import { digestRows, growFile, rowsOf } from "./grow.ts";
import { readAll } from "./story.ts";
import { readingsOf, unpackFormat, versionOf } from "./unpack.ts";

const NEWEST = SQLITE_MIGRATIONS.length;
const OLDER = FORMATS.filter(({ version }) => version < NEWEST);
const DAY_MS = 24 * 3_600_000;
let folder = "";
let path = "";
let copy = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-update-"));
  const format = OLDER.at(-1);
  if (!format) throw new Error("no older format");
  path = unpackFormat(format, folder);
  copy = `${path}.before-v${NEWEST}`;
});
afterEach(() => rmSync(folder, { recursive: true }));

async function openAndClose(): Promise<void> {
  await (await createMemory({ path })).close();
}

const copies = (): string[] => readdirSync(folder).filter((name) => name.includes(".before-"));

describe("a file of an older version", () => {
  it.each(OLDER)("of format $name is copied beside itself before it is updated", async (format) => {
    path = unpackFormat(format, folder);
    const before = rowsOf(path);
    await openAndClose();
    expect(versionOf(path)).toBe(NEWEST);
    expect(copies()).toEqual([`memory.db.before-v${NEWEST}`]);
    expect(versionOf(copy)).toBe(format.version);
    expect(rowsOf(copy)).toEqual(before);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
  });

  it("can be had back from the copy", async () => {
    await openAndClose();
    renameSync(copy, path);
    const memory = await createMemory({ path });
    const format = OLDER.at(-1);
    expect((await readAll(memory)).users).toEqual(format && readingsOf(format).users);
    await memory.close();
  });

  it("is copied with what stands in its log alone", async () => {
    const writer = new DatabaseSync(path);
    writer.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    writer.exec("INSERT INTO users (project, name) VALUES ('default', 'in-the-log')");
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await openAndClose();
    writer.close();
    expect(rowsOf(copy).filter((row) => row.includes("in-the-log"))).toHaveLength(1);
  });

  it("is copied anew where an earlier copy or half of one is there", async () => {
    writeFileSync(copy, "from an update that was cut off");
    writeFileSync(`${copy}.part`, "half of it");
    writeFileSync(`${copy}.part-journal`, "half of it");
    const before = rowsOf(path);
    await openAndClose();
    expect(copies()).toEqual([`memory.db.before-v${NEWEST}`]);
    expect(rowsOf(copy)).toEqual(before);
  });

  it("is not updated where there is no room for the copy, and is once there is", async () => {
    const before = rowsOf(path);
    const child = join(import.meta.dirname, "open-child.ts");
    const command = `ulimit -f 200; exec "${process.execPath}" --no-warnings "${child}" "${path}"`;
    const { stdout } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
    expect(stdout).toMatch(
      /^begun\nunavailable: .* there is no space for the copy\. Free \d+ MB in its folder/,
    );
    expect(copies()).toEqual([]);
    expect([versionOf(path), rowsOf(path)]).toEqual([OLDER.at(-1)?.version, before]);
    await openAndClose();
    expect(versionOf(path)).toBe(NEWEST);
  });

  it("is copied and updated once where several processes open it at once", async () => {
    growFile(path, 20);
    const before = digestRows(path);
    const made = new Set<number>();
    const looking = setInterval(() => {
      if (existsSync(copy)) made.add(statSync(copy).ino);
    }, 1);
    const said = await Promise.all([1, 2, 3, 4].map(() => sayingsOf(path)));
    clearInterval(looking);
    expect(said).toEqual(said.map(() => "begun\nopened\n"));
    made.add(statSync(copy).ino);
    expect(made.size).toBe(1);
    expect(copies()).toEqual([`memory.db.before-v${NEWEST}`]);
    expect(digestRows(copy)).toEqual(before);
    expect(versionOf(path)).toBe(NEWEST);
  });
});

it("a new file and one of this version are not copied", async () => {
  path = join(folder, "new.db");
  await openAndClose();
  await openAndClose();
  expect(versionOf(path)).toBe(NEWEST);
  expect(copies()).toEqual([]);
});

describe("a copy from before an update", () => {
  it("goes with the next erasure, and the receipt says so", async () => {
    const memory = await createMemory({ path });
    expect(readFileSync(copy, "latin1")).toContain("Quixote");
    const receipt = await memory.scope({ user: "ana" }).forget("Quixote");
    expect(receipt.complete).toBe(true);
    expect(receipt.verified).toContainEqual({ place: "copies made before an update", found: 0 });
    expect(copies()).toEqual([]);
    expect((await memory.audit()).broken).toEqual([]);
    await memory.close();
    expect(filesWith("Quixote")).toEqual([]);
  });

  it("goes with the next start where the process ended between the erasure and its check", async () => {
    const memory = await createMemory({ path });
    const receipt = await memory.scope({ user: "ana" }).forget("Quixote");
    await memory.close();
    // As a kill leaves it: the receipt without what was verified, and the copy.
    const handle = new DatabaseSync(path);
    handle
      .prepare(
        "UPDATE erasures SET body = json_set(body, '$.verified', json('[]'), '$.complete', json('false')) WHERE id = ?",
      )
      .run(receipt.id);
    handle.close();
    writeFileSync(copy, "Quixote");
    await openAndClose();
    expect(copies()).toEqual([]);
  });

  it("that cannot be deleted makes the receipt incomplete", async () => {
    const memory = await createMemory({ path });
    rmSync(copy);
    // A folder stands for what the system does not let go.
    mkdirSync(copy);
    const receipt = await memory.scope({ user: "ana" }).forget("Quixote");
    expect(receipt.complete).toBe(false);
    expect(receipt.verified).toContainEqual({ place: "copies made before an update", found: 1 });
    await memory.close();
  });

  it("is kept for seven days", async () => {
    await openAndClose();
    const age = (days: number) => utimesSync(copy, new Date(), new Date(Date.now() - days * DAY_MS));
    age(6.9);
    await openAndClose();
    expect(copies()).toHaveLength(1);
    age(7.1);
    await openAndClose();
    expect(copies()).toEqual([]);
  });

  it("is told by the doctor", async () => {
    await openAndClose();
    const program = join(import.meta.dirname, "../../dist/cli/main.js");
    const ran = spawnSync(process.execPath, [program, "doctor", "--db", path], { encoding: "utf8" });
    expect(ran.stdout).toContain("No damage found");
    expect(ran.stderr).toMatch(
      /memory\.db\.before-v\d+ is a copy from before an update\. It will be deleted on \d{4}-\d\d-\d\d/,
    );
    const json = spawnSync(process.execPath, [program, "doctor", "--json", "--db", path], {
      encoding: "utf8",
    });
    expect(JSON.parse(json.stdout).copies).toMatchObject([
      { name: `memory.db.before-v${NEWEST}`, bytes: statSync(copy).size },
    ]);
  });

  it("is no place for a backup", async () => {
    await openAndClose();
    const memory = await createMemory({ path });
    await expect(memory.backup(`${path}.before-v3`, { replace: true })).rejects.toMatchObject({
      code: "invalid_input",
    });
    await memory.close();
  });
});

function filesWith(word: string): string[] {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name), "latin1").includes(word));
}

async function sayingsOf(file: string): Promise<string> {
  const child = spawn(process.execPath, ["--no-warnings", join(import.meta.dirname, "open-child.ts"), file]);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  return said;
}
