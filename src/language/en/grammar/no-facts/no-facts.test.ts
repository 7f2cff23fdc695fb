import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { extractAdditions } from "../../../../testing/test-doubles.ts";
import { rulesExtractor } from "../rules.ts";

/** Sentences by what makes them no facts, and their look-alikes that are facts. */
interface Cases {
  readonly nothing: { readonly [why: string]: readonly string[] };
  readonly kept: { readonly [why: string]: readonly string[] };
}

const CASES = JSON.parse(
  readFileSync(new URL("../__fixtures__/no-facts.json", import.meta.url), "utf8"),
) as Cases;
const added = (content: string): Promise<AddProposal[]> => extractAdditions(rulesExtractor(), content);

async function texts(content: string): Promise<string[]> {
  return (await added(content)).map(({ text }) => text);
}

// Small talk, commands and hypotheticals that became durable memories:
// https://github.com/netclaw-dev/netclaw/issues/379, https://github.com/anthropics/claude-code/issues/69847
describe("nothing is learnt from what is not said to be so", () => {
  const { wish = [], ...others } = CASES.nothing;

  it.each(Object.entries(others))("%s", async (_why, sentences) => {
    const learnt: Record<string, readonly string[]> = {};
    for (const sentence of sentences) {
      const told = await texts(sentence);
      if (told.length > 0) learnt[sentence] = told;
    }
    expect(learnt).toEqual({});
  });

  it.each(wish)("a wish is a wish at most: %s", async (sentence) => {
    const told = await added(sentence);
    expect(told.filter(({ kind, claim }) => kind !== "preference" || claim?.relation !== "wish")).toEqual([]);
  });

  it("has two hundred of them", () => {
    expect(Object.values(CASES.nothing).flat().length).toBeGreaterThanOrEqual(200);
    expect(Object.values(CASES.kept).flat().length).toBeGreaterThanOrEqual(100);
  });
});

describe("what only looks like that is learnt", () => {
  it.each(Object.entries(CASES.kept))("%s", async (_why, sentences) => {
    const missed: string[] = [];
    for (const sentence of sentences) if ((await texts(sentence)).length === 0) missed.push(sentence);
    expect(missed).toEqual([]);
  });

  it("a belief of others about the user is not learnt with the others", async () => {
    expect((await texts("My sister thinks I'm allergic to nuts.")).join(" ")).not.toMatch(/allerg/);
    expect((await texts("My brother Al says I'm a vegan.")).join(" ")).not.toMatch(/vegan/);
  });

  it("a denial is learnt as one", async () => {
    expect(await texts("I never eat pork.")).toEqual(["The user never eats pork."]);
    expect(await texts("never been to Rome")).toEqual(["The user has never been to Rome."]);
  });
});
