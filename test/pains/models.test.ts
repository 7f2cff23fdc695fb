import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { modelExtractor } from "../../src/adapters/model/index.ts";
import { openaiModel } from "../../src/adapters/openai/index.ts";
import { createMemory } from "../../src/memory.ts";
import type { MemoryOptions } from "../../src/memory-options.ts";
import {
  itemsAnswer,
  type OpenaiServer,
  openaiServer,
  type ReplyTo,
  type RichReply,
  turnNumber,
} from "../../src/testing/index.ts";

// Memory systems that ask a model stand and fall with what it answers. A server of OpenAI's protocol, as models of all kinds
// use it, answers here as they have in the threads of README.md.

let server: OpenaiServer;
beforeAll(async () => {
  server = await openaiServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  server.refusesSchemas = false;
  server.reply = knows;
});

const SAID = "The parrot answers to Zed, mostly.";
const LEARNT = "The user's parrot is called Zed.";
/** A model that understands the one sentence. */
const knows: ReplyTo = ({ turns }) => {
  const turn = turnNumber(turns.at(-1)?.text ?? "", SAID);
  const zed = { turn, quote: "parrot answers to Zed", who: "user/parrot", verb: "be called", what: "Zed" };
  return turn === 0 ? itemsAnswer() : itemsAnswer(zed);
};

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});
async function open(options: MemoryOptions = {}) {
  const model: MemoryOptions["model"] = (hooks) => openaiModel({ baseUrl: server.url, tries: 1, ...hooks });
  const memory = await createMemory({ path: ":memory:", model, ...options });
  closing.push(memory.close);
  return { memory, ana: memory.scope({ user: "ana" }) };
}

type Spoils = (text: string) => RichReply;
const WAYS: { readonly [way: string]: Spoils } = {
  "is fenced": (text) => ({ text: `\`\`\`json\n${text}\n\`\`\`` }),
  "begins with words": (text) => ({ text: `Here are the facts I extracted:\n${text}` }),
  "ends with words": (text) => ({ text: `${text}\nIs there anything else I can help with?` }),
  "thinks aloud first": (text) => ({ text: `<think>{"items": [maybe]} hm.</think>${text}` }),
  "has it in reasoning_content alone": (text) => ({ text: "", reasoning: text }),
  "has commas too many": (text) => ({ text: text.replace(/\}\]\}$/, "},],}") }),
  "is cut after the first item": (text) => ({
    text: `${text.slice(0, -2)},{"turn":1,"do":"a`,
    finish: "length",
  }),
};
const HOPELESS: { readonly [way: string]: Spoils } = {
  "is empty": () => ({ text: "" }),
  "is prose": () => ({ text: "The user seems to own a parrot." }),
  "has another form": () => ({ text: '{"facts":["The user has a parrot."]}' }),
  "is the schema": () => ({ text: '{"type":"object","properties":{"items":{"type":"array"}}}' }),
  "only thinks": () => ({ text: "", reasoning: "The user says something about a parrot." }),
};

describe("a model's answer", () => {
  it.each(Object.keys(WAYS))("is understood where it %s", async (way) => {
    server.always = { says: ({ text = "" }) => WAYS[way]?.(text) ?? "" };
    const { ana } = await open();
    await ana.remember(SAID);
    expect(await ana.understand()).toMatchObject({ pending: 0, memories: [{ text: LEARNT }] });
  });

  it.each(Object.keys(HOPELESS))("costs nothing but time where it %s: the message waits", async (way) => {
    server.always = { says: ({ text = "" }) => HOPELESS[way]?.(text) ?? "" };
    const { ana } = await open();
    const { messages } = await ana.remember(SAID);
    expect(await ana.understand()).toMatchObject({ pending: 1, memories: [], problem: expect.any(String) });
    expect((await ana.recall("parrot")).items[0]?.sources[0]?.message).toBe(messages[0]);
    server.always = undefined;
    expect(await ana.understand()).toMatchObject({ pending: 0, memories: [{ text: LEARNT }] });
  });
});

describe("a model's server", () => {
  it("needs no key and no schemas, and is the only one that is asked", async () => {
    server.refusesSchemas = true;
    const { ana } = await open();
    await ana.remember(SAID);
    expect((await ana.understand()).memories).toMatchObject([{ text: LEARNT }]);
    expect(server.received.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it("that refuses a request is not asked again for the same", async () => {
    server.always = { status: 400 };
    const { ana } = await open();
    await ana.remember(SAID);
    await ana.understand();
    expect(server.received).toHaveLength(1);
  });

  it("that is down for long is asked ever more seldom, and told of", async () => {
    server.always = { status: 503 };
    const { ana } = await open();
    for (let i = 0; i < 12; i += 1) {
      await ana.remember(`${SAID} ${i}`);
      await ana.understand();
    }
    expect(server.received).toHaveLength(5);
    expect(await ana.remember(SAID)).toMatchObject({ hindered: "unavailable" });
  });

  it("is asked a bounded number of bounded questions about a message of nearly 1 MB", async () => {
    const { ana } = await open({});
    await ana.remember(`${"I said so. ".repeat(88_000)}${SAID}`);
    await ana.understand();
    expect(server.received.length).toBeGreaterThan(0);
    expect(server.received.length).toBeLessThanOrEqual(6);
    for (const { raw } of server.received) expect(raw.byteLength).toBeLessThan(32_000);
  });

  it("a model is not called after its budget is used up, and no message is lost", async () => {
    const { memory, ana } = await open({ costs: { budgets: { user: { day: { tokens: 0 } } } } });
    expect(await ana.remember(`I use Shram. ${SAID}`)).toMatchObject({
      memories: [{ text: "The user uses Shram." }],
      pending: 1,
      hindered: "over_quota",
    });
    expect((await ana.understand()).problem).toMatch(/budget/);
    expect(server.received).toEqual([]);
    const job = (await memory.jobs()).find(({ name }) => name === "understanding");
    expect(job).toMatchObject({ left: 1 });
  });
});

it("the prompt's own examples, and what nobody said, never become memories", async () => {
  server.reply = ({ turns }) => {
    const [, examples = ""] = /\{"items":.*\}/.exec(turns[0]?.text ?? "") ?? ["", ""];
    return examples === "" ? (/^\{"items":.*\}$/m.exec(turns[0]?.text ?? "")?.[0] ?? "{}") : examples;
  };
  const { ana } = await open();
  await ana.remember(SAID);
  const { memories } = await ana.understand();
  expect(memories.filter(({ action }) => action !== "refused")).toEqual([]);
  expect((await ana.list({ status: "all" })).total).toBe(0);
});

it("a model of one's own is as good as any server", async () => {
  const { ana } = await open({
    extractor: (hooks) => [modelExtractor(openaiModel({ baseUrl: server.url, ...hooks }), { lingerMs: 0 })],
  });
  await ana.remember(SAID);
  await expect.poll(async () => (await ana.list()).items.map(({ text }) => text)).toEqual([LEARNT]);
});
