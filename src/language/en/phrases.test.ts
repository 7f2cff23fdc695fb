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
