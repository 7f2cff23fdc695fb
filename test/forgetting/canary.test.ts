import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileSecret, openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { apiKeys, httpApp, passingKeys } from "../../src/http/index.ts";
import { createMemory, type ScopedMemory } from "../../src/index.ts";
import { canary, formsOf, found, vectorForms } from "./canaries.ts";

/** What a user runs: made as new as src/ before the tests began. */
const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const NOISE = Array.from({ length: 260 }, (_, i) => ({
  role: "user" as const,
  content: `On day ${i} I walked ${i + 3} miles and read chapter ${i} of a long book.`,
}));

let root = "";
/** Where the database lies, and all that is scanned. */
let folder = "";
let path = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "keepsake-canary-"));
  folder = join(root, "data");
  mkdirSync(folder);
  path = join(folder, "memory.db");
});
afterEach(() => rmSync(root, { recursive: true }));

const told = (word: string): string => `My boat is called ${word}.`;
const sentence = (word: string): string => `The user's boat is called ${word}.`;
const everyForm = async (word: string) => [
  ...formsOf(word),
  ...(await vectorForms(sentence(word))),
  ...(await vectorForms(told(word))),
];

/** Plants a word in every place that a user's words come to. */
async function plant(memory: ScopedMemory, word: string): Promise<void> {
  await memory.remember(NOISE, { extract: "never" });
  await memory.remember(
    [
      {
        role: "user",
        content: `Good morning. ${told(word)} I live in Porto.`,
        metadata: { note: word, app: "x" },
      },
      { role: "assistant", content: `What a name: ${word}! Shall I note that your boat is called ${word}?` },
      { role: "user", content: `Yes. By the way, ${word} leaks.` },
    ],
    { session: "harbour", idempotencyKey: "first" },
  );
  const { memories } = await memory.add({
    text: `The user paid 900 for ${word}.`,
    claim: { subject: "user", relation: "pay for", value: word },
    metadata: { about: word },
  });
  const id = memories[0]?.id ?? "";
  await memory.update(id, { text: `The user paid 950 for ${word}.` });
  const { revision } = await memory.update(id, { text: `The user paid 990 for the boat ${word}.` });
  await memory.undo(revision);
  const slot = await memory.add({ text: "The user rents a slot in the harbour." });
  await memory.link(slot.memories[0]?.id ?? "", id, { type: "depends_on" });
  await memory.remember([{ role: "tool", content: `{"boat": "${word}", "length": 9}` }], {
    session: "harbour",
  });
  await memory.converse(`What is my boat called? Is it ${word}?`, { session: "harbour" });
  await memory.recall(`boat ${word}`, { explain: true, whereText: { $contains: word } });
  await memory.answer(`What do you know about ${word}?`);
}

/** Whether a word is in anything that can be read of a user. */
async function isRead(memory: ScopedMemory, word: string): Promise<boolean> {
  const parts: unknown[] = [
    await memory.recall(word, { limit: 100, minScore: 0 }),
    await memory.recall("What is my boat called?", { limit: 100 }),
    await memory.answer("What is my boat called?"),
    await memory.list({ status: "all", limit: 1000 }),
    await memory.history(undefined, { limit: 1000 }),
    await memory.profile(),
    await memory.remember("x", { idempotencyKey: "none" }),
    await memory.erasures(),
  ];
  for await (const line of memory.export()) parts.push(line);
  return JSON.stringify(parts).toLowerCase().includes(word.toLowerCase());
}

