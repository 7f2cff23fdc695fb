import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SQLITE_MIGRATIONS } from "../../src/adapters/sqlite/migrations/index.ts";
import { createMemory } from "../../src/memory.ts";
import { FORMATS } from "./formats.ts";
import * as story from "./story.ts";
import { readingsOf, unpackFormat, versionOf } from "./unpack.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-formats-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Library = Awaited<ReturnType<typeof createMemory>>;

/** Today, a day after the story: nothing in it expires. */
const clock = () => story.steadyClock(Date.UTC(2026, 0, 6));

it("every number that the schema had before this one has a file among the formats", () => {
  // 2 was never written: the migrations 2 and 3 came in one commit.
  const former = SQLITE_MIGRATIONS.map((_, at) => at + 1).filter(
    (number) => number !== 2 && number < SQLITE_MIGRATIONS.length,
  );
  const numbers = FORMATS.map(({ version }) => version);
  expect(former.filter((number) => !numbers.includes(number))).toEqual([]);
  expect(former.length).toBeGreaterThan(7);
});

it("every format of search indexes before the one in use has a file among the formats", () => {
  const source = readFileSync(join(import.meta.dirname, "../../src/engine/search-index/columns.ts"), "utf8");
  const newest = Number(/FORMAT = (\d+)/.exec(source)?.[1]);
  const formats = FORMATS.map(({ index }) => index);
  const former = Array.from({ length: newest - 1 }, (_, at) => at + 1);
  expect(former.filter((number) => !formats.includes(number))).toEqual([]);
  expect(former.length).toBeGreaterThan(4);
});

it("the newest of them holds grants, a group, a picture and a webhook, which are read again", () => {
  const newest = FORMATS.at(-1);
  const others = newest && readingsOf(newest).others;
  expect(Object.entries(others ?? {}).map(([name, { length }]) => [name, length])).toEqual([
    ["grants", 2],
    ["groups", 1],
    ["attachments", 1],
    ["webhooks", 1],
  ]);
});

describe.each(FORMATS)("a file of format $name", (format) => {
  it("is what the table says, and small", () => {
    const path = unpackFormat(format, folder);
    expect(versionOf(path)).toBe(format.version);
    expect(indexFormatOf(path)).toBe(format.index);
    const size = readFileSync(join(import.meta.dirname, `${format.name}.db.gz`)).length;
    expect(size).toBeLessThan(60_000);
  });

  it("reads as it did to the version that made it, and all is well with it", async () => {
    const path = unpackFormat(format, folder);
    const memory = await createMemory({ path, clock: clock(), webhooks: {} });
    expect(memory.notices).toEqual([]);
    const { users, receipts, broken } = await story.readAll(memory);
    const before = readingsOf(format);
    expect([users, receipts]).toEqual([before.users, before.receipts]);
    if (before.others) expect(await story.readOthers(memory)).toEqual(before.others);
    expect([before.receipts.length, before.broken, broken]).toEqual([1, [], []]);
    expect(await memory.check()).toEqual([]);
    await memory.close();
    expect(versionOf(path)).toBe(SQLITE_MIGRATIONS.length);
  });

  it("answers what is asked of it", async () => {
    const path = unpackFormat(format, folder);
    const memory = await createMemory({ path, clock: clock() });
    for (const { user, question, word } of story.QUESTIONS) {
      const { text } = await memory.scope({ user }).answer(question);
      expect(text).toContain(word);
      const recalled = await memory.scope({ user }).recall(question);
      expect(JSON.stringify(recalled.items)).toContain(word);
    }
    await memory.close();
  });

  it("keeps what was erased out, in its bytes and when it is said again by an import", async () => {
    const path = unpackFormat(format, folder);
    const memory = await createMemory({ path, clock: clock() });
    const ana = memory.scope({ user: "ana" });
    const again = {
      id: "m-9",
      role: "user" as const,
      content: story.ERASED_SENTENCE,
      at: "2026-01-05T09:00:03Z",
    };
    for await (const _ of ana.import([again]));
    const readings = JSON.stringify(await story.readAll(memory));
    expect(readings).not.toContain(story.ERASED_WORD);
    await memory.close();
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file), "latin1")).not.toContain(story.ERASED_WORD);
    }
  });

  it("understands what was waiting, knows its idempotency keys, and goes on being written to", async () => {
    const path = unpackFormat(format, folder);
    const memory = await createMemory({ path, clock: clock() });
    await memory.scope(story.WAITING).understand();
    expect(await textsOf(memory, story.WAITING)).toEqual(["The user plays the cello."]);
    const ana = memory.scope({ user: "ana" });
    const revision = await ana.revision();
    const options = { session: "s-1", idempotencyKey: story.IDEMPOTENCY_KEY };
    expect((await ana.remember(story.FIRST_MESSAGES, options)).messages).toEqual(["m-1", "m-2"]);
    expect(await ana.revision()).toBe(revision);
    if (format.version >= 8) {
      const kept = await memory.answers.begin(story.SCOPES[0] ?? story.WAITING, {
        ...story.KEPT_ANSWER,
        abandonedMs: 1,
      });
      expect(JSON.stringify(kept)).toContain("kept");
    }
    await goOn(memory, path);
    await memory.close();
  });
});

