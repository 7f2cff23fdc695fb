import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { createMemory } from "../../memory.ts";
import { createAgentSession } from "./index.ts";

let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  memory = await createMemory({ path: ":memory:" });
  ana = memory.scope({ user: "ana" });
});
afterEach(() => memory.close());

const user = (text: string) => ({ type: "message", role: "user", content: text });
const model = (text: string) => ({
  type: "message",
  role: "assistant",
  id: "msg_1",
  status: "completed",
  content: [{ type: "output_text", text, providerData: { annotations: [] } }],
});
const CALL = {
  type: "function_call",
  callId: "c1",
  name: "weather",
  arguments: '{"city":"Porto"}',
  status: "completed",
};
const RESULT = {
  type: "function_call_result",
  callId: "c1",
  name: "weather",
  output: { type: "text", text: "sunny" },
};

describe("createAgentSession", () => {
  it("gives items as they were added, in their order, with pictures, tools and reasoning", async () => {
    const session = createAgentSession(ana, { session: "chat" });
    const picture = { type: "input_image", image: "https://example.com/cat.png", detail: "auto" };
    const items = [
      { type: "message", role: "system", content: "Be brief." },
      {
        ...user(""),
        content: [{ type: "input_text", text: "Look" }, picture, { type: "input_text", text: "here." }],
      },
      { type: "reasoning", id: "r1", content: [{ type: "input_text", text: "A cat." }], rawContent: [] },
      CALL,
      RESULT,
      model("A cat."),
      user(""),
    ];
    await session.addItems(items.slice(0, 3));
    await session.addItems(items.slice(3));
    await session.addItems([]);
    expect(await session.getItems()).toEqual(items);
    expect(await session.getItems(2)).toEqual(items.slice(-2));
    expect(await session.getItems(100)).toEqual(items);
    expect(await session.getItems(0)).toEqual([]);
    expect(await createAgentSession(ana, { session: "chat" }).getItems()).toEqual(items);
    expect(await session.getSessionId()).toBe("chat");
  });

  it("is empty before the first item, and has a name of its own without one", async () => {
    const [one, other] = [createAgentSession(ana), createAgentSession(ana)];
    expect([await one.getItems(), await one.popItem()]).toEqual([[], undefined]);
    await one.clearSession();
    await one.addItems([user("Hello.")]);
    expect(await other.getItems()).toEqual([]);
    expect(await one.getSessionId()).not.toBe(await other.getSessionId());
  });

  it("makes memories of what the user says, and not of what the model or a tool says", async () => {
    const session = createAgentSession(ana);
    await session.addItems([user("I live in Porto."), model("You live in Rome."), CALL, RESULT]);
    expect((await ana.list()).items.map(({ text }) => text)).toEqual(["The user lives in Porto."]);
    expect(
      await createAgentSession(memory.scope({ user: "ben" }), {
        session: await session.getSessionId(),
      }).getItems(),
    ).toEqual([]);
  });

  it("gives nothing of what was forgotten, in the texts, the calls of tools and their results", async () => {
    const session = createAgentSession(ana);
    const call = { ...CALL, arguments: '{"tool":"Magnet"}' };
    const result = { ...RESULT, output: { type: "text", text: "Magnet is a window manager." } };
    await session.addItems([
      user("I use Shram and Magnet as productivity tools."),
      call,
      result,
      model("Magnet is good."),
    ]);
    await ana.forget("Magnet");
    const items = await session.getItems();
    expect(JSON.stringify(items)).not.toContain("Magnet");
    expect(JSON.stringify(items[0])).toContain("Shram");
  });

  it("erases the newest item that is popped, with what was learnt from it", async () => {
    const session = createAgentSession(ana);
    await session.addItems([user("I live in Porto."), user("My cat is called Quixote.")]);
    expect(await session.popItem()).toEqual(user("My cat is called Quixote."));
    expect(await session.getItems()).toEqual([user("I live in Porto.")]);
    expect((await ana.list()).items.map(({ text }) => text)).toEqual(["The user lives in Porto."]);
    expect((await ana.erasures()).map(({ complete }) => complete)).toEqual([true]);
  });

  it("erases the conversation that is cleared, and no other; the same words can be said again", async () => {
    const [session, other] = [createAgentSession(ana), createAgentSession(ana)];
    await session.addItems([user("My cat is called Quixote."), model("Noted.")]);
    await other.addItems([user("I live in Porto.")]);
    await session.clearSession();
    expect([await session.getItems(), await other.getItems()]).toEqual([[], [user("I live in Porto.")]]);
    expect((await ana.list()).items.map(({ text }) => text)).toEqual(["The user lives in Porto."]);
    await session.addItems([user("My cat is called Quixote.")]);
    expect((await ana.answer("What is my cat called?")).text).toContain("Quixote");
  });

  it("gives messages of the conversation that came in otherwise", async () => {
    await ana.remember(
      [
        { role: "user", content: "I live in Porto." },
        { role: "assistant", content: "Noted." },
      ],
      { session: "chat" },
    );
    expect(await createAgentSession(ana, { session: "chat" }).getItems()).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "I live in Porto." }] },
      {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Noted." }],
      },
    ]);
  });
});
