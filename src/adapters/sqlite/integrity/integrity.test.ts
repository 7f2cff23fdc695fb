import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeUnit,
} from "../../../testing/memory-store/change-sets.ts";
import { openSqliteStore } from "../index.ts";
import { createRowDigester, DIGEST_TABLES } from "./row-digest.ts";

const ANN = { project: "default", user: "ann" };
const KEY = "ab".repeat(32);
let folder = "";
let path = "";

const open = (digestKey: string | undefined = KEY) =>
  openSqliteStore({ path, ...(digestKey === "" ? {} : { digestKey }) });

function sql<Row>(text: string): Row[] {
  const handle = new DatabaseSync(path);
  try {
    return handle.prepare(text).all() as Row[];
  } finally {
    handle.close();
  }
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-digests-"));
  path = join(folder, "memory.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const FIRST = makeChangeSet({
  messages: [makeMessage("m1"), makeMessage("m2")],
  memories: [makeMemory("a"), makeMemory("b")],
  units: [
    makeUnit("m1#0", "passage", "m1"),
    makeUnit("m2#0", "passage", "m2"),
    makeUnit("a", "memory", "a"),
    makeUnit("b", "memory", "b"),
  ],
});

describe("a digest of a row", () => {
  it("is the HMAC-SHA-256 of each value with its type and length, cut to 16 bytes", () => {
    const text = Buffer.from("1:ti7;s2:nénb2;");
    const size = Buffer.alloc(4);
    size.writeUInt32LE(text.length);
    const row = Buffer.concat([size, text, Buffer.from([1, 2])]);
    const wanted = createHmac("sha256", Buffer.from(KEY, "hex")).update(row).digest().subarray(0, 16);
    expect(Buffer.from(createRowDigester(KEY).digest("t", [7, "né", null, new Uint8Array([1, 2])]))).toEqual(
      wanted,
    );
  });

  it("of a row longer than its buffer is computed in the same way", () => {
    const { digest } = createRowDigester(KEY);
    const long = "x".repeat(300_000);
    expect(digest("t", [long])).toEqual(digest("t", [long]));
    expect(digest("t", [long])).not.toEqual(digest("t", [`${long}x`]));
  });

  it("differs for the same bytes in other columns or another table", () => {
    const { digest } = createRowDigester(KEY);
    const all = [
      digest("t", ["ab", "c"]),
      digest("t", ["a", "bc"]),
      digest("u", ["ab", "c"]),
      digest("t", ["abc"]),
    ];
    expect(new Set(all.map((one) => Buffer.from(one).toString("hex"))).size).toBe(4);
  });
});

describe("rows written with a digest key", () => {
  it("have sound digests in every table", async () => {
    const record = await open();
    await record.commit(ANN, FIRST);
    expect(await record.check()).toEqual([]);
    for (const { name } of DIGEST_TABLES) {
      expect(sql(`SELECT 1 FROM ${name} WHERE digest IS NULL`), name).toEqual([]);
    }
    await record.close();
  });

  it("keep no digest of an erased text", async () => {
    const record = await open();
    await record.commit(ANN, FIRST);
    const before = sql<{ digest: Uint8Array }>(
      "SELECT digest FROM messages WHERE id = 'm1' UNION ALL SELECT digest FROM versions WHERE id = 'a'",
    );
    await record.commit(
      ANN,
      makeChangeSet({
        base: 1,
        cause: "forget",
        erase: {
          messages: [{ id: "m1", content: "", keepMetadata: false }],
          memories: ["a"],
          rewrites: [],
          receipt: makeErasureReceipt("e1", { revision: 2 }),
        },
        dropUnits: ["m1#0"],
      }),
    );
    expect(await record.check()).toEqual([]);
    const left = DIGEST_TABLES.flatMap(({ name }) =>
      sql<{ digest: Uint8Array }>(`SELECT digest FROM ${name}`),
    );
    const hex = (rows: readonly { digest: Uint8Array }[]) =>
      rows.map(({ digest }) => Buffer.from(digest).toString("hex"));
    expect(hex(before)).toHaveLength(2);
    expect(hex(left).filter((one) => hex(before).includes(one))).toEqual([]);
    await record.close();
  });

  it("are reported and withheld if another program changed a byte", async () => {
    const record = await open();
    await record.commit(ANN, FIRST);
    sql("UPDATE versions SET body = replace(body, '\"text\":\"', '\"text\":\"x') WHERE id = 'a' RETURNING 1");
    const faults = await record.check();
    expect(faults.map(({ place, problem, rows }) => [place, problem, rows?.[0]?.id])).toEqual([
      ["versions", "changed since they were written", "a"],
    ]);
    const read = await record.read(ANN, { messages: ["m1"], memories: ["a", "b"] });
    expect([read.messages.length, read.memories.map(({ id }) => id)]).toEqual([1, ["b"]]);
    expect((await record.since(ANN, 0)).damaged).toEqual({ messages: [], memories: ["a"] });
    expect((await record.integrity.state()).damageSeen).toBe(2);
    await record.close();
  });

  it("are reported as missing if another program deleted one", async () => {
    const record = await open();
    await record.commit(ANN, FIRST);
    sql("DELETE FROM units WHERE id = 'b' RETURNING 1");
    expect((await record.check()).map(({ place, problem }) => `${place}: ${problem}`)).toContain(
      "units: missing, added or put back to an older state",
    );
    await record.close();
  });
});

