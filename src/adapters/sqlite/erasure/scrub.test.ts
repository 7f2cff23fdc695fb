import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MemoryStore } from "../../../ports/memory-store.ts";
import {
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeUnit,
} from "../../../testing/memory-store/change-sets.ts";
import { openSqliteStore } from "../index.ts";

const ANN = { project: "default", user: "ann" };
const BOB = { project: "default", user: "bob" };
const SENTENCE = "My locker code is Zweiundvierzig.";

let folder = "";
let path = "";
let record: MemoryStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-scrub-"));
  path = join(folder, "memory.db");
  record = await openSqliteStore({ path });
});
afterEach(async () => {
  await record.close();
  rmSync(folder, { recursive: true });
});

/** A record in which a sentence stands in every place, between many others. */
async function fill(): Promise<void> {
  const others = Array.from({ length: 60 }, (_, i) =>
    makeMessage(`o${i}`, { content: `Other words ${i}. `.repeat(20) }),
  );
  const told = makeMessage("m1", { content: SENTENCE, metadata: { note: "zweiundvierzig" } });
  await record.commit(ANN, makeChangeSet({ messages: others.slice(0, 30) }));
  await record.commit(
    ANN,
    makeChangeSet({
      base: 1,
      messages: [told],
      memories: [
        makeMemory("a", 1, { text: SENTENCE }),
        makeMemory("a", 2, { text: `${SENTENCE} So it is.` }),
      ],
      units: [
        makeUnit("a", "memory", "a", "locker code zweiundvierzig"),
        makeUnit("m1#0", "passage", "m1", "zweiundvierzig"),
      ],
    }),
  );
  await record.commit(ANN, makeChangeSet({ base: 2, messages: others.slice(30) }));
}

async function erase(): Promise<void> {
  await record.commit(
    ANN,
    makeChangeSet({
      base: 3,
      cause: "forget",
      dropUnits: ["m1#0"],
      erase: {
        messages: [{ id: "m1", content: "", keepMetadata: false }],
        memories: ["a"],
        rewrites: [],
        receipt: makeErasureReceipt("e1"),
      },
    }),
  );
}

const TEXTS = [SENTENCE, "Zweiundvierzig", "zweiundvierzig"];

async function found(texts: readonly string[] = TEXTS): Promise<{ [place: string]: number }> {
  return Object.fromEntries((await record.erasures.scrub(ANN, texts)).map((one) => [one.place, one.found]));
}

/** How often a word stands in the bytes of all files of the folder, in any case. */
function inBytes(word: string): number {
  return readdirSync(folder)
    .map(
      (name) => readFileSync(join(folder, name), "latin1").toLowerCase().split(word.toLowerCase()).length - 1,
    )
    .reduce((sum, count) => sum + count, 0);
}

const NOWHERE = {
  messages: 0,
  memories: 0,
  "text index": 0,
  receipts: 0,
  files: 0,
  "other files beside it": 0,
};

describe("scrubbing the database files", () => {
  it("leaves no erased byte in the database, its log or any other file", async () => {
    await fill();
    expect(inBytes("zweiundvierzig")).toBeGreaterThan(4);
    await erase();
    // Without a scrub the log still holds it.
    expect(inBytes("zweiundvierzig")).toBeGreaterThan(0);
    expect(await found()).toEqual(NOWHERE);
    expect(inBytes("zweiundvierzig")).toBe(0);
    expect(statSync(`${path}-wal`).size).toBe(0);
  });

  it("reports where a text remains", async () => {
    await fill();
    expect(await found([SENTENCE.toUpperCase()])).toMatchObject({ messages: 1, memories: 1, files: 0 });
    expect(await found(["zweiundvierzig", "nowhere to be seen"])).toMatchObject({
      messages: 1,
      "text index": 1,
    });
  });

  it("does not count rows of another user as leftovers", async () => {
    await fill();
    await record.commit(
      BOB,
      makeChangeSet({ messages: [makeMessage("zweiundvierzig", { content: `Bob says: "${SENTENCE}"` })] }),
    );
    await erase();
    expect(await found()).toEqual(NOWHERE);
    expect((await record.since(BOB, 0)).messages).toHaveLength(1);
  });

  it("does not count names of tables, columns and users as leftovers", async () => {
    await fill();
    await record.commit({ project: "default", user: "turn revision" }, makeChangeSet());
    expect(await found(["revision", "messages", "default", "turn revision", "text index"])).toEqual(NOWHERE);
  });

  it("rewrites the file if a page contains bytes of no row", async () => {
    await fill();
    await record.close();
    // As a build without secure_delete would have left it.
    const careless = new DatabaseSync(path);
    careless.exec("PRAGMA secure_delete = OFF; CREATE TABLE scraps (text TEXT)");
    careless.prepare("INSERT INTO scraps VALUES (?)").run("The parrot is called Quetzalcoatl.");
    careless.exec("DELETE FROM scraps; DROP TABLE scraps");
    careless.close();
    expect(inBytes("quetzalcoatl")).toBe(1);
    record = await openSqliteStore({ path });
    expect(await found(["Quetzalcoatl"])).toEqual(NOWHERE);
    expect(inBytes("quetzalcoatl")).toBe(0);
    expect((await record.since(ANN, 0)).messages).toHaveLength(61);
    expect((await record.since(ANN, 0)).messages.map(({ turn }) => turn)).toEqual(
      Array.from({ length: 61 }, (_, i) => i + 1),
    );
  });

  it("reports a log that a reader holds, and empties it once the reader is gone", async () => {
    await fill();
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM messages").get();
    await erase();
    expect((await found()).files).toBeGreaterThan(0);
    reader.exec("COMMIT");
    reader.close();
    expect(await found()).toEqual(NOWHERE);
    expect(inBytes("zweiundvierzig")).toBe(0);
  });

  it("reports copies next to the database, and leaves them unchanged", async () => {
    await fill();
    writeFileSync(`${path}.bak`, `An old copy. ${SENTENCE}`);
    writeFileSync(join(folder, "unrelated.txt"), SENTENCE);
    await erase();
    expect(await found([SENTENCE])).toEqual({ ...NOWHERE, "other files beside it": 1 });
    expect(readFileSync(`${path}.bak`, "utf8")).toContain(SENTENCE);
  });

  it("finds a text with non-ASCII letters and characters that JSON escapes", async () => {
    const text = 'Zoë\'s "straße"\tis 漢字\nand ünï.';
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1", { content: text })] }));
    writeFileSync(`${path}.bak`, JSON.stringify({ text: text.toUpperCase() }));
    expect(await found([text])).toMatchObject({ messages: 1, "other files beside it": 1 });
  });
});
