import { describe, expect, it } from "vitest";
import type { Message } from "../../../../domain/message.ts";
import { rulesExtractor } from "../rules.ts";

const AT = "2026-03-10T12:00:00.000Z";

function turn(content: string, name: string, id = "m"): Message {
  const fields = { turn: 1, role: "user", origin: "user_message", at: AT, storedAt: AT } as const;
  return { id, content, name, ...fields, digest: "pending" };
}

/** What Vera's words give, said to Milo. */
async function told(content: string, before = "How are things?"): Promise<string[]> {
  const earlier = [turn(before, "Milo", "before")];
  const reading = { messages: [turn(content, "Vera")], earlier, known: [] };
  const proposals = await rulesExtractor().propose(reading);
  return proposals.flatMap((one) => (one.propose === "add" ? [one.text] : []));
}

describe("of a talk among people nothing is kept that is nothing without the talk:", () => {
  it.each([
    "I've always wanted to try the soup there.",
    "I saw another one at a flea market.",
    "It's a record by a band from Ghent.",
    "I love the freedom!",
    "The crowd was amazing.",
    "Took some patience, but worth it.",
    "Excited for the trip!",
    "Love the colours in this one.",
    "Agreed, Milo!",
    "I totally agree, Milo.",
    "I gave it to the neighbour who asked.",
    "I bought them last week.",
    "The jacket I wore was too warm.",
    "The bread I made during the storm is gone.",
    "I had a chat with at the fair.",
    "We were classmates for six years.",
    "We all have our own ways to cope.",
    "We should meet soon.",
    "You can do it!",
    "I'm on fire today.",
    "I'm so swamped.",
    "I keep going whatever comes.",
    "I got better.",
    "I want to be brave.",
    "I hope to see you soon.",
    "I made last week.",
    "Music can be a real comfort.",
    "Books have such power.",
    "My brother is like a second father.",
    "It felt like I was in a fairy tale.",
    "Playing against our rivals made us stronger.",
    "Having my aunt around helps a lot.",
    "I love how my garden calms me.",
    "I'm doing OK, cheers for asking.",
    "My dreams will come true.",
    "I wish I had known you back then.",
    "Here's a photo I took at dawn.",
    "I believe in you!",
    "Hopefully we can raise enough.",
    "I'm livin' my dream!",
  ])("%s", async (content) => {
    expect(await told(content)).toEqual([]);
  });
});

describe("what tells of a life is kept, with its person:", () => {
  it.each([
    ["I adopted a greyhound called Fig.", "Vera adopted a greyhound called Fig."],
    ["Milo, I moved to Graz in May.", "Vera moved to Graz in May 2025."],
    ["I can speak Finnish.", "Vera can speak Finnish."],
    ["I never tried climbing.", "Vera never tried climbing."],
    ["Just started learning the harp!", "Vera started learning the harp."],
    ["My wife and I visited the Alps.", "Vera visited the Alps."],
    ['I\'m reading "The Glass Harbour".', "Vera is reading The Glass Harbour."],
    ["Went to Crete in June!", "Vera went to Crete in June 2025."],
    ["My brother Leo works at a bakery.", "Vera's brother Leo works at a bakery."],
    ["My sister lives in Oslo. She has two kids.", "Vera's sister has two kids."],
    ["I'm allergic to walnuts.", "Vera is allergic to walnuts."],
    ["I want to become a vet.", "Vera wants to become a vet."],
    ["I volunteer at a food bank.", "Vera volunteers at a food bank."],
    ["I'm training for a marathon.", "Vera is training for a marathon."],
    ["I lost my job at a mill.", "Vera lost Vera's job at a mill."],
    ["Thanks Milo, I work at a school now.", "Vera works at a school."],
    ["I collect old stamps.", "Vera collects old stamps."],
    ["We have three cats.", "Vera has three cats."],
    ["On another note, I baked rye bread.", "Vera baked rye bread."],
    ["I used to play the oboe as a kid.", "Vera used to play the oboe as a kid."],
  ])("%s", async (content, text) => {
    expect(await told(content)).toContain(text);
  });
});

it("the caption of a picture is not said", async () => {
  expect(await told("Look! [image: a photo of my dog in Lyon, I live there]")).toEqual([]);
});

it("whoever bears a name and talks with an assistant is read like any user", async () => {
  const asked = {
    ...turn("Where do you live?", "Milo", "before"),
    role: "assistant",
    origin: "assistant_message",
  } as const;
  const { name: _name, ...before } = asked;
  const reading = {
    messages: [turn("I'm into jazz. Call me V from now on.", "Vera")],
    earlier: [before],
    known: [],
  };
  const proposals = await rulesExtractor().propose(reading);
  expect(proposals.map((one) => (one.propose === "add" ? one.kind : one.propose))).toContain("preference");
  expect(proposals.length).toBeGreaterThan(1);
});
