import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryCache } from "../../src/adapters/memory/index.ts";
import { createMemory, type ScopedMemory } from "../../src/index.ts";
import { restoreMemory } from "../../src/restore.ts";
import { canary, formsOf, found, vectorForms } from "./canaries.ts";

let root = "";
/** Where the database lies. */
let folder = "";
let path = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "keepsake-encryption-"));
  folder = join(root, "data");
  mkdirSync(folder);
  path = join(folder, "memory.db");
});
afterEach(() => rmSync(root, { recursive: true }));

const told = (word: string): string => `My boat is called ${word}.`;

async function listForms(word: string) {
  return [
    ...formsOf(word),
    ...(await vectorForms(told(word))),
    ...(await vectorForms(`The user's boat is called ${word}.`)),
  ];
}

/** Stores a word in messages, memories, their versions, metadata, quotes, units, vectors and kept answers. */
async function plant(user: ScopedMemory, word: string): Promise<void> {
  await user.remember(
    [
      { role: "user", content: `${told(word)} I live in Porto.`, metadata: { note: word } },
      { role: "assistant", content: `What a name: ${word}!` },
      { role: "tool", content: `{"boat": "${word}"}` },
    ],
    { session: "harbour", idempotencyKey: "first" },
  );
  const { memories } = await user.add({
    text: `The user paid 900 for ${word}.`,
    claim: { subject: "user", relation: "pay for", value: word },
    metadata: { about: word },
  });
  await user.update(memories[0]?.id ?? "", { text: `The user paid 950 for ${word}.` });
  await user.recall(`boat ${word}`, { explain: true });
}

const listTexts = async (user: ScopedMemory): Promise<string> =>
  JSON.stringify([
    await user.list({ status: "all", limit: 100 }),
    await user.recall("What is my boat called?", { limit: 100 }),
  ]);

/** Copies the database and, from a folder of their own, its keys to a new place. */
function copyTo(place: string, database: string, keys: string): string {
  const to = join(root, place);
  mkdirSync(to);
  cpSync(database, join(to, "memory.db"));
  cpSync(`${path}.secret`, join(to, "memory.db.secret"));
  cpSync(keys, join(to, "memory.db.keys"), { recursive: true });
  return join(to, "memory.db");
}

