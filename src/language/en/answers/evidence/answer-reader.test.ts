import { describe, expect, it } from "vitest";
import type { Memory } from "../../../../domain/memory.ts";
import type { Message } from "../../../../domain/message.ts";
import { splitSentences } from "../../../../domain/text/split-text.ts";
import { readAnswers } from "./answer-reader.ts";
import type { EvidenceStatement } from "./statements.ts";

/** What was said, with a statement for each sentence of the user's. */
function tell(...said: string[]) {
  const messages = new Map<string, Message>();
  for (const [i, content] of said.entries()) {
    const at = new Date(Date.UTC(2026, 2, 1 + i)).toISOString();
    const id = `m${i}`;
    messages.set(id, {
      id,
      turn: i,
      role: "user",
      content,
      origin: "user_message",
      at,
      storedAt: at,
      digest: "done",
    });
  }
  const statements = [...messages.values()].flatMap(({ id, content, at }) =>
    splitSentences(content).map(
      ({ start, end }): EvidenceStatement => ({
        id: `${id}#0`,
        from: "sentence",
        isListed: false,
        text: content.slice(start, end),
        lead: "",
        speaker: undefined,
        at,
        zone: undefined,
        score: 0,
        rank: 0,
        isOver: false,
        subjects: [],
        isLater: false,
        memory: undefined,
        source: { message: id, start, end },
      }),
    ),
  );
  return { content: { messages, memories: new Map<string, Memory>() }, statements };
}

/** The statements from the most probable on, with their probabilities. */
async function read(question: string, { content, statements }: ReturnType<typeof tell>) {
  const found = await readAnswers(question, statements, () => 0, content);
  return [...found]
    .map(([{ text }, probability]) => ({ text, probability }))
    .sort((one, other) => other.probability - one.probability);
}

const TOLD = tell(
  "The boiler man is coming on Wednesday between eight and ten.",
  "We finally settled on Lisbon for the honeymoon.",
  "My brother keeps two llamas in Devon. I keep bees.",
);

describe("the reader of answers", () => {
  it.each([
    ["who should I expect midweek?", "boiler"],
    ["where are we going after the wedding", "Lisbon"],
    ["what creatures do I look after myself?", "bees"],
    ["which animals does my sibling have?", "llamas"],
  ])("puts the statement first that answers in other words: %s", async (question, held) => {
    const [first, second] = await read(question, TOLD);
    expect(first?.text).toContain(held);
    // The reader is calibrated: what it is less sure of it puts far before the others all the same.
    expect(first?.probability).toBeGreaterThan(3 * (second?.probability ?? 1));
  });

  it.each([
    "what does my sister do for a living?",
    "how much did the honeymoon cost?",
    "what is my blood type?",
  ])("finds no statement likely where none answers: %s", async (question) => {
    const [first] = await read(question, TOLD);
    expect(first?.probability).toBeLessThan(0.5);
  });

  it("reads a clause with what was said before it", async () => {
    const told = tell("My sister is a vet.", "She lives in Graz now.", "My cousin lives in Linz.");
    const [first] = await read("which town is my sister in?", told);
    expect(first?.text).toContain("Graz");
  });

  it("reads a memory that came from no message", async () => {
    const memory = { id: "x", text: "The user plays the oboe.", sources: [] } as unknown as Memory;
    const statement = {
      ...TOLD.statements[0],
      id: "x",
      from: "memory",
      memory,
      source: undefined,
    } as EvidenceStatement;
    const content = { messages: new Map<string, Message>(), memories: new Map([["x", memory]]) };
    const found = await readAnswers("what instrument do I play?", [statement], () => 0, content);
    expect(found.get(statement)).toBeGreaterThan(0.5);
  });

  it("reads nothing for a question without words", async () => {
    expect(await read(" ", TOLD)).toEqual([]);
  });
});