describe("a word that was forgotten", () => {
  it("erased content is in no byte of any file, in no encoding, and in no answer", {
    timeout: 60_000,
  }, async () => {
    const word = canary();
    const memory = await createMemory({ path });
    const ana = memory.scope({ user: "ana" });
    await plant(ana, word);
    await memory.backup(join(root, "elsewhere.db"));
    await memory.close();
    const forms = await everyForm(word);
    const before = found(folder, forms);
    for (const what of ["as it is", "lower case", "its end", "in JSON", "vector, 16 bits"])
      expect(before).toContain(`memory.db: ${what}`);

    const again = await createMemory({ path });
    const receipt = await again.scope({ user: "ana" }).forget(word);
    expect(receipt.complete).toBe(true);
    expect(receipt.erased).toMatchObject({ blocks: 1, answers: expect.any(Number) });
    expect(receipt.erased.answers).toBeGreaterThan(0);
    expect(receipt.erased.links).toBe(1);
    expect(await again.scope({ user: "ana" }).list({ review: true })).toMatchObject({ total: 1 });
    expect(receipt.backups?.map(({ name }) => name)).toEqual(["elsewhere.db"]);
    expect(found(folder, forms, JSON.stringify(receipt))).toEqual([]);
    expect(await isRead(again.scope({ user: "ana" }), word)).toBe(false);
    const texts = (await again.scope({ user: "ana" }).list({ limit: 1000 })).items.map(({ text }) => text);
    expect(texts.join()).toMatch(/Porto/);
    await again.close();
    expect(found(folder, forms)).toEqual([]);
  });

  it("would be seen in the files if nothing scrubbed them, and if SQLite did not overwrite", {
    timeout: 60_000,
  }, async () => {
    const word = canary();
    const record = await openSqliteStore({ path });
    const careless = { ...record, erasures: { ...record.erasures, scrub: async () => [] } };
    const { secret } = fileSecret(`${path}.secret`);
    const memory = await createMemory({ path, record: careless, secret });
    const ana = memory.scope({ user: "ana" });
    await ana.remember(told(word));
    await ana.forget(word);
    expect(found(folder, formsOf(word))).toContain("memory.db-wal: as it is");
    await memory.close();
    await record.close();
    const other = canary();
    const plain = new DatabaseSync(path);
    plain.exec("PRAGMA secure_delete = OFF; CREATE TABLE scraps (text TEXT)");
    plain
      .prepare("INSERT INTO scraps VALUES (?)")
      .run(`${told(other)} ${NOISE.map(({ content }) => content).join(" ")}`);
    plain.exec("DELETE FROM scraps; PRAGMA wal_checkpoint(TRUNCATE)");
    plain.close();
    expect(found(folder, formsOf(other))).toContain("memory.db: as it is");
  });

  it.each(["commit", "check", "seal"])(
    "is gone after the process was killed at the %s, once a memory is opened again",
    { timeout: 60_000 },
    async (when) => {
      const word = canary();
      const first = await createMemory({ path });
      await plant(first.scope({ user: "ana" }), word);
      await first.close();
      const forms = await everyForm(word);
      const child = spawnSync(process.execPath, [join(import.meta.dirname, "child.ts"), path, word, when]);
      expect(child.signal).toBe("SIGKILL");
      if (when !== "seal") expect(found(folder, forms)).not.toEqual([]);
      await using memory = await createMemory({ path });
      expect(memory.notices).toEqual([]);
      expect(found(folder, forms)).toEqual([]);
      expect(await isRead(memory.scope({ user: "ana" }), word)).toBe(false);
      const { receipts, broken } = await memory.audit();
      expect(receipts).toHaveLength(1);
      expect(broken.map(({ problem }) => problem)).toEqual(["it was not verified to the end"]);
      expect(readFileSync(`${path}.erasures`, "utf8")).toContain(receipts[0]?.id);
    },
  );

  it("that a reader in another process keeps in the log is told, and gone at the next start", {
    timeout: 60_000,
  }, async () => {
    const word = canary();
    const memory = await createMemory({ path });
    await memory.scope({ user: "ana" }).remember(told(word));
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM messages").get();
    const receipt = await memory.scope({ user: "ana" }).forget(word);
    expect(receipt.complete).toBe(false);
    expect(receipt.verified.filter(({ found: left }) => left > 0).map(({ place }) => place)).toEqual([
      "files",
    ]);
    // While the reader is there, a start cannot end it either.
    const second = await createMemory({ path });
    expect((await second.audit()).broken).toHaveLength(1);
    await second.close();
    reader.close();
    await memory.close();
    await using again = await createMemory({ path });
    expect(found(folder, await everyForm(word))).toEqual([]);
    const { receipts, broken } = await again.audit();
    expect(broken).toEqual([]);
    expect(receipts[0]).toMatchObject({ id: receipt.id, complete: true });
  });

  it("is gone from the files of the command line, which prints it to nobody afterwards", {
    timeout: 60_000,
  }, async () => {
    const word = canary();
    const run = (...words: string[]): string => {
      const ran = spawnSync(process.execPath, [MAIN, ...words, "--db", path, "--user", "ana"], {
        encoding: "utf8",
        env: { PATH: process.env.PATH, DEBUG: "*", NODE_DEBUG: "" },
      });
      return ran.stdout + ran.stderr;
    };
    run("remember", told(word), "--session", "s");
    run("remember", `Your boat ${word} leaks.`, "--role", "assistant", "--session", "s");
    run("recall", word, "--explain");
    const forms = await everyForm(word);
    expect(found(folder, forms)).toContain("memory.db: as it is");
    const erased = run("forget", word, "--yes");
    expect(erased).toMatch(/^Erased: /);
    const after = [run("list"), run("history"), run("answer", "What is my boat called?"), run("profile")];
    after.push(run("export"), run("audit", "--json"), run("doctor"));
    expect(found(folder, forms, erased + after.join("\n"))).toEqual([]);
    expect(run("backup", join(folder, "copy.db"))).toMatch(/; verified\./);
    expect(found(folder, forms)).toEqual([]);
  });

  it("is gone from the files of a server, which never prints it", { timeout: 60_000 }, async () => {
    const word = canary();
    const server = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--json", "--db", path], {
      env: { PATH: process.env.PATH, DEBUG: "*", KEEPSAKE_API_KEY: "canary-test-key-canary-test" },
    });
    let printed = "";
    const address = new Promise<string>((resolve) => {
      for (const stream of [server.stdout, server.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          printed += text;
          const url = /"url":"([^"]+)"/.exec(printed)?.[1];
          if (url) resolve(url);
        });
      }
    });
    const url = await address;
    const call = async (where: string, body: object, method = "POST"): Promise<string> => {
      const headers = {
        authorization: "Bearer canary-test-key-canary-test",
        "content-type": "application/json",
      };
      const asked = {
        method,
        headers: { ...headers, "idempotency-key": `${where} ${JSON.stringify(body).length}` },
      };
      const init = method === "GET" ? asked : { ...asked, body: JSON.stringify(body) };
      return (await fetch(`${url}${where}`, init)).text();
    };
    const user_id = "ana";
    await call("/api/v1/conversation", { user_id, message: told(word), session_id: "s" });
    await call("/message", { userId: user_id, message: `What do you know about ${word}?` });
    const messages = [{ role: "assistant", content: `Your boat ${word} is at sea.` }];
    await call("/api/v1/messages", { user_id, messages });
    await call("/api/v1/memories", { user_id, content: `The user likes ${word}.`, type: "preference" });
    await call(`/api/v1/memories/${user_id}/search`, { query: word });
    // What is refused is not told either.
    await call("/api/v1/memories", { user_id, content: word, type: word });
    const forms = await everyForm(word);
    expect(found(folder, forms).join()).toContain("as it is");
    const { reply } = JSON.parse(await call("/forget", { userId: user_id, message: word })) as {
      reply: string;
    };
    expect(reply).toMatch(/^Forgotten: /);
    const after = [
      await call(`/api/v1/memories/${user_id}`, {}, "GET"),
      await call(`/api/v1/erasures?user_id=${user_id}`, {}, "GET"),
      await call(`/api/v1/memories/${user_id}/search`, { query: "What is my boat called?" }),
      reply,
    ];
    expect(found(folder, forms, printed + after.join("\n"))).toEqual([]);
    const ended = new Promise((resolve) => server.once("close", resolve));
    server.kill("SIGTERM");
    await ended;
    expect(found(folder, forms, printed)).toEqual([]);
    expect(statSync(`${path}.erasures`).mode & 0o777).toBe(0o600);
  });

  it("is gone from the answers that a server keeps under idempotency keys, of its user alone", {
    timeout: 60_000,
  }, async () => {
    const [word, other] = [canary(), canary()];
    const memory = await createMemory({ path });
    const keys = apiKeys({ store: passingKeys(), clock: () => new Date() });
    const app = httpApp({ keepsake: memory, keys });
    const send = async (user_id: string, content: string): Promise<Response> =>
      app.request("/api/v1/memories", {
        method: "POST",
        headers: {
          authorization: `Bearer ${keys.first}`,
          "content-type": "application/json",
          "idempotency-key": "the-same",
        },
        body: JSON.stringify({ user_id, content }),
      });
    const ana = await (await send("ana", told(word))).text();
    const eva = await (await send("eva", told(other))).text();
    expect(ana).toContain(word);
    const kept = new DatabaseSync(path, { readOnly: true });
    const bodies = () => JSON.stringify(kept.prepare("SELECT body FROM answers").all());
    expect(bodies()).toContain(word);

    const receipt = await memory.scope({ user: "ana" }).forget(word);
    expect([receipt.complete, receipt.erased.answers]).toEqual([true, 1]);
    expect(bodies()).not.toContain(word);
    expect(bodies()).toContain(other);
    kept.close();
    const again = await send("ana", told(word));
    expect([again.status, (await again.text()).includes(word)]).toEqual([410, false]);
    expect(await (await send("eva", told(other))).text()).toBe(eva);
    expect((await memory.scope({ user: "ana" }).list({ status: "all" })).total).toBe(0);
    await memory.close();
    expect(found(folder, formsOf(word))).toEqual([]);
    expect(found(folder, formsOf(other)).length).toBeGreaterThan(0);
  });
});
