import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeTrace,
  makeUnit,
} from "../../testing/memory-store/change-sets.ts";
import { checkRows } from "./health.ts";
import { openSqliteStore } from "./index.ts";
import { openSqliteDatabase } from "./open.ts";

const ANN = { project: "default", user: "ann" };
let folder = "";
let path = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-check-"));
  path = join(folder, "memory.db");
  const record = await openSqliteStore({ path });
  await record.commit(
    ANN,
    makeChangeSet({
      messages: [makeMessage("m1"), makeMessage("m2")],
      memories: [makeMemory("a"), makeMemory("a", 2), makeMemory("b"), makeMemory("c")],
      links: [{ from: "a", type: "extends", to: "b", strength: 1 }],
      units: [
        makeUnit("m1#0", "passage", "m1"),
        makeUnit("m2#0", "passage", "m2"),
        ...["a", "b", "c"].map((id) => makeUnit(id, "memory", id)),
      ],
      tombstones: [{ hash: "t", of: "words", at: BASE_TIME }],
      receipt: { key: "k", body: "b", messages: ["m1"], memories: [], pending: 0 },
    }),
  );
  await record.commit(
    ANN,
    makeChangeSet({
      base: 1,
      cause: "forget",
      messages: [makeMessage("m3", { content: "" })],
      erase: {
        messages: [],
        memories: ["c"],
        rewrites: [],
        receipt: makeErasureReceipt("e1", { revision: 2 }),
        trace: makeTrace("e1"),
      },
    }),
  );
  await record.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What the check says after this damage, as "place: problem". */
function afterDamage(sql: string): string[] {
  const handle = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  handle.exec(sql);
  handle.close();
  const database = openSqliteDatabase(path);
  const faults = checkRows(database).map(({ place, problem }) => `${place}: ${problem}`);
  database.close();
  return faults;
}

const DAMAGE: readonly (readonly [sql: string, fault: string])[] = [
  ["DELETE FROM versions WHERE id = 'a' AND version = 2", "rows: without the row they belong to"],
  ["DELETE FROM users", "rows: without the row they belong to"],
  ["DELETE FROM heads WHERE id = 'b'", "rows: without the row they belong to"],
  ["UPDATE heads SET version = 1 WHERE id = 'a'", "memories: not at their newest version"],
  ["DELETE FROM units WHERE id = 'b'", "memories: without a search unit"],
  ["DELETE FROM links; DELETE FROM heads WHERE id = 'b'", "versions: without a memory"],
  ["DELETE FROM versions WHERE id = 'a' AND version = 1", "versions: with a gap before them"],
  [
    "UPDATE versions SET body = json_set(body, '$.id', 'z') WHERE id = 'b'",
    "versions: whose body is another's",
  ],
  [
    "UPDATE messages SET body = json_set(body, '$.turn', 9) WHERE id = 'm1'",
    "messages: whose body is another's",
  ],
  ["UPDATE messages SET turn = 2 WHERE id = 'm1'", "messages: with the turn of another, or after a gap"],
  ["DELETE FROM messages WHERE id = 'm1'", "messages: with the turn of another, or after a gap"],
  ["DELETE FROM messages WHERE id = 'm1'", "units: of a message that is not there"],
  ["DELETE FROM messages WHERE id = 'm3'", "users: whose turns are not those of the messages"],
  ["DELETE FROM units WHERE id = 'm1#0'", "messages: searchable but without a passage"],
  ["UPDATE units SET owner = 'z' WHERE id = 'b'", "units: of a memory that is not there"],
  [
    "UPDATE units SET vector = x'00' WHERE id = 'b'",
    "units: with a vector of another length than the rest of their space",
  ],
  ["INSERT INTO gone (user, type, id, revision) VALUES (1, 'unit', 'm1#0', 2)", "units: both there and gone"],
  [
    "INSERT INTO gone (user, type, id, revision) VALUES (1, 'memory', 'a', 2)",
    "memories: both there and gone",
  ],
  ["DELETE FROM log WHERE revision = 1", "users: whose log has a gap or ends at another revision"],
  ["UPDATE users SET revision = 3", "users: whose log has a gap or ends at another revision"],
  ["UPDATE messages SET revision = 7 WHERE id = 'm1'", "users: with rows of a revision that has not been"],
  ["DELETE FROM erasures", "erasures: in the log without their receipt"],
  ["UPDATE erasures SET body = json_set(body, '$.revision', 9)", "erasures: without an entry in the log"],
  ["UPDATE erasures SET trace = json_set(trace, '$.receipt', 'e9')", "erasures: whose trace is another's"],
  ["UPDATE receipts SET body = 'no'", "receipts: whose body is not JSON"],
  ["UPDATE erasures SET body = ''", "erasures: whose body is not JSON"],
  ["UPDATE log SET body = '{' WHERE revision = 1", "log: whose body is not JSON"],
];

describe("the check of a SQLite database", () => {
  it("finds no fault in a healthy database", () => {
    expect(afterDamage("")).toEqual([]);
  });

  it.each(DAMAGE)("finds, after %s, the fault %s", (sql, fault) => {
    expect(afterDamage(sql)).toContain(fault);
  });

  it("finds damaged pages", () => {
    const database = openSqliteDatabase(path);
    database.handle.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    const root = database.handle
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'units_by_revision'")
      .get();
    database.close();
    const bytes = readFileSync(path);
    // An entry of an index that points nowhere: the pages hold together, the index and its table do not.
    const page = (Number(root?.rootpage) - 1) * 8192;
    bytes.fill(0x05, page + 8192 - 4, page + 8192);
    writeFileSync(path, bytes);
    const again = new DatabaseSync(path);
    const faults = checkRows({ ...database, handle: again });
    again.close();
    expect(faults).toEqual([expect.objectContaining({ place: "file" })]);
  });
});
