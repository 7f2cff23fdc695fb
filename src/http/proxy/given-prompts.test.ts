import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { createMemory } from "../../memory.ts";
import { type OpenaiServer, openaiServer } from "../../testing/openai/openai-server.ts";
import { httpApp } from "../app.ts";
import { createLifecycle, type Lifecycle } from "../graceful-shutdown.ts";
import { type ApiKeys, apiKeys, passingKeys } from "../keys/api-keys.ts";
import { createPromptLog, withPromptLog } from "./memory/given-prompts.ts";

const ANA = { project: "default", user: "ana" };
const DAY_MS = 86_400_000;
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let now: number;
const clock = () => new Date(now);
let keepsake: Keepsake;
let ana: ScopedMemory;
beforeEach(async () => {
  now = Date.parse("2026-03-01T12:00:00Z");
  keepsake = await createMemory({ path: ":memory:", clock });
  ana = keepsake.scope(ANA);
  await ana.remember("I use Quillon for work.");
});
afterEach(() => keepsake.close());

describe("a server", () => {
  let upstream: OpenaiServer;
  let life: Lifecycle;
  let keys: ApiKeys;
  let app: ReturnType<typeof httpApp>;
  beforeEach(async () => {
    upstream = await openaiServer({ apiKey: "sk-upstream" });
    life = createLifecycle();
    keys = apiKeys({ store: passingKeys(), clock });
    const proxy = { upstream: { baseUrl: upstream.url, apiKey: "sk-upstream" }, clock, retrievalMs: 5000 };
    app = httpApp({ keepsake, keys, lifecycle: life, proxy });
  });
  afterEach(() => upstream.close());

  const call = async (path: string, body?: object, more: Record<string, string> = {}): Promise<Json> => {
    const headers = { authorization: `Bearer ${keys.first}`, "content-type": "application/json", ...more };
    const sent = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const text = await (await app.request(path, sent)).text();
    await life.waitUntilIdle(5000);
    return JSON.parse(text);
  };
  const chat = (content: string, more?: Record<string, string>): Promise<Json> =>
    call("/v1/chat/completions", { model: "m", user: "ana", messages: [{ role: "user", content }] }, more);
  const prompts = async (query = ""): Promise<Json[]> => (await call(`/api/v1/prompts/ana${query}`)).items;

  it("keeps for each turn of a chat exactly what was added to the request, under the stored message", async () => {
    await chat("What do I use for work?", { "x-keepsake-session": "talk" });
    const [prompt] = await prompts("?session_id=talk");
    expect(prompt).toMatchObject({ door: "proxy", session_id: "talk", request: "What do I use for work?" });
    const sent = JSON.stringify(upstream.received.at(-1)?.body);
    for (const block of prompt.text.split("\n\n")) expect(sent).toContain(JSON.stringify(block).slice(1, -1));
    expect(prompt.text).toContain("Quillon");
    expect(prompt.tokens).toBeGreaterThan(10);
    const { items } = await ana.session("talk");
    expect(items.find(({ role }) => role === "user")?.id).toBe(prompt.message_id);
    expect((await call(`/api/v1/memories/ana/recalls/${prompt.recall_id}`)).id).toBe(prompt.recall_id);
    expect(await prompts("?session_id=other")).toEqual([]);
  });

  it("keeps contexts, and nothing of a turn with the mode read", async () => {
    await call("/api/v1/context", { user_id: "ana", request: "What do I use for work?" });
    await chat("And what do I use for work?", { "x-keepsake-memory": "read" });
    expect(await prompts()).toMatchObject([{ door: "context", request: "What do I use for work?" }]);
  });

  const talk = (messages: readonly object[]): Promise<Json> =>
    call("/v1/chat/completions", { model: "m", user: "ana", messages }, { "x-keepsake-session": "talk" });
  const user = (content: string) => ({ role: "user", content });
  const assistant = (content: string) => ({ role: "assistant", content });

  it.each([
    ["Forget that I ever mentioned Quillon.", "Quillon"],
    ["Don't store this: my card is 5500 0000 0000 0004.", "5500"],
  ])("keeps no word of a turn that erased something, also if it is sent again: %s", async (words, erased) => {
    const turns = [user("I live in Porto."), assistant("Fine."), user(words)];
    const hasErased = async () => JSON.stringify(await prompts()).includes(erased);
    await talk(turns);
    expect(await hasErased()).toBe(false);
    await talk(turns);
    expect(await hasErased()).toBe(false);
    await talk([...turns, user("Where do I live?")]);
    expect(await hasErased()).toBe(false);
    await talk([...turns, assistant("Done."), user("Where do I live?")]);
    expect(await prompts()).toMatchObject([{ request: "Where do I live?" }]);
    expect(await hasErased()).toBe(false);
  });

  it("keeps a turn with a request to forget of which nothing was found", async () => {
    await chat("How do I remove a stain?");
    expect(await prompts()).toMatchObject([{ request: "How do I remove a stain?" }]);
  });

  it("drops a request to forget that waited once a yes carries it out", async () => {
    await ana.remember("My gym locker number is 4471.");
    const asked = user("could you lose the sports stuff I gave you");
    await talk([asked]);
    expect(JSON.stringify(await prompts())).toMatch(/Nothing of this is erased yet.*4471/);
    await talk([asked, assistant("Shall I?"), user("yes, forget it")]);
    expect(await prompts()).toEqual([]);
  });

  it("has no word of a kept text left once something was erased", async () => {
    await chat("What do I use for work?");
    expect(JSON.stringify(await prompts())).toContain("Quillon");
    await ana.forget("Quillon");
    expect(await prompts()).toEqual([]);
  });
});

