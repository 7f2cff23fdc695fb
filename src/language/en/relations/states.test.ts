import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import { createMemory } from "../../../memory.ts";
import { LIFE_EVENTS } from "./life-events.ts";
import { areExclusive, areOpposed, listExcluded, listStates, STATES } from "./states.ts";

/** The current memories after each of two messages, a month apart. */
async function tell(before: string, says: string): Promise<{ first: string; then: string; past: string }> {
  let now = new Date("2026-03-02T09:00:00Z");
  await using memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  const ann = memory.scope({ user: "ann" });
  const list = async (): Promise<{ current: string; past: string }> => {
    const { items } = await ann.list({ status: "all" });
    const isState = items.filter(({ kind }) => kind !== "event");
    const textOf = (isCurrent: boolean): string =>
      isState.flatMap(({ text, status }) => ((status === "current") === isCurrent ? [text] : [])).join("\n");
    return { current: textOf(true), past: textOf(false) };
  };
  await ann.remember(before);
  const { current: first } = await list();
  now = new Date("2026-04-02T09:00:00Z");
  await ann.remember(says);
  const { current: then, past } = await list();
  return { first, then, past };
}

describe("a state ends the states that it excludes, and keeps them as history", () => {
  it.each(STATES.map(({ state, example }) => [state, example] as const))("%s", async (_state, example) => {
    const { first, then, past } = await tell(example.before, example.says);
    expect([first.includes(example.gone), then.includes(example.gone), past.includes(example.gone)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe("a life event ends what its example says, and keeps it as history", () => {
  it.each(LIFE_EVENTS.map(({ pattern, example }) => [pattern, example] as const))(
    "%s",
    async (_row, example) => {
      const { first, then, past } = await tell(example.before, example.says);
      expect([
        first.includes(example.gone),
        then.includes(example.gone),
        past.includes(example.gone),
      ]).toEqual([true, false, true]);
    },
  );
});

describe("states and opposites", () => {
  it("are read from claims about a person and about whom they have", () => {
    expect(listStates({ subject: "user", relation: "be", value: "single" })).toEqual([
      { owner: "user", state: "single" },
    ]);
    expect(listStates({ subject: "user/wife", relation: "be called", value: "Ann" })).toEqual([
      { owner: "user", state: "married" },
    ]);
    expect(listStates({ subject: "user/wife/boss", relation: "be called", value: "Ann" })).toEqual([]);
  });

  it("exclude each other in both directions", () => {
    expect(areExclusive("single", "married")).toBe(true);
    expect(areExclusive("married", "vegan")).toBe(false);
    expect(areOpposed("hate", "love")).toBe(true);
    expect(areOpposed("not eat", "eat")).toBe(true);
    expect(areOpposed("like", "love")).toBe(false);
  });

  it("name only states that there are", () => {
    const states = new Set(STATES.map(({ state }) => state));
    const named = [...STATES, ...LIFE_EVENTS].flatMap(({ ends = [] }) => ends);
    expect(named.filter((state) => !states.has(state))).toEqual([]);
    expect(states.size).toBe(STATES.length);
  });

  it("leave a statement alone that holds in one circumstance only", () => {
    const hate = { subject: "user", relation: "hate", value: "coffee" };
    expect(listExcluded({ ...hate, qualifier: "in the evening" })).toEqual([]);
    expect(listExcluded({ ...hate, qualifier: "now" })).toContainEqual({
      subject: "user",
      relation: "love",
      value: "coffee",
    });
  });
});
