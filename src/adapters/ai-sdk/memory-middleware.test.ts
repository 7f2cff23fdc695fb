import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import { createMemoryMiddleware, type MemoryMiddlewareOptions } from "./index.ts";

let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  memory = await createMemory({ path: ":memory:" });
  ana = memory.scope({ user: "ana" });
});
afterEach(() => memory.close());

/** A middleware that waits long enough for a busy machine. */
const middlewareOf = (user: ScopedMemory, options: MemoryMiddlewareOptions = {}) =>
  createMemoryMiddleware(user, { timeoutMs: 60_000, ...options });

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
const model = (text: string) => ({ role: "assistant", content: [{ type: "text", text }] });

/** What the model is sent in the newest user message. */
async function sent(
  middleware: ReturnType<typeof createMemoryMiddleware>,
  ...prompt: { role: string; content: unknown }[]
): Promise<string> {
  const { prompt: given } = await middleware.transformParams({ params: { prompt, temperature: 0 } });
  return JSON.stringify(given.findLast(({ role }) => role === "user"));
}

const messages = async () => {
  const { items } = await ana.sessions();
  const pages = await Promise.all(items.map(({ id }) => ana.session(id)));
  return pages.flatMap(({ items: said }) => said.map(({ role, content }) => `${role}: ${content}`));
};

describe("createMemoryMiddleware", () => {
  it("gives the model in one conversation what the user said in another", async () => {
    const first = middlewareOf(ana, { session: "one" });
    expect(await sent(first, user("I live in Porto."))).not.toContain("keepsake-");
    const second = middlewareOf(ana, { session: "two" });
    const asked = await sent(second, { role: "system", content: "Be brief." }, user("Where do I live?"));
    expect(asked).toMatch(/keepsake-[0-9a-f]{16}.*Porto.*Where do I live\?/);
    expect(await messages()).toEqual(["user: Where do I live?", "user: I live in Porto."]);
  });

  it("leaves the rest of a request as it is", async () => {
    await ana.remember("I live in Porto.");
    const params = {
      prompt: [
        { role: "system", content: "Be brief." },
        user("Hello."),
        model("Hi."),
        user("Where do I live?"),
      ],
      temperature: 0,
    };
    const before = structuredClone(params);
    const given = await middlewareOf(ana).transformParams({ params });
    expect(params).toEqual(before);
    expect(given.temperature).toBe(0);
    expect(given.prompt.slice(0, 3)).toEqual(before.prompt.slice(0, 3));
    expect(given.prompt[3]).toEqual({
      role: "user",
      content: [
        { type: "text", text: expect.stringContaining("Porto") },
        { type: "text", text: "Where do I live?" },
      ],
    });
  });

  it("stores a turn once that is sent again, with tools or after a failure, and the same words again in a new turn", async () => {
    const middleware = middlewareOf(ana, { session: "one" });
    await sent(middleware, user("What is the weather?"));
    await sent(middlewareOf(ana, { session: "one" }), user("What is the weather?"));
    const call = {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "1", toolName: "weather", input: {} }],
    };
    const result = {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "1", toolName: "weather", output: {} }],
    };
    await sent(middleware, user("What is the weather?"), call, result);
    expect(await messages()).toEqual(["user: What is the weather?"]);
    await sent(middleware, user("What is the weather?"), model("Sunny."), user("What is the weather?"));
    expect(await messages()).toHaveLength(2);
  });

  it("stores only the user's text, without memory that was put into it", async () => {
    const file = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" };
    const echoed = "<keepsake-abcdefgh>\nThe user lives in Rome.\n</keepsake-abcdefgh>\nI have a cat.\u0000";
    await sent(middlewareOf(ana), {
      role: "user",
      content: [file, { type: "text", text: echoed }, { type: "text", text: "It is black." }],
    });
    expect(await messages()).toEqual(["user: I have a cat. \nIt is black."]);
  });

  it("carries out a request to forget before the model is called", async () => {
    const middleware = middlewareOf(ana);
    await sent(middleware, user("I use Shram and Magnet as productivity tools."));
    const asked = await sent(middlewareOf(ana), user("Forget that I ever mentioned Magnet."));
    expect(asked.replace("I ever mentioned Magnet", "")).not.toContain("Magnet");
    const later = await sent(middlewareOf(ana), user("Which productivity tools do I use?"));
    expect(later).toContain("Shram");
    expect(later).not.toContain("Magnet");
    expect(await ana.erasures()).toHaveLength(1);
  });

  it("stores nothing if it is told so", async () => {
    await ana.remember("I live in Porto.", { session: "before" });
    const middleware = middlewareOf(ana, { stores: false });
    expect(await sent(middleware, user("Where do I live?"))).toContain("Porto");
    expect(await messages()).toEqual(["user: I live in Porto."]);
  });

  it("gives another user nothing", async () => {
    await ana.remember("I live in Porto.");
    const other = middlewareOf(memory.scope({ user: "ben" }));
    expect(await sent(other, user("Where do I live?"))).not.toContain("Porto");
  });

  it.each([
    [
      "recalling",
      { context: () => Promise.reject(new MemoryError("unavailable", "The store is closed.")) },
      "unavailable",
    ],
    [
      "storing",
      { remember: () => Promise.reject(new MemoryError("over_quota", "The disk is full.")) },
      "over_quota",
    ],
    ["an endless wait", { remember: () => new Promise<never>(() => {}) }, "unavailable"],
  ])("lets the call go on without memory if %s fails", async (_what, broken, code) => {
    await ana.remember("I live in Porto.");
    const errors: unknown[] = [];
    const middleware = createMemoryMiddleware(
      { ...ana, ...broken },
      { timeoutMs: 200, onError: (error) => errors.push(error) },
    );
    const params = { prompt: [user("Where do I live?")] };
    expect(await middleware.transformParams({ params })).toBe(params);
    expect(errors).toMatchObject([{ code }]);
  });

  it("passes on a prompt without words of a user", async () => {
    for (const prompt of [
      [],
      [{ role: "system", content: "Be brief." }],
      [user(" ")],
      [{ role: "user", content: [] }],
    ]) {
      const params = { prompt };
      expect(await middlewareOf(ana).transformParams({ params })).toBe(params);
    }
    expect(await messages()).toEqual([]);
  });
});