describe("a log of prompts", () => {
  const ask = async (log: ReturnType<typeof createPromptLog>, scope = ANA, memory = ana): Promise<void> => {
    await withPromptLog(memory, { log, scope, door: "context" }).context("What do I use for work?");
  };

  it("gives nothing from before an erasure that it was not told of, as by another process", async () => {
    const log = createPromptLog({ clock });
    await ask(log);
    expect((await log.list(ANA, ana)).length).toBe(1);
    for (let i = 0; i < 5; i += 1) await ana.add({ text: `The user owns boat ${i}.` });
    expect((await log.list(ANA, ana)).length).toBe(1);
    await ana.forget("Quillon");
    await ana.add({ text: "The user owns a bicycle." });
    expect(await log.list(ANA, ana)).toEqual([]);
    await ask(log);
    expect((await log.list(ANA, ana))[0]?.text).toContain("bicycle");
  });

  it("keeps nothing that was read before an erasure and given after it", async () => {
    const log = createPromptLog({ clock });
    const keep = log.begin(ANA);
    log.forget();
    keep({ door: "context", request: "?", text: "Quillon", revision: 1 });
    expect(await log.list(ANA, ana)).toEqual([]);
  });

  it("drops what has expired with the job that ends it", async () => {
    const expiresAt = new Date(now + 60_000);
    await ana.add({ text: "The user's door code is on a yellow note.", expiresAt });
    const log = createPromptLog({ clock });
    await ask(log);
    now += 120_000;
    await ana.optimize();
    expect(await log.list(ANA, ana)).toEqual([]);
  });

  it("keeps so many of a user, for a day, and none where the number is 0", async () => {
    const log = createPromptLog({ clock, most: 2 });
    for (let i = 0; i < 3; i += 1) await ask(log);
    expect((await log.list(ANA, ana)).length).toBe(2);
    now += DAY_MS;
    expect(await log.list(ANA, ana)).toEqual([]);
    const none = createPromptLog({ clock, most: 0 });
    await ask(none);
    expect(await none.list(ANA, ana)).toEqual([]);
  });

  it("drops a prompt in time also if nobody asks", async () => {
    const log = createPromptLog({ clock, keptMs: 20 });
    await ask(log);
    const before = now;
    now += 30;
    await new Promise((resolve) => setTimeout(resolve, 200));
    // If it were still there, it would be given at this time.
    now = before;
    expect(await log.list(ANA, ana)).toEqual([]);
  });

  it("keeps users and agents apart, and nothing that others share", async () => {
    const log = createPromptLog({ clock });
    const bob = { project: "default", user: "bob" };
    await ana.share({ user: "bob", everything: true });
    await ask(log, bob, keepsake.scope(bob));
    expect(await log.list(bob, keepsake.scope(bob))).toEqual([]);
    const agent = { ...ANA, agent: "coder" };
    await ask(log);
    expect(await log.list(agent, keepsake.scope(agent))).toEqual([]);
    expect((await log.list(ANA, ana)).length).toBe(1);
    log.forget("another");
    expect((await log.list(ANA, ana)).length).toBe(1);
  });
});
