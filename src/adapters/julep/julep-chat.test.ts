import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stripPromptBlocks } from "../../domain/text/prompt-safety.ts";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import { createJulepChat, type JulepChatOptions, type JulepMemory } from "./index.ts";

/** The shapes of Julep's client. `test/clients/julep-chat.ts` runs the adapter with the client itself. */
interface Message {
  readonly role: string;
  readonly content: string | readonly (string | { readonly type: string; readonly text: string })[] | null;
}

interface Params {
  readonly messages: readonly Message[];
  readonly save?: boolean;
  readonly stream?: boolean;
  readonly temperature?: number;
}

let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  memory = await createMemory({ path: ":memory:" });
  ana = memory.scope({ user: "ana" });
});
afterEach(() => memory.close());

const toUser = (content: Message["content"]): Message => ({ role: "user", content });
/** The words of each message, without what was put from the memory. */
const readSent = (params: Params | undefined): string[] =>
  (params?.messages ?? []).map(
    ({ role, content }) => `${role}: ${stripPromptBlocks(String(content)).trim()}`,
  );
const stored = async (session: string): Promise<string[]> =>
  (await ana.session(session)).items.map(({ role, content }) => `${role}: ${content}`);

/** A chat whose calls are kept. An error stands for a call that Julep fails. */
function chatOf(options: JulepChatOptions = {}, user: JulepMemory = ana) {
  const sent: Params[] = [];
  const replies: (Error | { readonly choices: readonly object[] })[] = [];
  const sessions = {
    async chat(_id: string, params: Params) {
      sent.push(params);
      const reply = replies.shift() ?? { choices: [{ message: { role: "assistant", content: "Noted." } }] };
      if (reply instanceof Error) throw reply;
      return reply;
    },
  };
  // Long enough for a busy machine.
  const chat = createJulepChat(user, sessions, { timeoutMs: 60_000, ...options });
  return { sent, replies, chat, say: (text: string, id = "one") => chat(id, { messages: [toUser(text)] }) };
}

