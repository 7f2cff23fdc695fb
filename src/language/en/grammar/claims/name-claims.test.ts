import { expect, it } from "vitest";
import { extractAdditions } from "../../../../testing/test-doubles.ts";
import { rulesExtractor } from "../rules.ts";

it.each([
  [
    "I'm Oda, 52, from Narvik.",
    ["The user is 52 years old.", "The user is called Oda.", "The user is from Narvik."],
  ],
  ["Hi, I'm 29, a roofer.", ["The user is 29 years old.", "The user is a roofer."]],
  [
    "I'm 41 and from Split, moved to Zadar.",
    ["The user is 41 years old.", "The user is from Split.", "The user moved to Zadar."],
  ],
])("what one is beside a name or an age is told as well: %s", async (said, memories) => {
  const texts = (await extractAdditions(rulesExtractor(), said)).map(({ text }) => text);
  expect(texts.sort()).toEqual(memories);
});
