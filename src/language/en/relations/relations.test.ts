import { describe, expect, it } from "vitest";
import { MEMORY_KINDS } from "../../../domain/memory.ts";
import {
  getRelation,
  isKindOf,
  isSingleValued,
  listAnsweringRelations,
  listAttributeRelations,
  RELATIONS,
  toCanonicalRelation,
  toCanonicalThing,
} from "./relations.ts";

describe("the table of relations", () => {
  it.each([...RELATIONS.values()])("$relation holds $holds and is a $kind", (row) => {
    expect(row.relation).toMatch(/^[a-z]+(?: [a-z]+)*$/);
    expect(["one", "many"]).toContain(row.holds);
    expect(MEMORY_KINDS).toContain(row.kind);
    // A row under a name that is stored as another one would never be found.
    expect(toCanonicalRelation(row.relation)).toBe(row.relation);
  });

  it("treats an unknown relation as a fact with many values", () => {
    expect(getRelation("juggle")).toEqual({ relation: "juggle", holds: "many", kind: "fact" });
  });

  it.each([
    ["live in", "one"],
    ["be called", "one"],
    ["use", "many"],
    ["be allergic to", "many"],
  ])("%s has %s value(s)", (relation, holds) => {
    expect(getRelation(relation).holds).toBe(holds);
  });

  it("marks health and money as sensitive", () => {
    expect(getRelation("be allergic to").sensitive).toBe(true);
    expect(getRelation("earn").sensitive).toBe(true);
    expect(getRelation("use").sensitive).toBeUndefined();
  });
});

describe("synonyms", () => {
  it("map to one name", () => {
    expect(toCanonicalRelation("work for")).toBe("work at");
    expect(toCanonicalRelation("go by")).toBe("be called");
    expect(toCanonicalRelation("use")).toBe("use");
  });

  it.each([
    ["drive", "own"],
    ["live in", "live at"],
    ["work at", "work as"],
    ["have been to", "visit"],
  ])("a question about %s is also answered by %s", (relation, answers) => {
    expect(listAnsweringRelations(relation)[0]).toBe(relation);
    expect(listAnsweringRelations(relation)).toContain(answers);
  });

  it.each([
    ["mum", "mother"],
    ["apartment", "flat"],
    ["favorite color", "favourite colour"],
    ["roommate", "flatmate"],
  ])("%s is a %s", (one, other) => {
    expect(toCanonicalThing(one)).toBe(toCanonicalThing(other));
  });

  it("recognises what is a kind of what", () => {
    expect(isKindOf("tortoise", "pet")).toBe(true);
    expect(isKindOf("beagle", "dog")).toBe(true);
    expect(isKindOf("dog", "cat")).toBe(false);
  });

  it("finds the relations that answer a question about an attribute", () => {
    expect(listAttributeRelations("job")).toContain("work as");
    expect(listAttributeRelations("shoe size")).toEqual([]);
  });
});

it.each([
  ["salary", true],
  ["phone number", true],
  ["favourite book", true],
  ["birthday party", true],
  ["cat", false],
  ["hobbies", false],
])("%s has one value at a time: %s", (thing, one) => {
  expect(isSingleValued(thing)).toBe(one);
});
