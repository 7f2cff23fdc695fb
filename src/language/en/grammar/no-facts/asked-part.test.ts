import { describe, expect, it } from "vitest";
import { extractAdditions } from "../../../../testing/test-doubles.ts";
import { rulesExtractor } from "../rules.ts";

const texts = async (content: string): Promise<string[]> =>
  (await extractAdditions(rulesExtractor(), content)).map(({ text }) => text);

describe("a question stores nothing", () => {
  it.each([
    "where does my sister live?",
    "Where does my brother Ben work",
    "Do you remember my cat?",
    "is my cousin older than me",
    "what's my car called",
    "hey, how old is my son?",
    "Who is my nephew's teacher?",
    "do you know where my aunt works",
    "Can my kids eat honey?",
    "remind me what my wife likes",
    "my sister lives where?",
    "How old are my twins Ada and Bo?",
    "Have I told you about my piano?",
  ])("%s", async (asked) => {
    expect(await texts(asked)).toEqual([]);
  });
});

describe("what stands before a question is told", () => {
  it.each([
    ["I love my dog, do you have pets?", "The user loves their dog."],
    ["my dog barks a lot, is that normal?", "The user has a dog."],
    ["When my sister visits, we bake.", "The user has a sister."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toContain(told);
  });
});
