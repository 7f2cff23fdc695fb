import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

// The dialogues of the documents, in other words than theirs: each is one case, and all of them pass.

const TOLD = "I use Shram and Magnet as productivity tools";
const ASKED = "What productivity tools do I use?";

const clock = () => new Date("2026-01-05T12:00:00Z");
let memory: Keepsake;
let ana: ScopedMemory;
beforeEach(async () => {
  memory = await createMemory({ path: ":memory:", clock });
  ana = memory.scope({ user: "ana" });
});
afterEach(() => memory.close());

const QUESTIONS = [
  "What are the productivity tools that I use",
  "Which productivity tools do I use?",
  "What tools do I use for productivity?",
  "Tell me the productivity tools I use.",
  "Do you remember which productivity tools I use?",
  "List my productivity tools.",
  "What are my productivity tools?",
  "Can you tell me what tools I use to be productive?",
  "Which tools am I using for productivity?",
  "What do I use as productivity tools?",
  "Remind me which productivity tools I use.",
  "My productivity tools?",
  "What apps do I use for productivity?",
  "Name the productivity tools I use.",
  "What were the productivity tools I told you about?",
  "Which productivity tools did I say I use?",
  "what productivity tools am i using",
  "What tools help me to be productive?",
  "Could you list the productivity tools that I'm using?",
  ASKED,
] as const;

const ENDINGS = [
  "I don't use Magnet anymore",
  "I no longer use Magnet.",
  "I stopped using Magnet.",
  "I've stopped using Magnet.",
  "I quit using Magnet.",
  "I'm not using Magnet any longer.",
  "I am no longer using Magnet.",
  "I don't use Magnet any more, by the way.",
  "I gave up on Magnet.",
  "I gave up Magnet.",
  "I'm done with Magnet.",
  "I got rid of Magnet.",
  "I uninstalled Magnet.",
  "I deleted Magnet.",
  "I cancelled Magnet.",
  "I dropped Magnet.",
  "I ditched Magnet.",
  "I've moved on from Magnet.",
  "I moved away from Magnet.",
  "I replaced Magnet with Raycast.",
  "I switched from Magnet to Raycast.",
  "Magnet is no longer one of my tools.",
  "Magnet isn't something I use anymore.",
  "I used to use Magnet, but not anymore.",
  "I've abandoned Magnet.",
  "Actually, I don't use Magnet now.",
  "I haven't been using Magnet since May.",
  "I have given up using Magnet.",
  "Please note that I don't use Magnet anymore.",
  "I ceased using Magnet.",
] as const;

/** They end nothing of the user's. */
const NO_ENDINGS = [
  "I don't use Magnet on weekends.",
  "Should I stop using Magnet?",
  "I might stop using Magnet.",
  "My sister stopped using Magnet.",
  "If I stopped using Magnet, I would be sad.",
  "I never stopped using Magnet.",
  "I almost stopped using Magnet.",
  "I don't use Magnet for work, only at home.",
  "Why would I stop using Magnet?",
  "I won't stop using Magnet.",
] as const;

const REQUESTS = [
  "Forget Magnet.",
  "Please forget that I use Magnet.",
  "Forget about Magnet.",
  "Forget everything about Magnet.",
  "Delete what you know about Magnet.",
  "Remove Magnet from your memory.",
  "Erase Magnet.",
  "Don't remember that I use Magnet.",
  "Can you forget Magnet?",
  "I want you to forget Magnet.",
  "Please delete the memory about Magnet.",
  "Forget what I said about Magnet.",
  "Wipe everything about Magnet.",
  "You should forget about Magnet.",
  "Stop remembering Magnet.",
  "Forget I ever mentioned Magnet.",
  "Could you please remove what I told you about Magnet?",
  "Drop Magnet from your notes.",
  "Clear what you have stored about Magnet.",
  "I'd like you to delete Magnet from memory.",
] as const;

const NO_REQUESTS = [
  "I forgot Magnet at home.",
  "Don't forget Magnet.",
  "Never forget that I use Magnet.",
  "My sister forgot about Magnet.",
  "How do I delete files in Magnet?",
] as const;

