import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openaiModel } from "../../adapters/openai/index.ts";
import { createMemory } from "../../memory.ts";
import { type OpenaiServer, openaiServer, type Received, SPOILT, type Trouble } from "../../testing/index.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let server: OpenaiServer;
let memory: Keepsake;
let ana: ScopedMemory;

beforeAll(async () => {
  server = await openaiServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  server.reset();
  memory = await opened();
  ana = memory.scope({ user: "ana" });
  await ana.remember("I use Shram and Magnet as productivity tools. I live in Utrecht.");
});
afterEach(() => memory.close());

const opened = (patience = { first: 10_000, whole: 10_000 }): Promise<Keepsake> =>
  createMemory({
    path: ":memory:",
    patience,
    clock: () => new Date("2026-03-11T10:00:00Z"),
    model: openaiModel({ baseUrl: server.url, tries: 1 }),
  });

const sentTo = (request: Received | undefined): string => request?.turns.at(-1)?.text ?? "";
/** The number under which a note was sent that holds some words. */
function numberOf(request: Received, words: string): number {
  const line = sentTo(request)
    .split("\n")
    .find((one) => one.startsWith("{") && one.includes(words));
  return Number(/"n":(\d+)/.exec(line ?? "")?.[1] ?? Number.NaN);
}
const QUESTION = "What productivity tools do I use?";
const right = (request: Received): string =>
  `Two of them [${numberOf(request, "Shram")}]. They are Shram and Magnet [${numberOf(request, "Magnet")}].`;

