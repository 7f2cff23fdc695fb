import { execFile } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Running, started } from "../../bench/load/server.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createMemory } from "../../src/memory.ts";

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");
const run = promisify(execFile);
const isLinux = existsSync("/proc/locks");

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-locks-"));
  path = join(folder, "memory.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Which of the two locks of an open SQLite database in WAL mode this process holds: on the file, and byte 128 of the -shm. */
function locksHeld(): { database: boolean; sharedMemory: boolean } {
  const lines = readFileSync("/proc/locks", "utf8")
    .split("\n")
    .filter((line) => line.includes(` ${process.pid} `));
  const inode = (file: string): string => `:${statSync(file).ino} `;
  return {
    database: lines.some((line) => line.includes(inode(path))),
    sharedMemory: lines.some((line) => line.includes(inode(`${path}-shm`)) && / 128 128$/.test(line)),
  };
}

const BOTH = { database: true, sharedMemory: true };

// POSIX drops all of a process's locks on a file when the process closes any descriptor of it. Without them another
// process takes itself for the only one, and removes the write-ahead log with acknowledged writes in it.
describe.skipIf(!isLinux)("the locks of an open database", () => {
  it("are still held after an erasure that scans the files", async () => {
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I use Shram and Magnet as productivity tools.");
    expect(locksHeld()).toEqual(BOTH);
    expect((await ana.forget("Magnet")).complete).toBe(true);
    expect(locksHeld()).toEqual(BOTH);
    await memory.close();
  });

  it("are still held after the same process has opened and closed the file again", async () => {
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I use Shram.");
    const second = await openSqliteStore({ path });
    expect(locksHeld()).toEqual(BOTH);
    await second.close();
    expect(locksHeld()).toEqual(BOTH);
    await memory.close();
  });

  it("are still held after a backup and a check", async () => {
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I use Shram.");
    const record = await openSqliteStore({ path });
    await record.fileCopy?.copyTo(join(folder, "backup.db"), {});
    await record.fileCopy?.copyTo(join(folder, "backup.db"), { replace: true });
    expect(await record.check()).toEqual([]);
    expect(locksHeld()).toEqual(BOTH);
    await record.close();
    expect(locksHeld()).toEqual(BOTH);
    await memory.close();
  });
});

/** What a process of its own does with the database that this one has open. */
const COMMANDS: readonly (readonly string[])[] = [
  ["doctor"],
  ["list", "--user", "ana"],
  ["export", "EXPORT", "--user", "ana"],
  ["import", "IMPORT", "--user", "ana"],
  ["backup", "BACKUP"],
  ["reindex"],
  ["audit"],
];

describe.skipIf(!isLinux)("what other processes do with an open database", () => {
  it.each(COMMANDS)("leaves its locks, its log and what was written: %s", async (...command) => {
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I use Shram.");
    writeFileSync(
      join(folder, "IMPORT"),
      JSON.stringify({ id: "m1", role: "user", content: "I own a boat." }),
    );
    const words = command.map((word) => (/^[A-Z]+$/.test(word) ? join(folder, word) : word));
    await run(process.execPath, [PROGRAM, ...words, "--db", path, "--json"]);
    expect(locksHeld()).toEqual(BOTH);
    await ana.remember("I live in Lisbon.");
    await run(process.execPath, [PROGRAM, "list", "--user", "ana", "--db", path, "--json"]);
    expect(locksHeld()).toEqual(BOTH);
    expect(existsSync(`${path}-wal`)).toBe(true);
    await memory.close();
  });

  it("is refused where it would take the database's place: restore and a backup onto it", async () => {
    const memory = await createMemory({ path });
    await memory.scope({ user: "ana" }).remember("I use Shram.");
    const copy = join(folder, "copy");
    await memory.backup(copy);
    for (const words of [
      ["restore", copy, "--yes"],
      ["backup", path, "--yes"],
    ]) {
      await expect(run(process.execPath, [PROGRAM, ...words, "--db", path, "--json"])).rejects.toThrow();
    }
    expect(locksHeld()).toEqual(BOTH);
    await memory.close();
  });
});

describe.skipIf(!isLinux)("the locks of a database that the same process opens under another name", () => {
  it.each(["symbolic", "hard"])("are still held after that is closed: a %s link", async (kind) => {
    const memory = await createMemory({ path });
    await memory.scope({ user: "ana" }).remember("I use Shram.");
    const other = join(folder, "other.db");
    if (kind === "symbolic") symlinkSync(path, other);
    else linkSync(path, other);
    const opening = openSqliteStore({ path: other });
    const second = await opening.catch((error: unknown) => error as Error);
    expect(locksHeld()).toEqual(BOTH);
    if ("close" in second) await second.close();
    expect(locksHeld()).toEqual(BOTH);
    await memory.close();
  });
});

async function tell(server: Running, message: string): Promise<string> {
  const response = await fetch(`${server.url}/message`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
    body: JSON.stringify({ userId: "ana", message }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { reply: string }).reply;
}

describe("a server that has erased something", () => {
  it("keeps what it acknowledged after another process opened and closed the file, and a kill", {
    timeout: 120_000,
  }, async () => {
    const server = await started(path);
    await tell(server, "I use Shram and Magnet as productivity tools.");
    await tell(server, "Forget that I ever mentioned Magnet.");
    const list = [PROGRAM, "list", "--db", path, "--user", "ana", "--json"];
    await run(process.execPath, list);
    await tell(server, "I live in Lisbon.");
    await tell(server, "My dog is called Miso.");
    await server.end("SIGKILL");
    const { stdout } = await run(process.execPath, list);
    expect(stdout).toContain("Lisbon");
    expect(stdout).toContain("Miso");
  });
});
