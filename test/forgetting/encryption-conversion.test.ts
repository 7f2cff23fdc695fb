import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encryptDatabase } from "../../src/encrypt.ts";
import { createMemory } from "../../src/index.ts";
import { canary, formsOf, found, vectorForms } from "./canaries.ts";

let folder = "";
let path = "";
const word = canary();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-conversion-"));
  path = join(folder, "memory.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A plain file of two users, with an erasure, a webhook, recalls and a backup. */
async function fill(): Promise<void> {
  const memory = await createMemory({ path, webhooks: { allowsLoopback: true } });
  const [ana, ben] = [memory.scope({ user: "ana" }), memory.scope({ user: "ben" })];
  await ben.remember("I live in Ghent.");
  await ana.remember(
    [{ role: "user", content: `My boat is called ${word}. I live in Porto.`, name: "Ana" }],
    { idempotencyKey: "first" },
  );
  const { memories } = await ana.add({ text: `The user paid 900 for ${word}.`, metadata: { about: word } });
  await ana.update(memories[0]?.id ?? "", { text: `The user paid 950 for ${word}.` });
  await ana.remember("I drink tea.");
  await ana.forget("tea");
  await ana.recall(`boat ${word}`, { explain: true });
  await memory.webhooks.create({ url: "http://127.0.0.1:9/in", events: ["memories.changed"] });
  await memory.backup(join(folder, "monday.backup"));
  await memory.close();
}

async function readContent(encryption: boolean) {
  await using memory = await createMemory({ path, encryption, webhooks: { allowsLoopback: true } });
  const users = await Promise.all(
    ["ana", "ben"].map(async (user) => {
      const lines: unknown[] = [];
      for await (const { exportedAt: _at, ...line } of memory.scope({ user }).export() as AsyncIterable<
        Record<string, unknown>
      >)
        lines.push(line);
      return lines;
    }),
  );
  const { receipts, broken } = await memory.audit();
  const hooks = (await memory.webhooks.list()).map(({ id, url, events }) => ({ id, url, events }));
  return { users, receipts, broken, hooks, faults: await memory.check() };
}

const convert = () => encryptDatabase({ path, encryption: true });

describe("a database file that is encrypted with its users", () => {
  it("holds the same, in no readable byte, and names the backup that was made before", {
    timeout: 120_000,
  }, async () => {
    await fill();
    const before = await readContent(false);
    cpSync(path, `${path}.before-by-hand`);
    const forms = [...formsOf(word), ...(await vectorForms(`My boat is called ${word}.`))];
    expect(found(folder, forms)).toContain("memory.db: as it is");
    const done = await convert();
    expect(done).toMatchObject({
      isConverted: true,
      rows: { users: 2 },
      plainFiles: ["memory.db.before-by-hand"],
      plainBackups: ["monday.backup"],
    });
    rmSync(`${path}.before-by-hand`);
    rmSync(join(folder, "monday.backup"));
    expect(found(folder, forms)).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual([
      "memory.db",
      "memory.db.erasures",
      "memory.db.keys",
      "memory.db.secret",
    ]);
    expect(await readContent(true)).toEqual(before);
    await expect(createMemory({ path })).rejects.toMatchObject({ code: "forbidden" });
    expect(await convert()).toMatchObject({
      isConverted: false,
      plainFiles: [],
      plainBackups: ["monday.backup"],
    });
    expect(await readContent(true)).toEqual(before);
  });

  it("destroys the key with an erasure of everything, and the receipt does not count on it for a backup from before", {
    timeout: 120_000,
  }, async () => {
    await fill();
    await convert();
    const memory = await createMemory({ path, encryption: true });
    const receipt = await memory.scope({ user: "ana" }).forget({ everything: true });
    expect(receipt.verified.filter(({ found: left }) => left > 0)).toEqual([]);
    expect(receipt.verified).toContainEqual({
      place: "keys of the user, for encrypted copies alone",
      found: 0,
    });
    expect(receipt.backups).toMatchObject([{ name: "monday.backup" }]);
    // A new backup under the same name holds nothing unencrypted.
    await memory.backup(join(folder, "monday.backup"), { replace: true });
    const other = await memory.scope({ user: "ben" }).forget({ everything: true });
    expect(other.verified).toContainEqual({ place: "keys of the user", found: 0 });
    await memory.close();
  });

  it("stays as it is if it cannot be encrypted: in use, with an image, without a folder that can be written, with other keys", {
    timeout: 120_000,
  }, async () => {
    await fill();
    const before = await readContent(false);
    const names = readdirSync(folder).sort();
    const user = await createMemory({ path });
    await expect(convert()).rejects.toMatchObject({ code: "unavailable" });
    await user.close();
    // A draft that cannot be removed, as on a failing disk.
    mkdirSync(`${path}.encrypting`);
    await expect(convert()).rejects.toMatchObject({ code: expect.any(String) });
    rmSync(`${path}.encrypting`, { recursive: true });
    const masterKeyFile = join(folder, "missing.key");
    await expect(encryptDatabase({ path, encryption: { masterKeyFile } })).rejects.toMatchObject({
      code: "forbidden",
    });
    writeFileSync(`${path}.keys`, "not a folder");
    await expect(convert()).rejects.toMatchObject({ code: "unavailable" });
    rmSync(`${path}.keys`);
    expect(readdirSync(folder).sort()).toEqual(names);
    expect(await readContent(false)).toEqual(before);
    const withImage = await createMemory({ path });
    const url = `data:image/png;base64,${Buffer.from("89504e470d0a1a0a", "hex").toString("base64")}`;
    await withImage
      .scope({ user: "ana" })
      .remember({ role: "user", content: [{ type: "image_url", image_url: { url } }] });
    await withImage.close();
    await expect(convert()).rejects.toMatchObject({ code: "unsupported" });
    expect(existsSync(`${path}.keys`)).toBe(false);
  });

  it("stays as it is if the disk has no space for the copy, or for its last page", {
    timeout: 120_000,
  }, async () => {
    await fill();
    const names = readdirSync(folder).sort();
    const before = await readContent(false);
    const size = statSync(path).size;
    for (const bytes of [size / 2, size - 8192]) {
      const limit = `ulimit -f ${Math.floor(bytes / 1024)}; exec "$0" "$@"`;
      const words = [process.execPath, join(import.meta.dirname, "../../src/cli/main.ts")];
      const { status, stderr } = spawnSync(
        "bash",
        ["-c", limit, ...words, "encryption", "convert", "--db", path],
        { encoding: "utf8", env: { ...process.env, KEEPSAKE_ENCRYPTION: "on" } },
      );
      expect([status, stderr]).toEqual([1, expect.stringMatching(/space|disk is full/)]);
      expect(readdirSync(folder).sort()).toEqual(names);
      expect(await readContent(false)).toEqual(before);
    }
  });
});
