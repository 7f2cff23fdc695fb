import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeChangeSet, makeMemory, makeMessage, makeUnit } from "../../testing/memory-store/change-sets.ts";
import { createDatabaseFile } from "./files/create.ts";
import { openSqliteStore } from "./index.ts";
import { checkOwner, isOlderVersion, openSqliteDatabase } from "./open.ts";

const SCOPE = { project: "default", user: "ann" };
let folder = "";
let path = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-open-"));
  path = join(folder, "memory.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A database with some pages of text. */
async function filled(): Promise<void> {
  const record = await openSqliteStore({ path });
  const messages = Array.from({ length: 40 }, (_, i) =>
    makeMessage(`m${i}`, { content: `Words ${i}. `.repeat(60) }),
  );
  await record.commit(
    SCOPE,
    makeChangeSet({ messages, memories: [makeMemory("a")], units: [makeUnit("a", "memory", "a")] }),
  );
  await record.close();
}

/** Opening is refused with this code and these words, and every file of the folder stays as it is. */
async function expectRefusal(code: string, words: RegExp): Promise<void> {
  const before = everyFile();
  const refusal = openSqliteStore({ path });
  await expect(refusal).rejects.toMatchObject({ code });
  await expect(refusal).rejects.toThrow(words);
  await expect(refusal).rejects.toThrow(path);
  expect(everyFile()).toEqual(before);
}

function everyFile(): [string, string][] {
  return readdirSync(folder)
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => [name, readFileSync(join(folder, name), "latin1")]);
}

it("does not mistake a database for another program's while another process creates its tables", () => {
  const maker = new DatabaseSync(path);
  maker.exec("PRAGMA journal_mode = WAL");
  const reader = new DatabaseSync(path, { readOnly: true });
  const interrupted = {
    prepare: (sql: string) => ({
      get: () => {
        const row = reader.prepare(sql).get();
        openSqliteDatabase(path).close();
        return row;
      },
    }),
  };
  expect(() => checkOwner(path, interrupted as unknown as DatabaseSync)).not.toThrow();
  expect(() => checkOwner(path, reader)).not.toThrow();
  reader.close();
  maker.close();
});

