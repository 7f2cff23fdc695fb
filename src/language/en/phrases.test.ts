import { expect, it } from "vitest";
import { englishPhrases } from "./phrases.ts";

const findQueryStyle = englishPhrases.readQuery;

it.each([
  "What did you recommend for my back?",
  "Can you remind me of the shop that you mentioned?",
  "Which of the books you suggested was the short one?",
  "How did you tell me to store the bulbs?",
])("detects that %j asks for the assistant's words", (query) => {
  expect(findQueryStyle(query).isAfterAssistant).toBe(true);
  expect(findQueryStyle(query).isRequest).toBe(false);
});

it.each(["How should I store the bulbs?", "Can you help me plan my week?", "Could you suggest a book?"])(
  "detects a request in %j",
  (query) => {
    expect(findQueryStyle(query)).toMatchObject({ isRequest: true, isAfterAssistant: false });
  },
);

it.each([
  ["How many bulbs do I have?", true],
  ["When is my call with Ana?", true],
  ["Where do I keep the keys?", false],
  ["Who waters the plants?", false],
])("detects that %j asks for one value that may have changed", (query, isAfterNumber) => {
  expect(findQueryStyle(query)).toMatchObject({ isAfterValue: true, isAfterNumber });
});

it.each([
  "Tell me about the garden",
  "Can you list the order in which I brought up my plants?",
  "Please summarise what I did",
])("detects no question of that kind in %j", (query) => {
  expect(findQueryStyle(query).isAfterValue).toBe(false);
});

it.each([
  ["Please always answer in metric units.", true],
  ["I’d rather have short answers.", true],
  ["Thanks! From now on, call me Jo.", true],
  ["I like it when you give examples.", true],
  ["I like tea.", false],
  ["She always answers in metric units.", false],
])("takes %j for a standing preference: %j", (message, isPreference) => {
  expect(englishPhrases.statesPreference(message)).toBe(isPreference);
});

it("takes ten thousand blank lines for no standing preference in less than a second", () => {
  const began = performance.now();
  expect(englishPhrases.statesPreference("\n \t".repeat(10_000))).toBe(false);
  expect(performance.now() - began).toBeLessThan(1000);
});

it.each([
  ["Forget my old address.", true],
  ["Please don’t keep this.", true],
  ["Let's keep that off the record.", true],
  ["I got rid of the car.", true],
  ["I moved to Oslo.", false],
])("takes %j for what may ask to forget: %j", (message, mayAsk) => {
  expect(englishPhrases.mayAskToForget(message)).toBe(mayAsk);
});
