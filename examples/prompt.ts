import { createMemory } from "keepsake";

const memory = await createMemory({ path: ":memory:" });
const ana = memory.scope({ user: "ana" });
await ana.remember({ role: "user", content: "I'm allergic to peanuts.", at: "2026-03-01T10:00:00Z" });

const question = "Can I eat pad thai?";
const { items, context } = await ana.recall("allergic foods", { maxTokens: 500 });

// What was recalled is data: it goes before the question, marked as such, and never among the instructions.
const messages = [
  { role: "system", content: `You help a person. What is known about them:\n${context}` },
  { role: "user", content: question },
];
console.log(messages.length, items[0]?.sources[0]?.quote);
await memory.close();

// Prints:
// 2 I'm allergic to peanuts.