describe("opening a SQLite database", () => {
  it("creates a file for its owner only, and logs of the same mode", async () => {
    const record = await openSqliteStore({ path });
    await record.commit(SCOPE, makeChangeSet({ messages: [makeMessage("m1")] }));
    const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
    expect(modes).toEqual([
      ["memory.db", 0o600],
      ["memory.db-shm", 0o600],
      ["memory.db-wal", 0o600],
    ]);
    await record.close();
    expect(readdirSync(folder)).toEqual(["memory.db"]);
  });

  it("gives a new file its name only when it is complete, and leaves no draft", () => {
    const made: string[] = [];
    createDatabaseFile(path, (handle) => {
      handle.exec("CREATE TABLE a (b TEXT)");
      made.push(...readdirSync(folder));
    });
    expect(made).not.toContain("memory.db");
    expect(readdirSync(folder)).toEqual(["memory.db"]);
    expect(() =>
      createDatabaseFile(join(folder, "other.db"), () => {
        throw new Error("no space");
      }),
    ).toThrow("no space");
    expect(readdirSync(folder)).toEqual(["memory.db"]);
  });

  it("keeps the file of another process that created it first", () => {
    createDatabaseFile(path, () => writeFileSync(path, "first"));
    expect(readFileSync(path, "utf8")).toBe("first");
    expect(readdirSync(folder)).toEqual(["memory.db"]);
  });

  it("removes drafts that an ended process left", async () => {
    for (const end of ["", "-wal", "-journal"]) writeFileSync(`${path}.999999999.0123abcd.new${end}`, "x");
    await (await openSqliteStore({ path })).close();
    expect(readdirSync(folder)).toEqual(["memory.db"]);
  });

  it("restricts a copied file to its owner", async () => {
    await filled();
    chmodSync(path, 0o644);
    await (await openSqliteStore({ path })).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is tuned as the options say, and as durable as without them", () => {
    const tuning = { cacheSize: -64_000, mmapBytes: 1_048_576, syncsFolder: true, hasTempInMemory: true };
    const database = openSqliteDatabase(path, { tuning });
    const values = [
      "cache_size",
      "mmap_size",
      "synchronous",
      "temp_store",
      "journal_mode",
      "secure_delete",
    ].map((name) => Object.values(database.handle.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    expect(values).toEqual([-64_000, 1_048_576, 3, 2, "wal", 1]);
    database.close();
  });

  it("keeps the durability settings after the first write", async () => {
    const database = openSqliteDatabase(path);
    database.transaction(() => database.handle.exec("UPDATE users SET turns = turns"));
    const wanted = {
      journal_mode: "wal",
      synchronous: 2,
      fullfsync: 1,
      checkpoint_fullfsync: 1,
      foreign_keys: 1,
      secure_delete: 1,
      page_size: 8192,
    };
    const settings = Object.keys(wanted).map((name) => [
      name,
      Object.values(database.handle.prepare(`PRAGMA ${name}`).get() ?? {})[0],
    ]);
    expect(Object.fromEntries(settings)).toEqual(wanted);
    database.close();
  });

  it("refuses to write if a setting does not apply", () => {
    const database = openSqliteDatabase(path);
    database.close();
    const second = openSqliteDatabase(path);
    second.handle.exec("PRAGMA synchronous = NORMAL");
    expect(() => second.transaction(() => second.handle.exec("UPDATE users SET turns = turns"))).toThrow(
      /synchronous = 2/,
    );
    second.close();
  });

  it("accepts an empty file as a new database", async () => {
    writeFileSync(path, "");
    const record = await openSqliteStore({ path });
    expect(await record.commit(SCOPE, makeChangeSet())).toBe(1);
    await record.close();
  });

  it("does not treat a name as a URL", async () => {
    path = join(folder, "file:memory.db?mode=memory");
    await filled();
    expect(existsSync(path)).toBe(true);
  });

  it("reads the log of a killed writer", async () => {
    const writer = openSqliteDatabase(path);
    writer.transaction(() => writer.handle.exec("INSERT INTO users (project, name) VALUES ('p', 'u')"));
    // A copy of the files of a writer at work is what its sudden end leaves.
    const copy = join(folder, "copy.db");
    for (const end of ["", "-wal"]) writeFileSync(copy + end, readFileSync(path + end));
    writer.close();
    const reader = openSqliteDatabase(copy);
    expect(reader.handle.prepare("SELECT name FROM users").all()).toEqual([{ name: "u" }]);
    reader.close();
  });

  it.each(["", "a\0b"])("refuses the path %j", async (wrong) => {
    await expect(openSqliteStore({ path: wrong })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("compares SQLite versions part by part", () => {
    const older = ["3.9.0", "3.51.2", "2.99.99", "3.50.9"];
    expect(older.filter((version) => isOlderVersion(version, [3, 51, 3]))).toEqual(older);
    const newer = ["3.51.3", "3.51.10", "3.100.0", "4.0.0"];
    expect(newer.filter((version) => isOlderVersion(version, [3, 51, 3]))).toEqual([]);
  });
});

describe("opening is refused for", () => {
  it("a file that is not a database", async () => {
    writeFileSync(path, "Dear diary, this is a text and no database at all.\n".repeat(100));
    await expectRefusal("corrupt", /not a database/);
  });

  it("a file of a few bytes", async () => {
    writeFileSync(path, "SQLite");
    await expectRefusal("corrupt", /not a database/);
  });

  it.each([0, 5, 20, 100, 8192, 8200, 24_576])("a database damaged from byte %i on", async (from) => {
    await filled();
    const bytes = readFileSync(path);
    bytes.fill(0xa7, from, from + 300);
    writeFileSync(path, bytes);
    await expectRefusal("corrupt", /damaged|not a database/);
  });

  it("a database with a missing part", async () => {
    await filled();
    truncateSync(path, statSync(path).size - 8192);
    await expectRefusal("corrupt", /a part of it is missing/);
  });

  it("a database of a newer version", async () => {
    await filled();
    const handle = new DatabaseSync(path);
    handle.exec("PRAGMA user_version = 999");
    handle.close();
    await expectRefusal("unsupported", /newer version of Keepsake/);
  });

  it("a newer version whose version number is only in the log", async () => {
    const newer = openSqliteDatabase(path);
    newer.handle.exec("PRAGMA user_version = 999");
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: "unsupported" });
    newer.close();
  });

  it("another program's database", async () => {
    const handle = new DatabaseSync(path);
    handle.exec("CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('Blue')");
    handle.close();
    await expectRefusal("unsupported", /another program/);
    rmSync(path);
    const marked = new DatabaseSync(path);
    marked.exec("PRAGMA application_id = 7");
    marked.close();
    await expectRefusal("unsupported", /another program/);
  });

  it("a folder that does not exist", async () => {
    path = join(folder, "nowhere", "memory.db");
    await expectRefusal("unavailable", /folder does not exist/);
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  it("a folder", async () => {
    mkdirSync(path);
    await expectRefusal("unavailable", /not a file/);
  });

  it("a read-only file", async () => {
    await filled();
    chmodSync(path, 0o400);
    await expectRefusal("unavailable", /owner and mode/);
  });

  it("a file whose log cannot be opened", async () => {
    await filled();
    mkdirSync(`${path}-wal`);
    await expectRefusal("unavailable", /cannot be opened/);
  });
});

describe("reading a damaged row", () => {
  it("throws `corrupt` and does not show the row's content", async () => {
    await filled();
    const handle = new DatabaseSync(path);
    handle.exec("UPDATE messages SET body = replace(body, 'Words', '\" kiwi') WHERE id = 'm1'");
    handle.close();
    const record = await openSqliteStore({ path });
    const reading = record.since(SCOPE, 0);
    await expect(reading).rejects.toMatchObject({ code: "corrupt" });
    // The parser's own error, which quotes the text, is not among its causes.
    await expect(reading).rejects.not.toHaveProperty("cause");
    await expect(reading).rejects.not.toThrow(/kiwi/);
    expect(await record.check()).toEqual([
      { place: "messages", problem: "whose body is not JSON", count: 1 },
    ]);
    await record.close();
  });
});

describe("waiting for other connections", () => {
  it("waits for a slow writer without blocking other work", async () => {
    const record = await openSqliteStore({ path });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 5);
    setTimeout(() => other.exec("COMMIT"), 300);
    expect(await record.commit(SCOPE, makeChangeSet())).toBe(1);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(2);
    other.close();
    await record.close();
  });

  it("throws `unavailable` for a writer that does not finish, while reads continue", async () => {
    const record = await openSqliteStore({ path, busyTimeoutMs: 100 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    await expect(record.commit(SCOPE, makeChangeSet())).rejects.toMatchObject({ code: "unavailable" });
    expect(await record.revision(SCOPE)).toBe(0);
    other.exec("ROLLBACK");
    other.close();
    expect(await record.commit(SCOPE, makeChangeSet())).toBe(1);
    await record.close();
  });
});
