import { describe, expect, it } from "vitest";
import { extractAdditions } from "../../../../testing/test-doubles.ts";
import { rulesExtractor } from "../rules.ts";
import { othersWords } from "./others-words.ts";

async function learnt(content: string): Promise<string[]> {
  return (await extractAdditions(rulesExtractor(), content)).map(({ text }) => text);
}

describe("what others wrote or said, pasted into a message", () => {
  it.each([
    "From: Nadine\nHello, I moved to Bergen in May and I have a baby boy!\nlove, Nadine",
    "WhatsApp from gran: I'm in a care home, I broke my arm",
    "Got this email from the letting agent: I'm selling the flat and I live in Malta",
    "[18:40] Petra: I'm engaged!!\n[18:41] Me: wow",
    "12/03/2026, 10:15 - Marta: I got a puppy\n12/03/2026, 10:16 - Marta: I live in Vigo now",
    "Nadia: I have a new job at Lidl!",
    "Mum: I'm moving to Spain\nDad: I hate Spain",
    "Dear Omar,\nI have accepted a post at Siemens. I live in Ghent now.\nKind regards,\nHelene",
    "Hey Tom, this is Ines. I moved to Porto and I have a cat.",
    "Our landlord wrote to us: I am a vegetarian and I own two flats.",
    "my brother texted me I'm in the clinic, can't talk",
    "Compose a cover letter: I'm a pastry chef with six years of experience.",
    "Gran always says “I would rather starve than eat sushi”.",
    'Picasso once said "I do not seek, I find."',
  ])("%j tells nothing of the user", async (text) => expect(await learnt(text)).toEqual([]));

  it.each([
    ["Nadia: I'm vegan now\nMe: fine, I'm allergic to nuts", ["The user is allergic to nuts."]],
    ["She goes I'm a plumber and I go I'm a welder", ["The user is a welder."]],
    ["[09:12] Me: I have two cats\n[09:13] Jo: I hate cats", ["The user has two cats."]],
    ["Gran always says “I would rather starve than eat sushi”. I live in Hull.", ["The user lives in Hull."]],
  ])("%j tells what the user says beside them", async (text, told) =>
    expect(await learnt(text)).toEqual(told),
  );

  it.each([
    ["Hi, it's Dale. I'm allergic to nuts.", "The user is allergic to nuts."],
    ["hey mate it's Dale, I live in Oslo now.", "The user lives in Oslo."],
    ["Hi Keepsake, I'm Tom. I live in Leeds. Thanks, Tom", "The user lives in Leeds."],
    ["Hi all, I live in Oslo now. Best, Ravi", "The user lives in Oslo."],
    ["From: Hull originally, I live in York now.", "The user lives in York."],
    ["I told my mum I live in York now.", "The user lives in York."],
    ["My sister texted me. I have a headache.", "The user has a headache."],
    ["My doctor says I have diabetes.", "The user has diabetes."],
    ["Update: I live in Hull now.", "The user lives in Hull."],
    ["I'd like you to know: I have a cat.", "The user has a cat."],
    ["09:30 - I have a meeting with Jo.", "The user has a meeting with Jo."],
    ["My doctor said: “I live in Rome”.", "The user's doctor lives in Rome."],
  ])("%j is the user's own", async (text, told) => expect(await learnt(text)).toContain(told));

  it("are told apart by the names of the user", () => {
    const signed = "Dear Omar,\nI live in Ghent now.\nKind regards,\nHelene";
    expect(othersWords(signed, ["Helene Maes"])).toEqual([]);
    expect(othersWords(signed, ["Omar"])).not.toEqual([]);
    const greeted = "Hi Luna, I have a new job at Boots.";
    expect(othersWords(greeted, ["Ana"])).toEqual([]);
    expect(othersWords(greeted, ["Luna"])).not.toEqual([]);
  });
});
