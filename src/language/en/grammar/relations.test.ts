import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import { createMemory } from "../../../memory.ts";
import { RELATION_AREAS, RELATIONS } from "../relations/relations.ts";

const ROWS = RELATION_AREAS.flatMap(({ relations }) => relations);

describe("each row of the table of relations is understood, and answers its question", () => {
  it.each(ROWS)("$relation", async ({ relation, example, answeredBy = [] }) => {
    await using memory = await createMemory({ record: createInMemoryStore() });
    const ann = memory.scope({ user: "ann" });
    await ann.remember(example.says);
    const { items } = await ann.list();
    const claims = items.flatMap(({ claim }) => claim ?? []);
    const written = claims.map(({ subject, relation: of, value }) => `${subject} | ${of} | ${value}`.trim());
    expect(written).toContain(example.gives);
    expect((await ann.answer(example.asks)).text).toContain(example.answer);
    // The example is one of this row, not of another: "want to" takes a verb, and "tell" is answered by "promise".
    const made = example.gives.split(" | ")[1] ?? "";
    const isOwn = made === relation || made.startsWith(`${relation} `) || relation.startsWith(`${made} `);
    expect(isOwn || made.startsWith(`${relation.split(" ")[0]} `) || answeredBy.includes(made)).toBe(true);
  });
});

describe("the table of relations", () => {
  it("has each relation and each noun once", () => {
    expect(RELATIONS.size).toBe(ROWS.length);
    const nouns = RELATION_AREAS.flatMap((area) => Object.keys(area.nouns));
    expect(nouns.filter((noun, i) => nouns.indexOf(noun) !== i)).toEqual([]);
  });

  it("stores no name under two relations", () => {
    const others = ROWS.flatMap(({ also = [] }) => also);
    expect(others.filter((name, i) => others.indexOf(name) !== i || RELATIONS.has(name))).toEqual([]);
  });

  it("has for each noun a relation that answers it", () => {
    const empty = RELATION_AREAS.flatMap(({ nouns }) =>
      Object.entries(nouns).flatMap(([noun, relations]) => (relations.length === 0 ? [noun] : [])),
    );
    expect(empty).toEqual([]);
  });
});
