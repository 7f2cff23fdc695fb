import { beforeEach, describe, expect, it } from "vitest";
import { staticEmbedder } from "../../../../adapters/static/index.ts";
import type { Memory } from "../../../../domain/memory.ts";
import type { Message } from "../../../../domain/message.ts";
import { rulesQuestionReader } from "../../questions/questions.ts";
import { type Rating, rateWindow, type WindowToRate } from "../../transformer/reader.ts";
import { WINDOW } from "../../transformer/windows.ts";
import { answerIndex } from "../answer-index.ts";
import { findEnding } from "./endings.ts";
import { FOUND, weighEvidence } from "./evidence.ts";
import { readInquiry } from "./inquiry.ts";
import { listStatements, type StatementSources } from "./statements.ts";

let windows: { readonly rating: Rating; readonly tokens: number }[];
const ports = {
  embedder: staticEmbedder(),
  rateWindow: (window: WindowToRate, rating: Rating) => {
    windows.push({ rating, tokens: window.tokens.length });
    return rateWindow(window, rating);
  },
};

beforeEach(() => {
  windows = [];
});

/** All that a user said, one message a day, without a memory. */
function tell(question: string, said: readonly string[]): StatementSources {
  const messages = new Map(
    said.map((content, turn): [string, Message] => {
      const [id, at] = [`m${turn}`, new Date(Date.UTC(2026, 2, 1 + turn)).toISOString()];
      return [
        id,
        { id, turn, role: "user", content, origin: "user_message", at, storedAt: at, digest: "done" },
      ];
    }),
  );
  const memories = new Map<string, Memory>();
  return {
    question,
    items: [],
    content: { messages, memories, revision: 1 },
    index: answerIndex(memories),
    mayUse: () => true,
    isUnbounded: true,
    now: "2026-06-01T00:00:00.000Z",
    asOf: undefined,
    toQuotableText: (content, _source, { start, end }) => content.slice(start, end),
  };
}

async function weigh(question: string, said: readonly string[]) {
  const sources = tell(question, said);
  const read = rulesQuestionReader().read(question, { at: sources.now, known: [] });
  return weighEvidence(ports, sources, readInquiry(question, read), [], true);
}

const read = (rating: Rating) => windows.filter((window) => window.rating === rating);

describe("what the reader reads for an answer", () => {
  it("is one window, however much was said", async () => {
    const places = "Lisbon Ghent Turin Graz Lyon Bergen Porto Malmo".split(" ");
    const said = Array.from(
      { length: 40 },
      (_, i) =>
        `Last week number ${i} I went to ${places[i % 8]} with my sister, and we stayed for ${i + 2} nights.`,
    );
    await weigh("Which aquarium did I go to in Genoa?", said);
    expect(read("answers")).toHaveLength(1);
    expect(read("answers")[0]?.tokens).toBeLessThan(WINDOW + 20);
  });

  it("is no ending of a statement that is too improbable to be said", async () => {
    const { evidence } = await weigh("What is my blood type?", [
      "My boiler is a Worcester.",
      "I sold the Worcester and bought a Vaillant boiler.",
    ]);
    expect(evidence[0]?.statement.text).toContain("is a Worcester");
    expect(evidence[0]?.probability).toBeLessThan(FOUND);
    expect(read("ends")).toEqual([]);
  });

  it("is the end of a statement that would be said", async () => {
    await weigh("Which day does the boiler man come?", [
      "The boiler man is coming on Wednesday.",
      "The boiler man cancelled, he comes on Friday now.",
      "The boiler is older than our house, and the man said so.",
    ]);
    expect(read("ends").length).toBeGreaterThan(0);
  });

  it("is nothing behind an ending that no farther statement can come before", async () => {
    const said = listStatements(tell("", ["I don't work at the bakery anymore.", "They bake rye bread."]));
    const earlier = { text: "I work at the bakery.", at: "2026-02-01T00:00:00.000Z" };
    const found = await findEnding(ports, earlier, said, { read: () => 0, isOfOther: () => false });
    expect(found?.text).toContain("anymore");
    expect(read("ends")).toHaveLength(1);
  });
});