/** What is said first, what takes its place, the question, what the answer holds, and what it may not hold. */
const CONFLICTS: readonly (readonly [string, string, string, RegExp, RegExp])[] = [
  ["I hate olives.", "I love olives now.", "Do I like olives?", /yes|you (?:like|love)/i, /hate/],
  ["I like coffee.", "I don't like coffee anymore.", "What do I like?", /./, /You like coffee/],
  ["I am vegetarian.", "I am not vegetarian anymore.", "Am I vegetarian?", /./, /^(?:Yes|You are)/],
  [
    "My favourite colour is blue.",
    "My favourite colour is green.",
    "What is my favourite colour?",
    /green/,
    /blue/,
  ],
  [
    "My favorite food is pizza.",
    "Actually, sushi is my favorite food now.",
    "What is my favorite food?",
    /sushi/,
    /pizza/,
  ],
  [
    "My favourite band is Lush.",
    "My new favourite band is Slint.",
    "What is my favourite band?",
    /Slint/,
    /Lush/,
  ],
  [
    "My favourite film is Alien.",
    "I changed my mind, my favourite film is Heat.",
    "What is my favourite film?",
    /Heat/,
    /Alien/,
  ],
  ["I am single.", "I got married to Tom.", "Am I single?", /./, /^(?:Yes|You are single)/],
  ["I am unemployed.", "I got a job at Vantor.", "Am I unemployed?", /./, /^(?:Yes|You are unemployed)/],
  ["I'm a student.", "I graduated in June.", "Am I a student?", /./, /^(?:Yes|You are a student)/],
  ["My sister's name is Ana.", "Sorry, I meant Eva, not Ana.", "What is my sister called?", /Eva/, /Ana\b/],
  ["I live in Porto.", "No, I live in Faro.", "Where do I live?", /Faro/, /Porto/],
  ["My birthday is on 3 May.", "Correction: my birthday is on 5 May.", "When is my birthday?", /5/, /\b3\b/],
  ["My dog is called Rex.", "Oops, my dog is called Max, not Rex.", "What is my dog called?", /Max/, /Rex/],
  ["I work at Vantor.", "That was wrong, I work at Brightwell.", "Where do I work?", /Brightwell/, /Vantor/],
  ["I have two cats.", "Actually, I have three cats.", "How many cats do I have?", /three|3/, /two/],
  ["I was born in 1984.", "I misspoke, I was born in 1985.", "When was I born?", /1985/, /1984/],
];

const answerTo = async (question: string): Promise<string> => (await ana.answer(question)).text;

describe("the dialogues of the documents in other words", () => {
  it("are answered in a new conversation, however the question is worded", async () => {
    await ana.converse(TOLD, { session: "monday" });
    for (const [i, question] of QUESTIONS.entries()) {
      const { text } = await ana.converse(question, { session: `later ${i}` });
      expect(text, question).toMatch(/Shram/);
      expect(text, question).toMatch(/Magnet/);
    }
  });

  it.each(ENDINGS)("end what is no longer used, and nothing else: %s", async (said) => {
    await ana.remember(TOLD);
    await ana.remember(said);
    const text = await answerTo(ASKED);
    expect(text).toMatch(/Shram/);
    expect(text).not.toMatch(/Magnet/);
    const { items } = await ana.list({ status: "all" });
    expect(items.map((item) => item.text)).toContain("The user uses Magnet as a productivity tool.");
  });

  it.each(NO_ENDINGS)("end nothing that is still used: %s", async (said) => {
    await ana.remember(TOLD);
    await ana.remember(said);
    expect(await answerTo(ASKED)).toMatch(/Shram[\s\S]*Magnet|Magnet[\s\S]*Shram/);
  });

  it.each(CONFLICTS)(
    "are settled by what was said last: %s Then: %s",
    async (first, then, question, holds, never) => {
      await ana.remember(first);
      await ana.remember(then);
      const text = await answerTo(question);
      expect(text).toMatch(holds);
      expect(text).not.toMatch(never);
    },
  );

  it.each(REQUESTS)("erase what is asked to be forgotten, at once or after a yes: %s", async (said) => {
    await ana.remember(TOLD);
    const { text } = await ana.converse(said, { session: "today" });
    if (text.includes("Shall I forget this?")) await ana.converse("Yes, forget them.", { session: "today" });
    const texts = (await ana.list({ status: "all" })).items.map((item) => item.text);
    expect(texts).toEqual(["The user uses Shram as a productivity tool."]);
  });

  it.each(NO_REQUESTS)("erase nothing without a request: %s", async (said) => {
    await ana.remember(TOLD);
    await ana.converse(said);
    expect(await answerTo(ASKED)).toMatch(/Magnet/);
  });
});
