import { describe, expect, it } from "vitest";
import { staticEmbedder } from "../../../adapters/static/index.ts";
import type { Message } from "../../../domain/message.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { splitSegments } from "../transformer/segments.ts";
import { rateClauses } from "./clause-network.ts";
import { clauseWords, requestWords } from "./clause-words.ts";
import { rateSegments } from "./retrieve.ts";
import { wantedIn } from "./wanted.ts";

function messagesOf(texts: readonly string[]): Message[] {
  return texts.map((content, i) => {
    const at = new Date(Date.UTC(2026, 2, 2, 10, i)).toISOString();
    return {
      id: `m${i}`,
      turn: i + 1,
      role: "user",
      content,
      origin: "user_message",
      session: "s",
      at,
      storedAt: at,
      digest: "done",
    };
  });
}

/** The clauses of what was said, with the best first. `request` is the last message. */
async function rank(said: readonly string[], request: string, phrase: string): Promise<readonly string[]> {
  const messages = messagesOf([...said, request]);
  const asking = messages.at(-1) as Message;
  const content: StoredContent = {
    messages: new Map(messages.map((one) => [one.id, one])),
    memories: new Map(),
  };
  const source = { message: asking, spans: [{ start: 0, end: request.length }] };
  const description = { phrase, wanted: wantedIn(phrase), isBroad: false };
  const rated = await rateSegments({ embedder: staticEmbedder() }, content, description, source);
  return rated.toSorted((one, other) => other.probability - one.probability).map(({ text }) => text);
}

const SAID = [
  "I drive a tram in Lodz.",
  "The doctor has put me on insulin twice a day.",
  "My sister Hania is getting married in June.",
  "We still owe the bank forty thousand.",
];

describe("the clause that a request means, in other words than it was told in", () => {
  it.each([
    ["please drop the medical stuff from your memory", "the medical stuff", "insulin"],
    ["could you lose what I said about our debts", "our debts", "forty thousand"],
  ])("“%s”", async (request, phrase, word) => {
    expect((await rank(SAID, request, phrase))[0]).toContain(word);
  });
});

describe("the network that rates clauses", () => {
  it("gives nothing to a request without words", async () => {
    const [said = ""] = SAID;
    const clauses = splitSegments(said).map((clause) => ({ text: clauseWords(clause, said), signs: {} }));
    expect(await rateClauses(await requestWords("", undefined), clauses)).toEqual([0]);
  });

  it("reads a clause of more words than it has places for", async () => {
    const long = `${"bees ".repeat(300)}and hens`;
    const clauses = splitSegments(long).map((clause) => ({ text: clauseWords(clause, long), signs: {} }));
    const rated = await rateClauses(await requestWords("the bees", undefined), clauses);
    expect(rated.every((one) => one > 0 && one < 1)).toBe(true);
  });
});