/** Remembers, forgets and takes back, as somebody would with a file of today. */
async function goOn(memory: Library, path: string): Promise<void> {
  const ana = memory.scope({ user: "ana" });
  await ana.remember({
    id: "m-5",
    role: "user",
    content: "I live in Turin now. My boss is called Wendelin.",
  });
  expect(await textsOf(memory, { user: "ana" })).toContain("The user lives in Turin.");
  const { revision } = await ana.add({ text: "Ana likes hail." });
  await ana.undo(revision);
  expect(await textsOf(memory, { user: "ana" })).not.toContain("Ana likes hail.");
  const receipt = await ana.forget("Quixote");
  expect([receipt.complete, receipt.erased.memories]).toEqual([true, 1]);
  const folder = join(path, "..");
  const holding = readdirSync(folder).filter((file) =>
    readFileSync(join(folder, file), "latin1").includes("Quixote"),
  );
  expect(holding).toEqual([]);
  expect((await memory.audit()).broken).toEqual([]);
  expect(await memory.check()).toEqual([]);
}

async function textsOf(
  memory: Library,
  scope: { readonly user: string; readonly project?: string },
): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of memory.scope(scope).list({ limit: 1000 })) texts.push(text);
  return texts;
}

function indexFormatOf(path: string): number | undefined {
  const handle = new DatabaseSync(path, { readOnly: true });
  try {
    const row = handle.prepare("SELECT bytes FROM blocks LIMIT 1").get();
    const header = Buffer.from(row?.bytes as Uint8Array)
      .subarray(0, 500)
      .toString("latin1");
    return Number(/"format":(\d+)/.exec(header)?.[1]);
  } catch {
    // The first format has no such table.
    return undefined;
  } finally {
    handle.close();
  }
}

describe("a file of a newer version", () => {
  it("is refused, and stays as it is to the byte", async () => {
    const [format] = FORMATS.slice(-1);
    if (!format) throw new Error("no formats");
    const path = unpackFormat(format, folder);
    const handle = new DatabaseSync(path);
    handle.exec(`PRAGMA user_version = ${SQLITE_MIGRATIONS.length + 1}`);
    handle.close();
    const everyFile = () =>
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]);
    const before = everyFile();
    const opening = createMemory({ path });
    await expect(opening).rejects.toMatchObject({ code: "unsupported" });
    await expect(opening).rejects.toThrow(/newer version of Keepsake created it. Update Keepsake/);
    expect(everyFile()).toEqual(before);
  });
});