describe("createJulepChat", () => {
  it("gives the model in one session what the user said in another, and stores both sides", async () => {
    const { say, sent } = chatOf();
    await say("I live in Porto.");
    await say("Where do I live?", "two");
    expect(sent[0]?.messages).toEqual([toUser("I live in Porto.")]);
    const [question, ...more] = sent[1]?.messages ?? [];
    expect(more).toEqual([]);
    expect(question?.content).toMatch(/^<keepsake-[0-9a-f]{16}>[\s\S]*Porto[\s\S]*\n\nWhere do I live\?$/);
    expect(await stored("one")).toEqual(["user: I live in Porto.", "assistant: Noted."]);
    expect(await stored("two")).toEqual(["user: Where do I live?", "assistant: Noted."]);
    expect((await ana.list()).items).toHaveLength(1);
  });

  it("sends the newest earlier messages of the session, and lets Julep save none", async () => {
    const { say, sent, chat } = chatOf({ maxMessages: 3 });
    for (const text of ["Hello.", "Well.", "Fine."]) await say(text);
    await chat("one", { messages: [toUser("Good.")], temperature: 0 });
    expect(readSent(sent[3])).toEqual([
      "assistant: Noted.",
      "user: Fine.",
      "assistant: Noted.",
      "user: Good.",
    ]);
    expect(sent[3]).toMatchObject({ temperature: 0 });
    expect(sent.every(({ save }) => save === false)).toBe(true);
    const alone = chatOf({ maxMessages: 0 });
    await alone.say("Fine.");
    expect(readSent(alone.sent[0])).toEqual(["user: Fine."]);
  });

  it("carries out a request to forget before the model is called, and sends and stores none of it again", async () => {
    const { say, sent, replies } = chatOf();
    await say("I use Shram and Magnet as productivity tools.");
    replies.push({ choices: [{ message: { role: "assistant", content: "Magnet is forgotten." } }] });
    await say("Forget that I ever mentioned Magnet.");
    expect(JSON.stringify(sent[1]).split("Magnet")).toHaveLength(2);
    expect((await stored("one")).join()).not.toMatch(/Magnet|is forgotten/);
    await say("Which productivity tools do I use?");
    expect(JSON.stringify(sent[2])).toContain("Shram");
    expect(JSON.stringify(sent[2])).not.toContain("Magnet");
    await ana.forget("Shram");
    await say("Which productivity tools do I use?");
    expect(JSON.stringify(sent[3])).not.toContain("Shram");
  });

  it("stores a turn once that is sent again after a failure, and with the results of tools", async () => {
    const { say, sent, replies, chat } = chatOf();
    replies.push(new Error("502"));
    await expect(say("I live in Porto.")).rejects.toThrow("502");
    await say("I live in Porto.");
    expect(readSent(sent[1])).toEqual(["user: I live in Porto."]);
    const call = { role: "assistant", content: null, tool_calls: [{ id: "c1" }] };
    replies.push({ choices: [{ message: call }] });
    await say("What is the weather today?");
    await chat("one", {
      messages: [toUser("What is the weather today?"), call, { role: "tool", content: "sunny" }],
    });
    const roles = ["user", "assistant", "user", "assistant", "tool"];
    expect(sent[3]?.messages.map(({ role }) => role)).toEqual(roles);
    expect(await stored("one")).toEqual([
      "user: I live in Porto.",
      "assistant: Noted.",
      "user: What is the weather today?",
      "assistant: Noted.",
    ]);
  });

  it("carries out a request to forget once that is sent again after a failure, and stores no reply to it", async () => {
    const { say, replies } = chatOf();
    await say("I use Shram and Magnet as productivity tools.");
    replies.push(new Error("502"), {
      choices: [{ message: { role: "assistant", content: "Magnet is forgotten." } }],
    });
    await expect(say("Forget that I ever mentioned Magnet.")).rejects.toThrow("502");
    await say("Forget that I ever mentioned Magnet.");
    expect((await stored("one")).join()).not.toMatch(/Magnet|is forgotten/);
    expect(await ana.erasures()).toHaveLength(1);
  });

  it("stores the same words twice that are said twice", async () => {
    const { say } = chatOf();
    await say("Yes.");
    await say("Yes.");
    expect(await stored("one")).toEqual([
      "user: Yes.",
      "assistant: Noted.",
      "user: Yes.",
      "assistant: Noted.",
    ]);
  });

  it("takes texts as lists and replies of several messages", async () => {
    const { sent, replies, chat } = chatOf();
    await ana.remember("I live in Porto.");
    const messages = ["Done.", ["All ", "right."]].map((content) => ({ role: "assistant", content }));
    replies.push({ choices: [{ messages }] });
    await chat("one", { messages: [toUser(["Where do I live?"])] });
    const [block, question] = sent[0]?.messages[0]?.content ?? [];
    expect(block).toMatchObject({ type: "text", text: expect.stringContaining("Porto") });
    expect(question).toEqual({ type: "text", text: "Where do I live?" });
    expect(await stored("one")).toEqual(["user: Where do I live?", "assistant: Done.\nAll \nright."]);
  });

  it("sends nothing from the memory that Julep would run as a template", async () => {
    const { say, sent } = chatOf();
    await say("I live in {{ user.id }} {% raw %} {# Porto #} with {{{a}}}.");
    await say("Where do I live?");
    await say("Where do I live?", "two");
    for (const { messages } of sent.slice(1)) {
      expect(JSON.stringify(messages)).toContain("user.id");
      expect(JSON.stringify(messages)).not.toMatch(/\{[{%#]/);
    }
  });

  it("stores nothing if it is told so", async () => {
    await ana.remember("I live in Porto.");
    const { say, sent } = chatOf({ stores: false });
    await say("Where do I live?");
    expect(JSON.stringify(sent)).toContain("Porto");
    await expect(stored("one")).rejects.toMatchObject({ code: "not_found" });
  });

  it("refuses what would keep a copy at Julep, and streams", async () => {
    const { sent, chat } = chatOf();
    const messages = [toUser("I live in Porto.")];
    await expect(chat("one", { messages, save: true })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(chat("one", { messages, stream: true })).rejects.toMatchObject({ code: "unsupported" });
    expect(sent).toEqual([]);
    await expect(stored("one")).rejects.toMatchObject({ code: "not_found" });
  });

  it("lets the chat go on without memory if the memory fails", async () => {
    const errors: unknown[] = [];
    const fail = () => Promise.reject(new MemoryError("unavailable", "The store is closed."));
    const { say, sent } = chatOf(
      { onError: (error) => errors.push(error) },
      { context: fail, remember: fail, session: fail },
    );
    expect(await say("Where do I live?")).toMatchObject({ choices: [{ message: { content: "Noted." } }] });
    expect(sent[0]?.messages).toEqual([toUser("Where do I live?")]);
    expect(errors).toMatchObject([{ code: "unavailable" }, { code: "unavailable" }]);
  });
});
