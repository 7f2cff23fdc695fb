import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import { createMemoryProcessor, type MemoryProcessor, type MemoryProcessorOptions } from "./index.ts";

let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  memory = await createMemory({ path: ":memory:" });
  ana = memory.scope({ user: "ana" });
});
afterEach(() => memory.close());

/** A processor that waits long enough for a busy machine. */
const processorOf = (options: MemoryProcessorOptions = {}, user = ana) =>
  createMemoryProcessor(user, { timeoutMs: 60_000, ...options });

let ids = 0;
const message = (role: string, text: string, thread?: { id: string; threadId: string }) => {
  ids += 1;
  return { id: `random-${ids}`, ...thread, role, content: { parts: [{ type: "text", text }] } };
};
type Message = ReturnType<typeof message>;

/** One request, as an agent makes it: gives what the model is sent in the newest user message. */
async function request(processor: MemoryProcessor, messages: Message[], reply = ""): Promise<string> {
  const state = {};
  expect(await processor.processInput({ messages, state })).toBe(messages);
  const prompt = messages.map(({ role, content }) => ({ role, content: content.parts }));
  const sent = processor.processLLMRequest({ prompt, state })?.prompt ?? prompt;
  // A second step of the same request is sent the same.
  expect(processor.processLLMRequest({ prompt, state })?.prompt ?? prompt).toEqual(sent);
  const replies = [message("assistant", reply)];
  const result = { text: reply };
  expect(await processor.processOutputResult({ messages: replies, state, result })).toBe(replies);
  return JSON.stringify(sent.findLast(({ role }) => role === "user"));
}

const stored = async (session: string) =>
  (await ana.session(session)).items.map(({ role, content }) => `${role}: ${content}`);

describe("createMemoryProcessor", () => {
  it("gives the model in one conversation what the user said in another, and stores both sides", async () => {
    const first = processorOf({ session: "one" });
    expect(await request(first, [message("user", "I live in Porto.")], "Noted.")).not.toContain("keepsake-");
    const messages = [
      message("user", "Hello."),
      message("assistant", "Hi."),
      message("user", "Where do I live?"),
    ];
    const before = structuredClone(messages);
    const sent = await request(processorOf({ session: "two" }), messages);
    expect(sent).toMatch(/<keepsake-[0-9a-f]{16}>.*Porto.*Where do I live\?/);
    expect(messages).toEqual(before);
    expect(await stored("one")).toEqual(["user: I live in Porto.", "assistant: Noted."]);
    expect(await stored("two")).toEqual(["user: Where do I live?"]);
    expect((await ana.list()).items).toHaveLength(1);
  });

  it("takes the thread as the session, and stores a message of a thread once", async () => {
    const said = message("user", "I live in Porto.", { id: "m1", threadId: "thread-1" });
    await request(processorOf(), [said]);
    await request(processorOf(), [message("user", "Hello.", { id: "m0", threadId: "thread-1" }), said]);
    await request(processorOf(), [message("user", "I live in Porto.", { id: "m2", threadId: "thread-1" })]);
    expect(await stored("thread-1")).toEqual([
      "user: I live in Porto.",
      "user: Hello.",
      "user: I live in Porto.",
    ]);
  });

  it("stores a turn once that is sent again without a thread", async () => {
    for (let i = 0; i < 2; i += 1)
      await request(processorOf({ session: "one" }), [message("user", "I live in Porto.")]);
    expect(await stored("one")).toEqual(["user: I live in Porto."]);
  });

  it("carries out a request to forget before the model is called, and stores no reply to it", async () => {
    const processor = processorOf({ session: "one" });
    await request(processor, [message("user", "I use Shram and Magnet as productivity tools.")]);
    const sent = await request(
      processor,
      [message("user", "Forget that I ever mentioned Magnet.")],
      "Magnet is forgotten.",
    );
    expect(sent.replace("I ever mentioned Magnet", "")).not.toContain("Magnet");
    expect((await stored("one")).join()).not.toContain("Magnet");
    const later = await request(processorOf(), [message("user", "Which productivity tools do I use?")]);
    expect(later).toContain("Shram");
    expect(later).not.toContain("Magnet");
  });

  it("stores nothing if it is told so, and no memory that a model repeats", async () => {
    await ana.remember("I live in Porto.");
    const reading = processorOf({ session: "one", stores: false });
    expect(await request(reading, [message("user", "Where do I live?")], "In Porto.")).toContain("Porto");
    await expect(stored("one")).rejects.toMatchObject({ code: "not_found" });
    const echo = "<keepsake-abcdefgh>\nThe user lives in Rome.\n</keepsake-abcdefgh>\nDone.";
    await request(processorOf({ session: "two" }), [message("user", "Hello.")], echo);
    expect(await stored("two")).toEqual(["user: Hello.", "assistant: Done."]);
  });

  it("lets the request go on without memory if the memory fails, and passes on messages without words", async () => {
    const errors: unknown[] = [];
    const fail = () => Promise.reject(new MemoryError("unavailable", "The store is closed."));
    const broken = createMemoryProcessor(
      { context: fail, remember: fail },
      { onError: (error) => errors.push(error) },
    );
    expect(await request(broken, [message("user", "Where do I live?")], "Hello.")).not.toContain("keepsake-");
    expect(errors).toMatchObject([{ code: "unavailable" }, { code: "unavailable" }]);
    await request(processorOf({ session: "one" }), [message("user", " ")]);
    await request(processorOf({ session: "one" }), []);
    await expect(stored("one")).rejects.toMatchObject({ code: "not_found" });
  });
});
