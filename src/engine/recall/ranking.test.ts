import fc from "fast-check";
import { expect, it } from "vitest";
import { createMemory, type InputMessage } from "../../index.ts";

const TOLD: readonly InputMessage[] = [
  {
    session: "a",
    at: "2026-01-05",
    role: "user",
    content: "I lead a team of four engineers in my new role.",
  },
  {
    session: "a",
    at: "2026-01-05",
    role: "assistant",
    content: "Congratulations! Leading engineers takes patience.",
  },
  { session: "b", at: "2026-02-01", role: "user", content: "Which stretches help against a stiff back?" },
  {
    session: "b",
    at: "2026-02-01",
    role: "assistant",
    content: "For a stiff back I recommend the cat stretch, ten times each morning.",
  },
  {
    session: "b",
    at: "2026-02-01",
    role: "user",
    content: "My back was stiff after the long drive to Graz.",
  },
  {
    session: "c",
    at: "2026-03-01",
    role: "user",
    content: "Always answer in metric units when I ask about recipes.",
  },
  { session: "c", at: "2026-03-01", role: "assistant", content: "I will." },
  {
    session: "d",
    at: "2026-04-20",
    role: "user",
    content: "By the way, I now lead a team of five engineers.",
  },
  {
    session: "d",
    at: "2026-04-20",
    role: "assistant",
    content: "That is a larger team of engineers than before.",
  },
];

async function textsOf(messages: readonly InputMessage[], query: string): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  const user = memory.scope({ user: "ana" });
  await user.remember(messages, { extract: "never" });
  const { items } = await user.recall(query);
  return items.map(({ text }) => text);
}

it("ranks the newer of two statements about one thing before the older one", async () => {
  const texts = await textsOf(TOLD, "How many engineers do I lead?");
  const newer = texts.findIndex((text) => text.includes("five engineers"));
  const older = texts.findIndex((text) => text.includes("four engineers"));
  expect(newer).toBeGreaterThanOrEqual(0);
  expect(newer).toBeLessThan(older);
});

it("keeps scores in falling order when the newer statement comes first", async () => {
  await using memory = await createMemory({ path: ":memory:" });
  const user = memory.scope({ user: "ana" });
  await user.remember(TOLD, { extract: "never" });
  const scores = (await user.recall("How many engineers do I lead?")).items.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((one, other) => other - one));
});

it("ranks the assistant's words first when the query asks for them, else the user's", async () => {
  expect((await textsOf(TOLD, "What did you recommend for my stiff back?"))[0]).toContain("cat stretch");
  expect((await textsOf(TOLD, "After which drive was my back stiff?"))[0]).toContain("Graz");
});

it("ranks a standing preference higher when a request relates to it", async () => {
  const soup = "The recipes in my grandmother's book are all for soup and bread.";
  const told: InputMessage[] = [...TOLD, { session: "e", at: "2026-04-21", role: "user", content: soup }];
  expect((await textsOf(told, "Can you give me a few recipes for a simple cake?"))[0]).toContain("metric");
});

it("finds Chinese text by characters, and covers every part of the query", async () => {
  const told = [
    "我的表姐叫小林。",
    "我表姐今年38岁了。",
    "海洋科学论坛的规模是三千人。",
    "海洋科学论坛的地点是北京。",
    "海洋科学论坛的时间是下周五。",
    "海洋科学论坛的主要内容是分享经验。",
  ].map((content): InputMessage => ({ role: "user", content }));
  const texts = await textsOf(told, "海洋科学论坛的地点是哪里？另外，我表姐几岁了？");
  expect(texts.slice(0, 2).toSorted()).toEqual(
    ["我表姐今年38岁了。", "海洋科学论坛的地点是北京。"].toSorted(),
  );
});

const topic = fc.constantFrom("garden", "violin", "marathon", "kitchen", "engineers", "recipes");
const sentence = fc
  .tuple(fc.constantFrom("I like the", "My", "We sold the", "They asked about the", "Always mind the"), topic)
  .map(([start, word]) => `${start} ${word}.`);

it("never gives one user the words of another, for any messages", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sentence, { minLength: 1, maxLength: 8 }),
      fc.array(sentence, { minLength: 1, maxLength: 8 }),
      topic,
      async (ofAna, ofBen, asked) => {
        await using memory = await createMemory({ path: ":memory:" });
        const told = (name: string, texts: readonly string[]): InputMessage[] =>
          texts.map((text, i) => ({ role: "user", content: `${name}${i}: ${text}` }));
        await memory.scope({ user: "ana" }).remember(told("a", ofAna), { extract: "never" });
        await memory.scope({ user: "ben" }).remember(told("b", ofBen), { extract: "never" });
        const { items } = await memory.scope({ user: "ana" }).recall(`How many of the ${asked}?`);
        for (const { text } of items) expect(text.startsWith("a")).toBe(true);
      },
    ),
    { numRuns: 20 },
  );
});
