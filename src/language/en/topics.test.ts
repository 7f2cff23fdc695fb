import { describe, expect, it } from "vitest";
import { isOfTopic, TOPICS } from "./topics.ts";

const topicsOf = (text: string): string[] =>
  [...TOPICS.values()].filter((topic) => isOfTopic(topic, { text })).map(({ name }) => name);

describe("the topics of a statement", () => {
  it.each([
    ["The user lives in Porto.", []],
    ["The user's office is in Ghent.", ["work"]],
    ["The user's in-laws are visiting.", ["family"]],
    ["The user's brother-in-law is a pilot.", ["family"]],
    ["The user studies law in Leuven.", ["study"]],
  ])("of “%s” are %j", (text, topics) => {
    expect(topicsOf(text)).toEqual(topics);
  });

  it("have no word that is in every sentence", () => {
    const common =
      "a an and are at for from he her his i in is it my of on or she that the they to user was with you";
    for (const { name, stems } of TOPICS.values())
      expect([name, common.split(" ").filter((word) => stems.has(word))]).toEqual([name, []]);
  });
});
