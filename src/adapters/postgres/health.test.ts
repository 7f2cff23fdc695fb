import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresPlace, testPlace } from "../../../test/postgres/place.ts";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeTrace,
  makeUnit,
} from "../../testing/memory-store/change-sets.ts";
import { ANN } from "../../testing/memory-store/store-contents.ts";
import type { PostgresStore } from "./index.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';

/** A body of JSON with one field changed. */
const changed = (field: string, value: string): string => `(body::jsonb || '{"${field}": ${value}}')::text`;

const DAMAGE: readonly (readonly [sql: string, fault: string])[] = [
  ["DELETE FROM versions WHERE id = 'a' AND version = 2", "memories: without a version that they name"],
  ["DELETE FROM users", "rows: of another project than their user's, or of nobody"],
  [
    "UPDATE messages SET project = 'x' WHERE id = 'm1'",
    "rows: of another project than their user's, or of nobody",
  ],
  ["UPDATE heads SET version = 1 WHERE id = 'a'", "memories: not at their newest version"],
  ["DELETE FROM units WHERE id = 'b'", "memories: without a search unit"],
  ["DELETE FROM links; DELETE FROM heads WHERE id = 'b'", "versions: without a memory"],
  ["DELETE FROM versions WHERE id = 'a' AND version = 1", "versions: with a gap before them"],
  [`UPDATE versions SET body = ${changed("id", '"z"')} WHERE id = 'b'`, "versions: whose body is another's"],
  [`UPDATE messages SET body = ${changed("turn", "9")} WHERE id = 'm1'`, "messages: whose body is another's"],
  ["UPDATE messages SET turn = 2 WHERE id = 'm1'", "messages: with the turn of another, or after a gap"],
  ["DELETE FROM messages WHERE id = 'm1'", "units: of a message that is not there"],
  ["DELETE FROM messages WHERE id = 'm3'", "users: whose turns are not those of the messages"],
  ["DELETE FROM units WHERE id = 'm1#0'", "messages: searchable but without a passage"],
  ["UPDATE units SET owner = 'z' WHERE id = 'b'", "units: of a memory that is not there"],
  [
    "UPDATE units SET vector = '\\x00' WHERE id = 'b'",
    "units: with a vector of another length than the rest of their space",
  ],
  [
    "INSERT INTO gone SELECT number, project, 'unit', 'm1#0', NULL, 2 FROM users",
    "units: both there and gone",
  ],
  [
    "INSERT INTO gone SELECT number, project, 'memory', 'a', NULL, 2 FROM users",
    "memories: both there and gone",
  ],
  ["DELETE FROM log WHERE revision = 1", "users: whose log has a gap or ends at another revision"],
  ["UPDATE users SET revision = 3", "users: whose log has a gap or ends at another revision"],
  ["UPDATE messages SET revision = 7 WHERE id = 'm1'", "users: with rows of a revision that has not been"],
  ["DELETE FROM erasures", "erasures: in the log without their receipt"],
  [`UPDATE erasures SET body = ${changed("revision", "9")}`, "erasures: without an entry in the log"],
  ["UPDATE erasures SET trace = replace(trace, 'e1', 'e9')", "erasures: whose trace is another's"],
  ["UPDATE receipts SET body = 'no'", "receipts: whose body is not JSON"],
  ["UPDATE log SET body = '{' WHERE revision = 1", "log: whose body is not JSON"],
];

describe.skipIf(!url)(`the check of a PostgreSQL database${missing}`, () => {
  let place: PostgresPlace;
  beforeAll(() => {
    place = testPlace(url ?? "", { pipeline: true });
  });
  afterAll(() => place.clear(), 60_000);

  async function history(): Promise<PostgresStore> {
    const record = await place.open();
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
    const receipt = makeErasureReceipt("e1", { revision: 2 });
    const erase = { messages: [], memories: ["c"], rewrites: [], receipt, trace: makeTrace("e1") };
    const emptied = [makeMessage("m3", { content: "" })];
    await record.commit(ANN, makeChangeSet({ base: 1, cause: "forget", messages: emptied, erase }));
    return record;
  }

  it("finds no fault in a healthy database", async () => {
    expect(await (await history()).check()).toEqual([]);
  });

  it.each(DAMAGE)("finds, after %s, the fault %s", async (sql, fault) => {
    const record = await history();
    // As a restore that went wrong would leave it: nothing that the database itself holds to.
    await place.pool.query(
      `BEGIN; SET LOCAL session_replication_role = replica; SET LOCAL search_path = ${place.schemaOf(record)}; ${sql}; COMMIT`,
    );
    const faults = await record.check();
    expect(faults.map((one) => `${one.place}: ${one.problem}`)).toContain(fault);
    await record.close();
  });
});
