import { createHmac, createPublicKey, verify } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ErasureReceipt } from "../../src/domain/receipt.ts";
import { toCanonicalJson } from "../../src/domain/text/canonical-json.ts";
import { createMemory } from "../../src/memory.ts";

let folder = "";
let path = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-audit-"));
  path = join(folder, "memory.db");
  await using memory = await createMemory({ path });
  const ana = memory.scope({ user: "ana" });
  await ana.remember("I use Shram, Magnet, Pencil and Linear.");
  await ana.remember("I live in Porto.");
  for (const tool of ["Magnet", "Pencil", "Shram"]) await ana.forget(tool);
  const bob = memory.scope({ user: "bob" });
  await bob.remember("I play the oboe.");
  await bob.forget("oboe");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What the audit finds wrong after somebody has been at the file. */
async function after(sql: string, head?: string): Promise<string[]> {
  const handle = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  handle.exec(sql);
  handle.close();
  await using memory = await createMemory({ path });
  const { broken } = await memory.audit(head === undefined ? {} : { head });
  return broken.map(({ problem }) => problem);
}

const receipts = async (): Promise<readonly ErasureReceipt[]> => {
  await using memory = await createMemory({ path });
  return (await memory.audit()).receipts;
};

describe("an audit", () => {
  it("finds nothing wrong where nothing is", async () => {
    expect(await after("")).toEqual([]);
    expect(await receipts()).toHaveLength(4);
  });

  it.each([
    ["a field of a receipt is changed", "UPDATE erasures SET body = json_set(body, '$.erased.memories', 7)"],
    ["what was found is changed", "UPDATE erasures SET body = json_set(body, '$.verified[0].found', 2)"],
    ["a user is another", "UPDATE erasures SET body = json_set(body, '$.user', 'eve') WHERE number = 2"],
    ["a receipt in the middle is taken out", "DELETE FROM erasures WHERE number = 2"],
    ["a user's last receipt is taken out", "DELETE FROM erasures WHERE number = 3"],
    ["a user's only receipt is taken out", "DELETE FROM erasures WHERE number = 4"],
    ["all are taken out", "DELETE FROM erasures"],
    [
      "two change places",
      "UPDATE erasures SET number = number + 100 WHERE number = 1; UPDATE erasures SET number = 1 WHERE number = 2;" +
        "UPDATE erasures SET number = 2 WHERE number = 101",
    ],
    [
      "a trace is changed",
      "UPDATE erasures SET trace = json_set(trace, '$.memories', json('[]')) WHERE number = 1",
    ],
    ["a trace is taken away", "UPDATE erasures SET trace = NULL WHERE number = 1"],
  ])("notices that %s", async (_what, sql) => {
    expect(await after(sql)).not.toEqual([]);
  });

  it("notices by the ledger that a receipt went with its entry in the log, and does not erase again", async () => {
    const found = await after(
      "DELETE FROM erasures WHERE number = 3; DELETE FROM log WHERE user = 1 AND revision = 5;" +
        "UPDATE users SET revision = 4 WHERE id = 1; UPDATE messages SET revision = 4 WHERE revision = 5;" +
        "UPDATE units SET revision = 4 WHERE revision = 5; UPDATE gone SET revision = 4 WHERE revision = 5",
    );
    // The state looks older than the ledger: the erasure is done again, and has a receipt again. What stays is that rows were changed by hand.
    expect(found).not.toEqual([]);
    expect(found.filter((problem) => !/changed since they were written|older state/.test(problem))).toEqual(
      [],
    );
    expect((await receipts()).at(-1)).toMatchObject({ replays: expect.any(String) });
  });

  it("notices by an earlier head that the record and the ledger have lost the same end", async () => {
    const { head } = await (await createMemory({ path })).audit();
    const gone =
      "DELETE FROM erasures WHERE number = 4; DELETE FROM log WHERE user = 2; DELETE FROM users WHERE id = 2;";
    writeFileSync(
      `${path}.erasures`,
      readFileSync(`${path}.erasures`, "utf8").split("\n").slice(0, 3).join("\n"),
    );
    const rest = [
      "messages",
      "versions",
      "heads",
      "units",
      "gone",
      "tombstones",
      "links",
      "receipts",
      "blocks",
    ];
    const whole = gone + rest.map((table) => `DELETE FROM ${table} WHERE user = 2;`).join("");
    expect(await after(whole)).toEqual([]);
    expect(await after("", head)).toEqual(["receipts are missing that an earlier audit saw"]);
  });

  it("takes the head of an earlier audit while receipts are added", async () => {
    await using memory = await createMemory({ path });
    const { head } = await memory.audit();
    await memory.scope({ user: "ana" }).forget("Porto");
    expect((await memory.audit({ head })).broken).toEqual([]);
    expect((await memory.audit()).head).not.toBe(head);
    await expect(memory.audit({ head: "mine" })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("takes receipts that were signed with the secret itself, before there were keys", async () => {
    const [first] = await receipts();
    const {
      version: _version,
      key: _key,
      backups: _backups,
      trace: _trace,
      ...old
    } = first as ErasureReceipt;
    const secret = Buffer.from(readFileSync(`${path}.secret`, "utf8"), "hex");
    const hmac = (text: string): string => createHmac("sha256", secret).update(text).digest("hex");
    const { createHash } = await import("node:crypto");
    const { id, at, project, user, revision, erased, ids, previous, verified, complete } = old;
    const hash = createHash("sha256")
      .update(toCanonicalJson([id, at, project, user, revision, erased, ids, previous]))
      .digest("hex");
    const signature = hmac(toCanonicalJson(["receipt", hash, verified, complete]));
    const body = JSON.stringify({ ...old, hash, signature }).replaceAll("'", "''");
    const others =
      "DELETE FROM erasures WHERE number IN (2, 3); DELETE FROM log WHERE revision IN (4, 5) AND user = 1;";
    const found = await after(
      `${others} UPDATE users SET revision = 3 WHERE id = 1; UPDATE erasures SET body = '${body}', trace = NULL WHERE number = 1`,
    );
    expect(found.filter((problem) => /hash|signature|trace/.test(problem))).toEqual([]);
  });
});

describe("a receipt", () => {
  it("a receipt is verified with the public key alone", async () => {
    const memory = await createMemory({ path });
    const { publicKey, receipts: all } = await memory.audit();
    await memory.close();
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
    const holds = ({ signature, ...said }: ErasureReceipt): boolean =>
      verify(
        null,
        Buffer.from(toCanonicalJson(said)),
        key,
        Buffer.from(signature.replace("ed25519:", ""), "base64url"),
      );
    expect(all.map(holds)).toEqual([true, true, true, true]);
    for (const receipt of all) {
      expect(holds({ ...receipt, complete: !receipt.complete })).toBe(false);
      expect(holds({ ...receipt, user: "eve" })).toBe(false);
      expect(receipt.key).toBe(publicKey);
    }
  });

  it("says what went from each place, and no word of it", async () => {
    await using memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    await ana.remember("My dentist is called Quillon.", { idempotencyKey: "k" });
    const receipt = await ana.forget("Quillon");
    expect(receipt.erased).toMatchObject({
      memories: 1,
      messages: 1,
      answers: 1,
      terms: receipt.erased.vectors,
    });
    expect(receipt).toMatchObject({ version: 2, complete: true, backups: [] });
    expect(JSON.stringify(receipt)).not.toMatch(/quillon|dentist/i);
    expect(readFileSync(`${path}.erasures`, "utf8")).not.toMatch(/quillon|dentist|oboe|magnet/i);
  });
});

describe("the ledger beside the database", () => {
  it("is its owner's alone, and not there before anything was erased", async () => {
    expect(statSync(`${path}.erasures`).mode & 0o777).toBe(0o600);
    const other = join(folder, "other.db");
    await using memory = await createMemory({ path: other });
    await memory.scope({ user: "ana" }).remember("I use Shram.");
    expect(existsSync(`${other}.erasures`)).toBe(false);
  });

  it("has an older copy that was put in place by hand forget again what was erased since, before it serves", async () => {
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I have a parrot called Quetzal. I also own a piano.");
    await memory.close();
    copyFileSync(path, `${path}-copy`);
    const again = await createMemory({ path });
    await again.scope({ user: "ana" }).forget("Quetzal");
    await again.close();
    copyFileSync(`${path}-copy`, path);
    rmSync(`${path}-copy`);
    expect(readFileSync(path, "latin1")).toMatch(/quetzal/i);
    await using put = await createMemory({ path });
    expect(put.notices).toEqual([expect.stringContaining("1 of the erasures made since then")]);
    expect(readFileSync(path, "latin1")).not.toMatch(/quetzal/i);
    expect((await put.scope({ user: "ana" }).list()).items.map(({ text }) => text).join()).toMatch(/piano/);
    expect((await put.audit()).broken).toEqual([]);
    await put
      .scope({ user: "ana" })
      .remember("I have a parrot called Quetzal.", { origin: "import", at: "2020-01-01T00:00:00Z" });
    expect((await put.scope({ user: "ana" }).list()).items.map(({ text }) => text).join()).not.toMatch(
      /quetzal/i,
    );
    expect((await createMemory({ path })).notices).toEqual([]);
  });

  it("is said to be lost, and made anew from the database", async () => {
    rmSync(`${path}.erasures`);
    const first = await createMemory({ path });
    expect(first.notices).toEqual([
      expect.stringContaining("erasure ledger beside the database was missing"),
    ]);
    await first.close();
    const second = await createMemory({ path });
    expect(second.notices).toEqual([]);
    await second.close();
    expect(readFileSync(`${path}.erasures`, "utf8").trim().split("\n")).toHaveLength(4);
  });

  it("survives a line that a crash cut off, and tells of damage", async () => {
    const whole = readFileSync(`${path}.erasures`, "utf8");
    writeFileSync(`${path}.erasures`, whole.slice(0, -40));
    const first = await createMemory({ path });
    expect((await first.audit()).broken).toEqual([]);
    await first.close();
    const last = whole.trim().split("\n").at(-1) ?? "";
    expect(readFileSync(`${path}.erasures`, "utf8").endsWith(`${last.slice(0, -39)}\n${last}\n`)).toBe(true);
    writeFileSync(`${path}.erasures`, whole.replace("{", "#"));
    const second = await createMemory({ path });
    expect((await second.audit()).broken).toEqual([
      { id: "", problem: "lines of the ledger are damaged: 1" },
    ]);
    await second.close();
  });
});