describe("an encrypted database file", () => {
  it("has no byte of what was said in it, its log or its backups, in any form; without encryption it has", {
    timeout: 120_000,
  }, async () => {
    const word = canary();
    const forms = await listForms(word);
    for (const encryption of [false, true]) {
      const memory = await createMemory({ path: join(folder, `${encryption}.db`), encryption });
      const ana = memory.scope({ user: "ana" });
      await plant(ana, word);
      await memory.backup(join(folder, `${encryption}.backup`));
      expect(await listTexts(ana)).toContain(word);
      const whileOpen = found(folder, forms);
      await memory.close();
      const all = [...whileOpen, ...found(folder, forms)].filter((place) =>
        place.startsWith(`${encryption}.`),
      );
      if (encryption) expect(all).toEqual([]);
      else
        expect(all).toEqual(expect.arrayContaining(["false.backup: as it is", "false.db: vector, 16 bits"]));
    }
    await using again = await createMemory({ path: join(folder, "true.db"), encryption: true });
    const ana = again.scope({ user: "ana" });
    expect(await listTexts(ana)).toContain(word);
    expect(await again.check()).toEqual([]);
    const receipt = await ana.forget(word);
    expect(receipt).toMatchObject({ complete: true });
    expect(await listTexts(ana)).not.toContain(word);
  });

  it("is refused without encryption, with another secret, without its keys, and with keys of another", {
    timeout: 120_000,
  }, async () => {
    const memory = await createMemory({ path, encryption: true });
    await memory.scope({ user: "ana" }).remember("I live in Porto.");
    await memory.close();
    const other = await createMemory({ path: join(root, "other.db"), encryption: true });
    await other.close();
    await expect(createMemory({ path })).rejects.toMatchObject({ code: "forbidden" });
    const secret = "another secret than the one in the file";
    await expect(createMemory({ path, encryption: true, secret })).rejects.toMatchObject({
      code: "forbidden",
    });
    const masterKeyFile = join(root, "master.key");
    writeFileSync(masterKeyFile, "ab".repeat(32));
    await expect(createMemory({ path, encryption: { masterKeyFile } })).rejects.toMatchObject({
      code: "forbidden",
    });
    cpSync(`${path}.keys`, join(root, "kept"), { recursive: true });
    rmSync(`${path}.keys`, { recursive: true });
    await expect(createMemory({ path, encryption: true })).rejects.toMatchObject({ code: "forbidden" });
    cpSync(join(root, "other.db.keys"), `${path}.keys`, { recursive: true });
    const otherSecret = readFileSync(join(root, "other.db.secret"), "utf8").trim();
    await expect(createMemory({ path, encryption: true, secret: otherSecret })).rejects.toMatchObject({
      code: "forbidden",
    });
    rmSync(`${path}.keys`, { recursive: true });
    cpSync(join(root, "kept"), `${path}.keys`, { recursive: true });
    await using again = await createMemory({ path, encryption: true });
    expect(await listTexts(again.scope({ user: "ana" }))).toContain("Porto");
  });

  it("opens with the master key in a file, and with no other", { timeout: 120_000 }, async () => {
    const [masterKeyFile, otherFile] = [join(root, "master.key"), join(root, "other.key")];
    writeFileSync(masterKeyFile, `${"ab".repeat(32)}\n`);
    writeFileSync(otherFile, "cd".repeat(32));
    const memory = await createMemory({ path, encryption: { masterKeyFile } });
    await memory.scope({ user: "ana" }).remember("I live in Porto.");
    await memory.close();
    await expect(createMemory({ path, encryption: { masterKeyFile: otherFile } })).rejects.toMatchObject({
      code: "forbidden",
    });
    await expect(createMemory({ path, encryption: true })).rejects.toMatchObject({ code: "forbidden" });
    await using again = await createMemory({ path, encryption: { masterKeyFile } });
    expect(await listTexts(again.scope({ user: "ana" }))).toContain("Porto");
  });

  it("is refused where something would not be encrypted: a file with users, :memory: and a cache; an image is left out", {
    timeout: 120_000,
  }, async () => {
    const plain = await createMemory({ path });
    await plain.scope({ user: "ana" }).remember("I live in Porto.");
    await plain.close();
    await expect(createMemory({ path, encryption: true })).rejects.toMatchObject({ code: "conflict" });
    expect(readdirSync(folder)).not.toContain("memory.db.keys");
    await expect(createMemory({ path: ":memory:", encryption: true })).rejects.toMatchObject({
      code: "unsupported",
    });
    const second = join(folder, "second.db");
    const cache = memoryCache({ clock: () => new Date() });
    await expect(createMemory({ path: second, encryption: true, cache })).rejects.toMatchObject({
      code: "unsupported",
    });
    await using memory = await createMemory({ path: second, encryption: true });
    const image_url = {
      url: `data:image/png;base64,${Buffer.from("89504e470d0a1a0a", "hex").toString("base64")}`,
    };
    const image = { role: "user" as const, content: [{ type: "image_url", image_url }] };
    const { memories } = await memory.scope({ user: "ana" }).remember(image);
    expect(memories).toMatchObject([
      { action: "refused", why: expect.stringMatching(/keeps no attachments/) },
    ]);
  });
});

