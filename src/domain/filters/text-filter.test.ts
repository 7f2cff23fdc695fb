import { describe, expect, it } from "vitest";
import { compileTextFilter, type WhereText } from "./text-filter.ts";

const TEXT = "The user lives in Porto, and drinks café con leche.";

describe("a filter over texts", () => {
  it.each<[WhereText, boolean]>([
    [{ $contains: "Porto" }, true],
    [{ $contains: "porto" }, false],
    [{ $contains: "." }, true],
    [{ $contains: "café" }, true],
    [{ $not_contains: "Lisbon" }, true],
    [{ $not_contains: "Porto" }, false],
    [{ $regex: "P.rto" }, true],
    [{ $regex: "^Porto" }, false],
    [{ $regex: "(?i)PORTO|lisbon" }, true],
    [{ $regex: "\\bcaf\\pL con" }, true],
    [{ $not_regex: "Lis.on" }, true],
    [{ $not_regex: "\\w+" }, false],
    [{ $and: [{ $contains: "Porto" }, { $regex: "drinks" }] }, true],
    [{ $and: [{ $contains: "Porto" }, { $contains: "Lisbon" }] }, false],
    [{ $or: [{ $contains: "Lisbon" }, { $contains: "Porto" }] }, true],
    [{ $or: [{ $contains: "Lisbon" }, { $and: [{ $contains: "Porto" }, { $not_contains: "tea" }] }] }, true],
    [{ $contains: "Porto", $not_contains: "leche" }, false],
    [{}, true],
  ])("with %j matches the text: %j", async (where, expected) => {
    expect((await compileTextFilter(where))(TEXT)).toBe(expected);
  });

  const wrong: readonly unknown[] = [
    null,
    "Porto",
    ["Porto"],
    { $contain: "Porto" },
    { contains: "Porto" },
    { $contains: "" },
    { $contains: 5 },
    { $contains: "x".repeat(4001) },
    { $regex: "(" },
    { $regex: "(?=lookahead)" },
    { $regex: "(a)\\1" },
    { $regex: "a{2000}" },
    { $regex: "a".repeat(501) },
    { $and: [] },
    { $or: { $contains: "a" } },
    { $and: [{ $contains: "a" }, "b"] },
    { $or: Array.from({ length: 100 }, () => ({ $contains: "a" })) },
    Array.from({ length: 17 }).reduce((inner: object) => ({ $and: [inner] }), { $contains: "a" }),
  ];
  it.each(wrong.map((where) => ({ where })))("$where is refused, without a word of it", async ({ where }) => {
    await expect(compileTextFilter(where as WhereText)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.not.stringMatching(/lookahead|Porto,/),
    });
  });

  it.each([
    ["nested repetitions", "(a+)+$", `${"a".repeat(4000)}b`],
    ["overlapping choices", "(a|aa|a?)*c", "a".repeat(4000)],
    ["many optional parts", `${"a?".repeat(200)}${"a".repeat(80)}b`, "a".repeat(4000)],
  ])("with a pattern of %s ends at once, where backtracking would not", async (_name, pattern, text) => {
    const matches = await compileTextFilter({ $regex: pattern });
    const from = performance.now();
    expect(matches(text)).toBe(false);
    expect(performance.now() - from).toBeLessThan(1000);
  });

  it("gives up where all texts of one call take longer than a second", async () => {
    const matches = await compileTextFilter({ $regex: "((a{0,30}){0,30})b" });
    const giveUp = performance.now() + 30_000;
    const matchAll = (): void => {
      for (let i = 0; performance.now() < giveUp; i += 1) matches(`${"a".repeat(200)}${i}`);
    };
    expect(matchAll).toThrowError(/takes too long/);
  });
});
