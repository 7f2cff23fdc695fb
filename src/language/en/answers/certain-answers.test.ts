import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../memory.ts";

let ana: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-02T10:00:00Z");
  const memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  ana = memory.scope({ user: "ana" });
});

async function ask(told: readonly string[], question: string): Promise<string> {
  for (const sentence of told) {
    now = new Date(now.getTime() + 60_000);
    await ana.remember(sentence);
  }
  return (await ana.answer(question)).text;
}

describe("a certain answer", () => {
  it.each([
    ["I have a dog called Rex and a brother called Max.", "how many dogs do I have?", /^One\b.*Rex\.$/],
    [
      "I have a cat called Pip and a cousin called Max.",
      "what pets do I have?",
      /^You have a cat called Pip\.$/,
    ],
    ["I have a cat and two sisters.", "how many cats do I have?", /^One\b.*: a cat\.$/],
    ["I have two dogs and a car.", "how many pets do I have?", /two dogs\.$/],
    ["I have a guitar, a piano and a hamster.", "what instruments do I have?", /guitar and a piano\.$/],
  ])("counts and lists nothing of another kind: %s %s", async (told, question, answer) =>
    expect(await ask([told], question)).toMatch(answer),
  );

  it.each([
    ["I'm a size 14.", "how tall am I?", /^You are/],
    ["I'm a size 14.", "how much do I weigh?", /^You are/],
    ["I'm a shoe size 9.", "how old am I?", /^You are/],
    ["I don't like fish.", "do I drink?", /^(?:Yes|No),/],
    ["I don't eat fish.", "do I eat?", /^No,/],
    ["I used to play rugby.", "do I play rugby?", /^Yes,/],
    ["I used to want to be a nun.", "do I want to be a nun?", /^Yes,/],
  ])("is not of another matter: %s %s", async (told, question, wrong) =>
    expect(await ask([told], question)).not.toMatch(wrong),
  );

  it.each([
    ["I'm 34.", "how old am I?", "You are 34 years old."],
    ["I don't drink.", "do I drink?", "No, you do not drink."],
    ["I don't like fish.", "do I like fish?", "No, you do not like fish."],
    ["I'm allergic to latex.", "am I allergic to anything?", "Yes, you are allergic to latex."],
  ])("is given as before where it is asked for: %s %s", async (told, question, answer) =>
    expect(await ask([told], question)).toBe(answer),
  );

  it.each([
    [["I quit smoking.", "I started smoking again."], "do I smoke?", /^Yes, you started smoking again/],
    [["I gave up drinking.", "I've taken up drinking again."], "do I drink?", /^Yes, you have taken up/],
    [["I started smoking again.", "I quit smoking."], "do I smoke?", /^No,/],
  ] as const)("is of what was taken up again, where that was said last: %j", async (told, question, answer) =>
    expect(await ask(told, question)).toMatch(answer),
  );
});

it.each([
  ["I have a job at Greggs.", /^(?!Yes)/],
  ["I have a nut allergy.", /^Yes, you have a nut allergy\.$/],
  ["I'm allergic to nuts.", /^Yes, you are allergic to nuts\.$/],
])("“am I allergic to anything?” is answered by an allergy alone: %s", async (told, answer) =>
  expect(await ask([told], "am I allergic to anything?")).toMatch(answer),
);