describe("a database without digests", () => {
  it("gets digests when it is opened with a key, and counts its rows until then", async () => {
    const plain = await open("");
    await plain.commit(ANN, FIRST);
    expect((await plain.integrity.state({ counts: true })).withoutDigest).toBeGreaterThan(8);
    await plain.close();
    const record = await open();
    expect(await record.integrity.state({ counts: true })).toEqual({
      secret: "same",
      withoutDigest: 0,
      damageSeen: 0,
    });
    sql("DELETE FROM units WHERE id = 'b' RETURNING 1");
    expect((await record.check()).length).toBeGreaterThan(0);
    await record.close();
  });

  it("reports no fault after a program without the secret wrote to it", async () => {
    const record = await open();
    await record.commit(ANN, FIRST);
    await record.close();
    const plain = await open("");
    await plain.commit(
      ANN,
      makeChangeSet({ base: 1, messages: [makeMessage("m3")], units: [makeUnit("m3#0", "passage", "m3")] }),
    );
    await plain.close();
    const again = await open();
    expect(await again.check()).toEqual([]);
    await again.close();
  });
});

describe("a database with the digests of another secret", () => {
  it("is recognised, counts no row as changed, and trusts its rows once the secret is adopted", async () => {
    const record = await open();
    await record.commit(ANN, FIRST);
    await record.close();
    const other = await open("cd".repeat(32));
    expect((await other.integrity.state()).secret).toBe("another");
    expect(await other.check()).toEqual([]);
    await other.commit(
      ANN,
      makeChangeSet({ base: 1, messages: [makeMessage("m3")], units: [makeUnit("m3#0", "passage", "m3")] }),
    );
    await other.integrity.adoptSecret();
    await other.integrity.addMissingDigests();
    expect(await other.check()).toEqual([]);
    expect((await other.integrity.state()).secret).toBe("same");
    await other.close();
  });
});

describe("the repair of rows", () => {
  it("copies only rows that digests prove, and none that were erased since", async () => {
    const record = await open();
    await record.commit(ANN, FIRST);
    const copy = join(folder, "copy.db");
    await record.fileCopy?.copyTo(copy, {});
    await record.commit(
      ANN,
      makeChangeSet({
        base: 1,
        cause: "forget",
        erase: {
          messages: [],
          memories: ["a"],
          rewrites: [],
          receipt: makeErasureReceipt("e1", { revision: 2 }),
        },
      }),
    );
    sql("UPDATE messages SET body = replace(body, 'm2', 'm9') WHERE id = 'm2' RETURNING 1");
    expect(await record.integrity.countRepairable()).toBe(0);
    expect(await record.integrity.countRepairable(copy)).toBe(1);
    expect(await record.integrity.repairRows(copy)).toBe(1);
    expect(await record.check()).toEqual([]);
    expect((await record.since(ANN, 0)).memories.map(({ id }) => id)).toEqual(["b"]);
    await record.close();
  });
});
