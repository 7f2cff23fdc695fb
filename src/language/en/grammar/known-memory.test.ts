import fc from "fast-check";
import { expect, it } from "vitest";
import { flattened, type KnownMemory, unflattened } from "./known-memory.ts";

const text = fc.string({ unit: "binary" });
const source = fc.record({ message: text, start: fc.nat(), end: fc.nat(), quote: text });
const claim = fc.record(
  { subject: text, relation: text, value: text, qualifier: text },
  { requiredKeys: ["subject", "relation", "value"] },
);
const memory: fc.Arbitrary<KnownMemory> = fc.record(
  {
    id: text,
    text,
    kind: fc.constantFrom("fact", "event"),
    status: fc.constantFrom("current", "superseded"),
    importance: fc.double({ min: 0, max: 1 }),
    at: text,
    when: text,
    claim,
    sources: fc.array(source, { maxLength: 3 }),
  },
  { requiredKeys: ["id", "text", "kind", "status", "importance", "at", "sources"] },
);

it("are the same memories on the other side of a thread", () => {
  fc.assert(
    fc.property(fc.array(memory, { maxLength: 5 }), (memories) => {
      expect(unflattened(structuredClone(flattened(memories)))).toStrictEqual(
        memories.map((one) => structuredClone(one)),
      );
    }),
  );
});
