import { expect, it } from "vitest";
import { findPastedText, findQuotes } from "./pasted-text.ts";

const brought = (content: string): string[] =>
  findPastedText(content).map(({ start, end }) => content.slice(start, end).trim());

it.each([
  ["Can you summarise this: The hotel is large and has a pool.", "The hotel is large and has a pool."],
  ["Here is the mail I got:\n\nDear all,\nI moved to Porto.", "Dear all,\nI moved to Porto."],
  ["> I live in Ghent.\n> It is nice.\nWhat do you say?", "> I live in Ghent.\n> It is nice."],
  ["Look:\n```\nI live in Ghent\n```", "```\nI live in Ghent\n```"],
  ["From: Bo\nTo: me\nSubject: hi\n\nI live in Ghent.", "From: Bo\nTo: me\nSubject: hi\n\nI live in Ghent."],
  ['How does this sound? "We are the best bakery in town."', '"We are the best bakery in town."'],
  ['Übersetze bitte: "Ich wohne in einem kleinen Haus."', '"Ich wohne in einem kleinen Haus."'],
])("finds pasted text: %j", (content, text) => {
  expect(brought(content).join("\n")).toContain(text);
});

it.each([
  "I live in Ghent. What is the weather like?",
  "My name is Ana: I live in Ghent and I work as a nurse.",
  'Magnus burst in and said "I am opening a bakery in Bergen!"',
  'My favourite book is "The Hobbit".',
  "I need this for the insurance again: I ride a red Honda and live in Ghent.",
  "My bio: I'm a climber and live in Ghent with two cats.",
  "What should I cook tonight? I'm vegetarian and I hate mushrooms.",
  "Can you help me plan? I live in Ghent and I work nights at a bakery.",
  "Could you forget that I vape? My mum reads over my shoulder.",
  "I have three housemates: Ed, Moll and Tariq from Leeds.",
  "Help me plan dinner: I'm vegan and my sister eats no gluten.",
  "Explain it to me simply, I am a nurse and no engineer.",
  "Is it a good idea to move? My job is in Porto these days.",
  "Here is what matters: I live in Ghent and I have two cats.",
  "What do you think?\nI moved to Ghent last week and love it.",
  "Remind me: the dentist is on Friday at nine.",
])("leaves the user's own words alone: %j", (content) => {
  expect(brought(content)).toEqual([]);
});

it("tells a quoted sentence from a quoted name", () => {
  expect(findQuotes('She said “I will be there on Monday” about "Paris, Texas".')).toHaveLength(1);
});

it("reads a message of a megabyte in well under a second", () => {
  for (const piece of ['"a b c d" ', "> a\n", "```a``` ", "From: a\n", "summarise ", "Here is "]) {
    const began = process.cpuUsage();
    findPastedText(piece.repeat(1_000_000 / piece.length));
    // Processor time in µs: it does not depend on what else runs on the machine.
    expect(process.cpuUsage(began).user).toBeLessThan(1_500_000);
  }
});
