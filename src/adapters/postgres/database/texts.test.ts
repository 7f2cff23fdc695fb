import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresPlace, testPlace } from "../../../../test/postgres/place.ts";
import type { MemoryStore } from "../../../ports/memory-store.ts";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeRecallReceipt,
  makeUnit,
} from "../../../testing/memory-store/change-sets.ts";
import { openSqliteStore } from "../../sqlite/index.ts";
import { decodeNames, decodeText, encodeLongNames, encodeText, toIndexKey } from "./user-rows.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

/** What databases stumble over. */
const TEXTS: readonly string[] = [
  "a\0b",
  "\0",
  "\\",
  "\\0",
  "\\\\0",
  "\\#",
  `\\#${"0".repeat(64)}`,
  "half \ud83e",
  "\udd8a half",
  "'; DROP TABLE users; --",
  '{"a",NULL,\\"b}',
  "NULL",
  "",
  "e\u0301 and \u00e9",
  "\u{1f98a}\u{fffd}\uffff",
  "x".repeat(1001),
  `${"x".repeat(1001)}y`,
  "漢".repeat(700),
];

describe("texts encoded for columns", () => {
  it("decode to the same text, except half surrogate pairs", () => {
    for (const text of TEXTS) {
      expect(decodeText(encodeText(text))).toBe(text.toWellFormed());
      expect(decodeNames(encodeLongNames(text), toIndexKey(text))).toEqual([text.toWellFormed()]);
    }
  });

  it("are distinct and short enough in an index", () => {
    const keys = TEXTS.map(toIndexKey);
    expect(new Set(keys).size).toBe(new Set(TEXTS.map((text) => text.toWellFormed())).size);
    expect(Math.max(...keys.map((key) => Buffer.byteLength(key)))).toBeLessThanOrEqual(1000);
    expect(keys.some((key) => key.includes("\0"))).toBe(false);
  });
});

describe.skipIf(!url)(`texts in a PostgreSQL store${missing}`, () => {
  let place: PostgresPlace;
  beforeAll(() => {
    place = testPlace(url ?? "", { pipeline: true });
  });
  afterAll(() => place.clear(), 60_000);

  it.each(TEXTS.map((text) => [JSON.stringify(text).slice(0, 40), text]))(
    "of %s are the same as in SQLite",
    async (_shown, text) => {
      const sqlite = await openSqliteStore({ path: ":memory:" });
      const ours = await place.open();
      const found = await Promise.all([sqlite, ours].map((record) => written(record, text)));
      expect(found[1]).toEqual(found[0]);
      expect(JSON.stringify(found[1])).toContain(JSON.stringify(text.toWellFormed()).slice(1, -1));
      await Promise.all([sqlite.close(), ours.close()]);
    },
  );
});

/** The text in every place that takes one, and all that comes back. */
async function written(record: MemoryStore, text: string): Promise<unknown> {
  const scope = { project: `p ${text.toWellFormed()}`, user: text.toWellFormed() };
  // An id with half a character is refused before it comes to a record.
  const id = `i${text.toWellFormed()}`;
  await record.commit(
    scope,
    makeChangeSet({
      messages: [makeMessage(id, { content: text, metadata: { [text]: text } }), makeMessage("other")],
      memories: [makeMemory(id, 1, { text }), makeMemory("other")],
      links: [{ from: id, type: "extends", to: "other", strength: 0.1 }],
      units: [
        makeUnit(id, "memory", id, text),
        makeUnit(`${id}#0`, "passage", id),
        makeUnit("other", "memory", "other"),
      ],
      dropUnits: ["nobody"],
      tombstones: [{ hash: id, of: "words", at: BASE_TIME }],
      receipt: { key: id, body: text, messages: [id], memories: [], pending: 0 },
    }),
  );
  await record.commit(scope, makeChangeSet({ base: 1, dropUnits: [`${id}#0`] }));
  await record.recallReceipts.save([{ scope, receipts: [makeRecallReceipt(id)] }]);
  const limits = { outdated: "", abandoned: "" };
  const begun = { key: id, request: text, at: BASE_TIME };
  const answers = [
    await record.answers.beginAnswer(scope, begun, limits),
    await record.answers.beginAnswer(scope, begun, limits),
  ];
  const before = [
    await record.since(scope, 0),
    await record.since(scope, 1),
    await record.read(scope, { messages: [id], memories: [id] }),
    await record.vectors(scope, [id], "test/3"),
    await record.receipt(scope, id),
    await record.recallReceipts.list(scope, { id, limit: 1 }),
    await record.versions(scope, id),
    await record.erasures.countDependents(scope, [id]),
    await record.users(scope.project),
    (await record.jobs.jobProgress("decay", { limit: 9 })).users,
    await record.staleEmbeddings.users("another space", 9),
    // The files are each adapter's own.
    (await record.erasures.scrub(scope, [text])).slice(0, 4),
    answers,
  ];
  const erase = { messages: [], memories: [id], rewrites: [], receipt: makeErasureReceipt(id) };
  await record.commit(scope, makeChangeSet({ base: 2, erase }));
  return [...before, await record.since(scope, 2), await record.erasures.list(scope)];
}
