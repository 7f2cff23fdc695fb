import { describe, expect, it } from "vitest";
import { readRequest } from "./request-network.ts";
import { requestByWords } from "./request-sentences.ts";

describe("the network for requests to forget", () => {
  it.each([
    "I'd like the whole holiday out of your memory",
    "burn everything I told you about the loan",
    "my overdraft is nobody's business, get shot of it",
    "no more Bernard in your notes, please",
  ])("finds a request without a verb of its kind: %s", (sentence) => {
    expect(readRequest(sentence).probability).toBeGreaterThan(0.5);
  });

  it.each([
    "I moved to Porto in May and work at the harbour.",
    "What did I say about my sister's wedding?",
    "we threw out the old sofa on Sunday",
    "Could you shorten the second paragraph?",
  ])("finds none in: %s", (sentence) => {
    expect(readRequest(sentence)).toEqual({ probability: expect.any(Number), spans: [] });
    expect(readRequest(sentence).probability).toBeLessThan(0.5);
  });

  it("labels the words for what is to go", () => {
    const sentence = "burn everything I told you about the loan";
    const found = readRequest(sentence).spans.map(({ part, start, end }) => [
      part,
      sentence.slice(start, end),
    ]);
    expect(found.some(([part, words]) => part === "target" && words?.includes("loan"))).toBe(true);
  });

  it.each(["", "   ", "word ".repeat(500)])(
    "reads nothing in an empty or an endless sentence",
    (sentence) => {
      expect(readRequest(sentence)).toEqual({ probability: 0, spans: [] });
    },
  );

  it("never makes a request so likely that it is carried out unasked", () => {
    const probability = requestByWords("please get shot of my overdraft")?.probability;
    expect(probability).toBeGreaterThan(0.8);
    expect(probability).toBeLessThan(0.9);
  });
});