describe("an answer in the model's words", () => {
  it("is based on numbered notes, has no marks, and names its source memories", async () => {
    server.reply = right;
    const answer = await ana.answer(QUESTION);
    expect(answer).toMatchObject({
      text: "Two of them. They are Shram and Magnet.",
      by: "model",
      model: "gpt-4o-mini-2024-07-18",
      abstained: false,
      usage: { tokensOut: expect.any(Number) },
    });
    const texts = await Promise.all(answer.used.map(async (id) => (await ana.get(id)).text));
    expect(texts).toEqual([
      "The user uses Shram as a productivity tool.",
      "The user uses Magnet as a productivity tool.",
    ]);
    expect((await ana.explain(answer.recall.id)).used).toEqual(answer.used);
  });

  it("sends rules first, then the prompt block with notes and the question, and no id", async () => {
    server.reply = right;
    const answer = await ana.answer(QUESTION);
    const [request] = server.received;
    expect(request?.turns.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(sentTo(request)).toMatch(
      /^<keepsake-[a-z0-9]+>\n[\s\S]*<\/keepsake-[a-z0-9]+>\nToday is Wednesday, 11 March 2026\./,
    );
    expect(sentTo(request)).toContain(`The question: ${QUESTION}`);
    for (const { id, sources } of answer.recall.items) {
      expect(request?.raw.toString()).not.toContain(id);
      for (const { message } of sources) expect(request?.raw.toString()).not.toContain(message);
    }
  });

  it("arrives sentence by sentence", async () => {
    server.reply = right;
    const parts: string[] = [];
    for await (const part of ana.answerStream(QUESTION)) parts.push(part);
    expect(parts).toEqual(["Two of them.", " They are Shram and Magnet."]);
  });

  it("shows no sentence without a citation, or with an unknown note", async () => {
    server.reply = (request) =>
      `You use Shram [${numberOf(request, "Shram")}]. You are very productive. You also use Notion [99].`;
    expect(await ana.answer(QUESTION)).toMatchObject({
      text: "You use Shram.",
      by: "model",
      used: [expect.any(String)],
    });
  });

  it("says that it is unknown when the model finds nothing in the notes", async () => {
    server.reply = () => "UNKNOWN";
    const answer = await ana.answer("Which tool do I use to water the plants?");
    expect(answer).toMatchObject({
      text: "I don't know that.",
      by: "model",
      abstained: true,
      used: [],
    });
  });

  it("ends with its last complete sentence when it was cut off", async () => {
    server.reply = (request) => ({
      text: `You use Shram [${numberOf(request, "Shram")}]. You also use Mag`,
      finish: "length",
    });
    expect(await ana.answer(QUESTION)).toMatchObject({ text: "You use Shram.", by: "model", trouble: "cut" });
  });

  it("ends where the stream was interrupted, if some of it was shown", async () => {
    server.reply = (request) => `You use Shram [${numberOf(request, "Shram")}]. You also use Magnet.`;
    server.troubles.push({ afterEvents: 7, it: "resets" });
    expect(await ana.answer(QUESTION)).toMatchObject({
      text: "You use Shram.",
      by: "model",
      trouble: expect.any(String),
    });
  });

  it("uses only what was known on a given day", async () => {
    server.reply = right;
    await ana.answer(QUESTION, { asOf: "2026-03-12" });
    expect(sentTo(server.received[0])).toContain("Answer as things stood on 2026-03-12.");
  });
});

describe("no model is called", () => {
  it("when nothing is known", async () => {
    const bob = memory.scope({ user: "bob" });
    expect(await bob.answer("What is my sister called?")).toMatchObject({ abstained: true, by: "memory" });
    expect(server.received).toEqual([]);
  });

  it("when the answer is exact: a list of everything known, and the reason for an answer", async () => {
    expect(await ana.answer("What do you know about me?")).toMatchObject({ by: "memory", abstained: false });
    expect(await ana.answer("How do you know that?")).toMatchObject({ by: "memory" });
    expect(server.received).toEqual([]);
  });
});

describe("without a valid model answer, memory answers itself and says why", () => {
  it.each([
    ["is down", { status: 503 }, "unavailable"],
    ["has a fault", { status: 500 }, "unavailable"],
    ["has too much to do", { status: 429, headers: { "retry-after": "60" } }, "unavailable"],
    ["wants another key", { status: 401 }, expect.any(String)],
    ["hangs up", "hangs up", "unavailable"],
    ["gives garbage", { answer: "<html>Bad gateway" }, expect.any(String)],
    ["breaks off", { afterEvents: 2, it: "resets" }, expect.any(String)],
    ["refuses", SPOILT.refused, "refused"],
    ["says nothing", SPOILT.empty, "empty"],
    ["only thinks", SPOILT["only thought"], "empty"],
    ["names no notes", { says: () => "You use Notion and Slack." }, "ungrounded"],
  ] satisfies [string, Trouble, unknown][])("when the model's server %s", async (_what, trouble, why) => {
    server.reply = right;
    server.always = trouble;
    expect(await ana.answer(QUESTION)).toMatchObject({
      text: "You use Shram and Magnet.",
      by: "memory",
      abstained: false,
      trouble: why,
    });
  });

  it.each([
    ["is slow", { afterMs: 500 }],
    ["never answers", "hangs"],
    ["stops in the middle", { afterEvents: 2, it: "hangs" }],
  ] satisfies [string, Trouble][])("when the model's server %s", async (_what, trouble) => {
    const hasty = await opened({ first: 100, whole: 100 });
    const bea = hasty.scope({ user: "bea" });
    await bea.remember("I live in Utrecht.");
    server.always = trouble;
    expect(await bea.answer("Where do I live?")).toMatchObject({
      text: "You live in Utrecht.",
      by: "memory",
      trouble: "slow",
    });
    await hasty.close();
  });

  it("when the budget is used up, and nothing is sent", async () => {
    const spent = await createMemory({
      path: ":memory:",
      model: openaiModel({
        baseUrl: server.url,
        mayCall: async () => {
          throw Object.assign(new Error("spent"), {
            [Symbol.for("keepsake.MemoryError")]: true,
            code: "over_quota",
          });
        },
      }),
    });
    const cleo = spent.scope({ user: "cleo" });
    await cleo.remember("I live in Utrecht.");
    expect(await cleo.answer("Where do I live?")).toMatchObject({ by: "memory", trouble: "over_quota" });
    expect(server.received).toEqual([]);
    await spent.close();
  });

  it("gives no answer to an aborted question", async () => {
    // The first answer of a process reads the tables for English.
    await ana.answer("What's my shoe size?");
    server.received.length = 0;
    server.always = "hangs";
    const leaving = new AbortController();
    const answering = ana.answer(QUESTION, { signal: leaving.signal });
    await expect.poll(() => server.received.length).toBe(1);
    leaving.abort();
    await expect(answering).rejects.toThrow();
    await expect.poll(() => server.received[0]?.isGone).toBe(true);
  });

  it("stops the model when the consumer stops reading", async () => {
    server.reply = right;
    server.always = { betweenMs: 20 };
    for await (const _part of ana.answerStream(QUESTION)) break;
    await expect.poll(() => server.received[0]?.isGone).toBe(true);
  });
});
