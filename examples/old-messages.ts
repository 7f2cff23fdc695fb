import { createMemory } from "keepsake";

const memory = await createMemory({ path: ":memory:" });
const ana = memory.scope({ user: "ana" });
const messages = [
  { id: "m1", role: "user", content: "I live in Porto.", at: "2024-05-01T09:00:00Z" },
  { id: "m2", role: "user", content: "I moved to Lisbon.", at: "2025-09-01T09:00:00Z" },
] as const;

await ana.remember(messages, { origin: "import" });
const again = await ana.remember(messages, { origin: "import" });
console.log("the second time:", again.memories.length, "memories");

console.log("now:", (await ana.answer("Where do I live?")).text);
console.log("then:", (await ana.answer("Where do I live?", { asOf: "2025-01-01T00:00:00Z" })).text);
await memory.close();

// Prints:
// the second time: 0 memories
// now: You live in Lisbon.
// then: You live in Porto.
