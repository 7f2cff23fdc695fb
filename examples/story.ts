import { createMemory } from "keepsake";

const memory = await createMemory({ path: ":memory:" });
const ana = memory.scope({ user: "ana" });

await ana.remember("I use Shram and Magnet as productivity tools.");
console.log((await ana.answer("What are the productivity tools that I use?")).text);

await ana.remember("I don't use Magnet anymore.");
console.log((await ana.answer("What are the productivity tools that I use?")).text);

const { complete, erased } = await ana.forget("Magnet");
console.log(complete, erased.memories);

console.log((await ana.answer("What is my favourite dish?")).abstained);
await memory.close();

// Prints:
// You use Shram and Magnet.
// You use Shram.
// true 1
// true