describe("an erasure of everything in an encrypted database", () => {
  it("destroys the user's key: a copy from before cannot be read with the keys that are left, and could with those before", {
    timeout: 120_000,
  }, async () => {
    const [word, other] = [canary(), canary()];
    const memory = await createMemory({ path, encryption: true });
    const [ana, ben] = [memory.scope({ user: "ana" }), memory.scope({ user: "ben" })];
    await plant(ana, word);
    await ben.remember(told(other));
    const backup = join(root, "before.db");
    await memory.backup(backup);
    const keysBefore = join(root, "keys-before");
    cpSync(`${path}.keys`, keysBefore, { recursive: true });
    const receipt = await ana.forget({ everything: true });
    expect(receipt.complete).toBe(true);
    expect(receipt.verified).toContainEqual({ place: "keys of the user", found: 0 });
    await ana.remember("I live in Lisbon.");
    await memory.close();

    // The wrapped key is in no file any more; that of the other user is.
    const wrapped = (keys: string): string[] =>
      readdirSync(keys, { recursive: true, encoding: "utf8" })
        .filter((name) => /[\\/]\d+$/.test(name))
        .map((name) => (JSON.parse(readFileSync(join(keys, name), "utf8")) as { wrapped: string }).wrapped);
    const destroyed = wrapped(keysBefore).filter((key) => !wrapped(`${path}.keys`).includes(key));
    expect([wrapped(keysBefore).length, destroyed.length]).toEqual([2, 1]);
    const forms = destroyed.map((key) => ({ what: "the key", bytes: Buffer.from(key) }));
    expect(found(folder, forms)).toEqual([]);

    const withKeys = await createMemory({ path: copyTo("control", backup, keysBefore), encryption: true });
    expect(await listTexts(withKeys.scope({ user: "ana" }))).toContain(word);
    await withKeys.close();
    const without = await createMemory({ path: copyTo("after", backup, `${path}.keys`), encryption: true });
    expect(await listTexts(without.scope({ user: "ana" }))).not.toContain(word);
    expect(await listTexts(without.scope({ user: "ben" }))).toContain(other);
    await without.close();
    await using now = await createMemory({ path, encryption: true });
    expect(await listTexts(now.scope({ user: "ana" }))).toContain("Lisbon");
  });

  it("is repeated on a restored backup, whose rows of that user nobody can read; others come back", {
    timeout: 120_000,
  }, async () => {
    const [word, other] = [canary(), canary()];
    const memory = await createMemory({ path, encryption: true });
    await plant(memory.scope({ user: "ana" }), word);
    await memory.scope({ user: "ben" }).remember(told(other));
    const backup = join(root, "before.db");
    await memory.backup(backup);
    await memory.scope({ user: "ana" }).forget({ everything: true });
    await memory.close();
    const restored = await restoreMemory({ from: backup, path, replace: true, encryption: true });
    expect(restored.again).toBe(1);
    expect(restored.notices.join()).not.toMatch(/could not be located/);
    await using again = await createMemory({ path, encryption: true });
    expect(await again.check()).toEqual([]);
    expect(await listTexts(again.scope({ user: "ana" }))).not.toContain(word);
    expect((await again.scope({ user: "ana" }).list({ status: "all" })).total).toBe(0);
    expect(await listTexts(again.scope({ user: "ben" }))).toContain(other);
    expect((await again.audit()).broken).toEqual([]);
  });

  it("leaves no key of the user if everything is erased in two steps, and keeps it while something stays", {
    timeout: 120_000,
  }, async () => {
    const memory = await createMemory({ path, encryption: true });
    const ana = memory.scope({ user: "ana" });
    await ana.remember([
      { role: "user", content: told("Quixote"), name: "Ana" },
      { role: "user", content: "I live in Porto.", name: "Ana" },
    ]);
    const first = await ana.forget("Quixote");
    expect(first.complete).toBe(true);
    expect(first.verified.map(({ place }) => place)).not.toContain("keys of the user");
    expect(await listTexts(ana)).toContain("Porto");
    const second = await ana.forget({ everything: true });
    expect(second.verified).toContainEqual({ place: "keys of the user", found: 0 });
    expect(await memory.check()).toEqual([]);
    await memory.close();
  });
});
