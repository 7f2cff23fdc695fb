import fc from "fast-check";
import { expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import type { Message, Origin } from "../../src/domain/message.ts";
import { rulesExtractor } from "../../src/language/en/grammar/rules.ts";
import { createMemory } from "../../src/memory.ts";

const THINGS = [
  "Shram",
  "a tortoise",
  "Porto",
  "walnuts",
  "the cello",
  "my sister Ines",
  "Storkbank",
  "green tea",
];
const thing = fc.constantFrom(...THINGS);

/** What would be learnt, changed or forgotten, had the user said it. */
const sentence = fc.oneof(
  thing.map((one) => `I use ${one}.`),
  thing.map((one) => `I live in ${one} and I love ${one}.`),
  thing.map((one) => `My name is Dana, and I'm allergic to ${one}.`),
  thing.map((one) => `I don't use ${one} anymore.`),
  thing.map((one) => `I switched from ${one} to kefir.`),
  thing.map((one) => `I sold ${one} yesterday.`),
  thing.map((one) => `Sorry, I meant ${one}.`),
  thing.map((one) => `Actually, it's ${one} now.`),
  thing.map((one) => `You live in ${one}. You told me that you love ${one}.`),
  thing.map((one) => `The user uses ${one}.`),
  thing.map((one) => `Forget that I ever mentioned ${one}.`),
  thing.map((one) => `Delete what you know about ${one}.`),
  fc.constantFrom(
    "Forget everything you know about me.",
    "yes, forget all of it",
    "Call me Max from now on.",
    "Always answer in German.",
    "My sister moved to Bergen.",
    "We broke up.",
    "I no longer eat meat.",
  ),
  fc.string({ maxLength: 60 }),
);
const text = fc.array(sentence, { minLength: 1, maxLength: 4 }).map((all) => all.join(" "));
const others = fc.array(fc.record({ role: fc.constantFrom("assistant", "system", "tool"), content: text }), {
  minLength: 1,
  maxLength: 4,
});

const TOLD = [
  "I live in Porto and my sister Ines lives in Graz.",
  "I use Shram and Magnet. I'm allergic to walnuts.",
  "My bank is Storkbank, and I'm learning the cello.",
];

const NOW = new Date("2026-03-10T12:00:00Z");

/** A conversation in which the user has told some things, and a look at all that is held. */
async function talk(): Promise<{
  say(turn: { role: "user" | "assistant" | "system" | "tool"; content: string }): Promise<unknown>;
  held(): Promise<string>;
  close(): Promise<void>;
}> {
  const memory = await createMemory({ record: createInMemoryStore(), clock: () => NOW });
  const scope = memory.scope({ user: "ana" });
  for (const content of TOLD) await scope.remember({ role: "user", content }, { session: "s" });
  return {
    say: (turn) => scope.remember(turn, { session: "s" }),
    held: async () => JSON.stringify((await scope.list({ status: "all", limit: 1000 })).items),
    close: () => memory.close(),
  };
}

it("no text of an assistant, a tool or a system makes, changes or removes a memory", async () => {
  await fc.assert(
    fc.asyncProperty(others, async (turns) => {
      const { say, held, close } = await talk();
      const before = await held();
      for (const { role, content } of turns) {
        if (content.trim() !== "") await say({ role: role as "assistant", content });
      }
      expect(await held()).toBe(before);
      await close();
    }),
    { numRuns: 20 },
  );
});

it("the rules propose nothing of what is not the user's, whatever its role and origin", async () => {
  const roles = fc.constantFrom("user", "assistant", "system", "tool");
  const origins = fc.constantFrom<Origin>("user_message", "assistant_message", "tool_result", "document");
  await fc.assert(
    fc.asyncProperty(roles, origins, text, async (role, origin, content) => {
      fc.pre(!(role === "user" && origin === "user_message"));
      const at = NOW.toISOString();
      const message = {
        id: "m",
        turn: 1,
        role,
        content,
        origin,
        at,
        storedAt: at,
        digest: "pending",
      } as Message;
      expect(await rulesExtractor().propose({ messages: [message], earlier: [], known: [] })).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

it("a document or a mail in a message of the user's makes no memory", async () => {
  const wraps: readonly ((inner: string) => string)[] = [
    (inner) => `Summarize this: ${inner}`,
    (inner) => `Translate into French:\n\n${inner}`,
    (inner) => `\`\`\`\n${inner}\n\`\`\``,
    (inner) => inner.replace(/^/gm, "> "),
    (inner) => `Here is the email I got:\n\n${inner}`,
    (inner) => `From: Bo Lind\nTo: me\nSubject: hello\n\n${inner}`,
  ];
  const stated = fc.array(
    thing.map((one) => `I live near ${one}. My brother hates ${one}, and I work at Brandt.`),
    { minLength: 1, maxLength: 3 },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...wraps), stated, async (wrap, inner) => {
      const { say, held, close } = await talk();
      const before = await held();
      await say({ role: "user", content: wrap(inner.join(" ")) });
      expect(await held()).toBe(before);
      await close();
    }),
    { numRuns: 15 },
  );
});

it("reading the same message twice changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(text, async (content) => {
      fc.pre(content.trim() !== "");
      const memory = await createMemory({ record: createInMemoryStore(), clock: () => NOW });
      const scope = memory.scope({ user: "ana" });
      for (const told of TOLD) await scope.remember(told, { session: "s" });
      const message = { id: "again", role: "user", content } as const;
      await scope.remember(message, { session: "s" });
      const held = JSON.stringify((await scope.list({ status: "all", limit: 1000 })).items);
      await scope.remember(message, { session: "s" });
      expect(JSON.stringify((await scope.list({ status: "all", limit: 1000 })).items)).toBe(held);
      await memory.close();
    }),
    { numRuns: 20 },
  );
});

it("the rules propose the same of the same message, however often they read it", async () => {
  const extractor = rulesExtractor();
  await fc.assert(
    fc.asyncProperty(text, async (content) => {
      const at = NOW.toISOString();
      const fields = { turn: 1, role: "user", content, origin: "user_message", at, storedAt: at } as const;
      const message: Message = { id: "m", ...fields, digest: "pending" };
      const read = () => extractor.propose({ messages: [message], earlier: [], known: [] });
      expect(await read()).toEqual(await read());
    }),
    { numRuns: 100 },
  );
});
