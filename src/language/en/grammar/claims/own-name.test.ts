import { describe, expect, it } from "vitest";
import { extractAdditions } from "../../../../testing/test-doubles.ts";
import { rulesExtractor } from "../rules.ts";

async function namings(content: string): Promise<string[]> {
  const told = await extractAdditions(rulesExtractor(), content);
  return told.flatMap(({ claim }) =>
    claim && /\bcalled$/.test(claim.relation) ? `${claim.subject} ${claim.relation} ${claim.value}` : [],
  );
}

describe("the user's own name", () => {
  it.each([
    ["I have a sister in Lima, name is Rosa.", "user/sister be called Rosa"],
    ["My cousin is in Hanoi, name is Duc.", "user/cousin be called Duc"],
    ["I have a friend, name's Piet, he's a cook.", "user/friend be called Piet"],
    ["We have a new neighbour, name is Edith.", "user/neighbour be called Edith"],
    ["I have a dog, name is Rex.", "user/dog be called Rex"],
    ["name's Joe", "user be called Joe"],
    ["My name is Anna Maria van Dijk.", "user be called Anna Maria van Dijk"],
  ])("is not that of another who is introduced: %s", async (text, naming) =>
    expect(await namings(text)).toEqual([naming]),
  );

  it.each([
    "My name is a secret",
    "My name is none of your business.",
    "My name is hard to spell.",
    "I'm my mother's carer",
  ])("is not told by “%s”", async (text) => expect(await namings(text)).toEqual([]));

  it("is no order: “Please call me X, not Y”", async () => {
    const known = await namings("My name is Harold Whitcombe. Please call me Mr Whitcombe, not Harold.");
    expect(known).toContain("user wish to be called Mr Whitcombe");
    expect(known.filter((naming) => /Please|call me/.test(naming))).toEqual([]);
  });
});
