import { describe, expect, it } from "vitest";
import type { Message } from "../../../domain/message.ts";
import type { AddProposal } from "../../../ports/language/extractor.ts";
import { englishExtractor } from "../extractor.ts";
import type { RulesReading } from "../grammar/known-memory.ts";
import { readClauses } from "./read-clauses.ts";
import { isTold } from "./reconcile.ts";

/** The wordings of the clauses that tell something of the speaker. */
const told = (text: string, speaker = "the user"): string[] =>
  readClauses(text, speaker)
    .filter(isTold)
    .map(({ wording }) => wording.text);

describe("a clause is reworded in the third person", () => {
  it.each([
    ["now I rent a studio in Walthamstow", "The user rents a studio in Walthamstow."],
    ["Moved out of the flat in Hackney last week.", "The user moved out of the flat in Hackney last week."],
    ["I've been seeing my therapist since March.", "The user has been seeing their therapist since March."],
    ["Learning Welsh on Duolingo.", "The user is learning Welsh on Duolingo."],
    ["Been married since June.", "The user has been married since June."],
    ["I can't stand coriander.", "The user cannot stand coriander."],
    ["When I fly I always take an aisle seat.", "The user always takes an aisle seat when they fly."],
    ["im gonna buy a car", "The user is going to buy a car."],
    [
      "My boss says we have to come in on fridays.",
      "The user's boss says the user has to come in on fridays.",
    ],
    ["My sister Ana is vegan.", "The user's sister Ana is vegan."],
  ])("%s", (text, wording) => {
    expect(told(text)).toContain(wording);
  });

  it("names a speaker who has a name", () => {
    expect(told("I adopted a dog and I walk him every day.", "Mia")[0]).toBe("Mia adopted a dog.");
  });
});

describe("each clause is read for itself", () => {
  it("a relative clause, an embedded clause and a coordination are statements of their own", () => {
    expect(told("My sister Ana, who lives in Denver, is vegan.")).toEqual([
      "The user's sister Ana lives in Denver.",
      "The user's sister Ana is vegan.",
    ]);
    expect(told("Can you suggest a recipe for the dinner party I'm hosting on Saturday?")).toEqual([
      "The user is hosting the dinner party on Saturday.",
    ]);
    expect(told("i dont do nights anymore, switched to days")).toEqual([
      "The user does not do nights anymore.",
      "The user switched to days.",
    ]);
  });

  it("questions, conditions and what is about others tell nothing", () => {
    expect(told("Do I need a visa?")).toEqual([]);
    expect(told("If I move to Oslo, I will sell the car.")).toEqual([]);
    expect(told("You should try the new place.")).toEqual([]);
    expect(told("Got any tips?")).toEqual([]);
  });
});

describe("the extractor", () => {
  const read = async (content: string, more: Partial<Message> = {}): Promise<AddProposal[]> => {
    const message = {
      id: "m",
      role: "user",
      origin: "user_message",
      content,
      at: "2026-05-04T10:00:00Z",
      ...more,
    };
    const reading = { messages: [message as Message], earlier: [], known: [] } as unknown as RulesReading;
    const proposals = await englishExtractor().propose(reading);
    return proposals.filter((one): one is AddProposal => one.propose === "add");
  };

  it.each([
    ["I distil gin in the garage.", "The user distils gin in the garage."],
    ["My uncle Piet still works as a roofer.", "The user's uncle Piet still works as a roofer."],
    ["My aunt in Faro sends us figs.", "The user's aunt in Faro sends the user figs."],
  ])("reads by its tree what the rules pass over in a short message: %s", async (said, memory) => {
    expect((await read(said)).map(({ text }) => text)).toContain(memory);
  });

  it("keeps what lasts, and drops what is of the moment", async () => {
    expect((await read("I live in Leeds and I'm allergic to peanuts.")).length).toBe(2);
    expect(await read("I'm not sure if this is the best way to do it. Can you check?")).toEqual([]);
    expect(await read("I'm trying to find a good recipe, can you help?")).toEqual([]);
  });

  it("quotes the words that a memory comes from", async () => {
    const content = "By the way, my wife and I adopted a rescue greyhound last week.";
    for (const { start, end } of await read(content)) {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeLessThanOrEqual(content.length);
      expect(content.slice(start, end)).not.toBe("");
    }
  });

  it("reads nothing of text that is not the user's own", async () => {
    expect(await read("I live in Leeds.", { role: "assistant" })).toEqual([]);
  });
});
