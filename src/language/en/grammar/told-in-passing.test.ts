import { describe, expect, it } from "vitest";
import { extractAdditions } from "../../../testing/test-doubles.ts";
import { rulesExtractor } from "./rules.ts";

const texts = async (content: string): Promise<string[]> =>
  (await extractAdditions(rulesExtractor(), content)).map(({ text }) => text);

describe("a reason that lasts is told as well", () => {
  it.each([
    ["I write every day because I want to be a poet.", "The user wants to be a poet."],
    ["I get up early because I'm training to be a pilot.", "The user is training to be a pilot."],
    ["since I study to become a librarian, I read a lot", "The user studies to become a librarian."],
    ["We moved here because my wife is a doctor.", "The user's wife is a doctor."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toContain(told);
  });

  it("is not what holds for an hour, or may be", async () => {
    const told = [
      ...(await texts("I skipped lunch because I was tired.")),
      ...(await texts("I called because I might want to be a poet.")),
    ].join(" ");
    expect(told).not.toMatch(/tired|poet/);
  });
});

describe("what is liked least is no favourite", () => {
  it.each([
    ["History is my least favorite class", "The user's least favorite class is History."],
    ["math is my least favourite subject", "The user's least favourite subject is math."],
    ["Physics is my favourite class", "The user's favourite class is Physics."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toEqual([told]);
  });
});

describe("what is or is not somebody's thing is liked or not", () => {
  it.each([
    ["Running is just not my thing", "The user does not like Running."],
    ["golf is not really my thing", "The user does not like golf."],
    ["knitting is my thing", "The user likes knitting."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toEqual([told]);
  });
});
