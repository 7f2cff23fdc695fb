import { beforeEach, describe, expect, it } from "vitest";
import { staticEmbedder } from "../../../../adapters/static/index.ts";
import type { Memory } from "../../../../domain/memory.ts";
import type { Message } from "../../../../domain/message.ts";
import { rulesQuestionReader } from "../../questions/questions.ts";
import { type Rating, ReaderBusyError, rateWindow, type WindowToRate } from "../../transformer/reader.ts";
import { WINDOW } from "../../transformer/windows.ts";
import { answerIndex } from "../answer-index.ts";
import { answerFromEvidence } from "./answer-from-evidence.ts";
import { findEnding } from "./endings.ts";
import { type EvidencePorts, FOUND, weighEvidence } from "./evidence.ts";
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
    user: "ana",
    toQuotableText: (content, _source, { start, end }) => content.slice(start, end),
  };
}

async function weigh(question: string, said: readonly string[], using: EvidencePorts = ports) {
  const sources = tell(question, said);
  const read = rulesQuestionReader().read(question, { at: sources.now, known: [] });
  return weighEvidence(using, sources, readInquiry(question, read), [], true);
}

/** A reader that is busy for a kind of reading. */
function busyFor(busy: Rating): EvidencePorts {
  return {
    ...ports,
    rateWindow: async (window, rating) => {
      if (rating === busy) throw new ReaderBusyError();
      return await rateWindow(window, rating);
    },
  };
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

describe("an answer for which the reader is too busy", () => {
  const question = "What is my badge number?";
  const said = ["My badge number is 4711.", "We talked about the garden for an hour."];

  it("is sure where the reader has time, and doubted where it has none for what would answer", async () => {
    const inTime = answerFromEvidence(await weigh(question, said), true, () => undefined);
    expect(inTime?.text).toContain("4711");
    expect(inTime?.isSure).toBe(true);
    const findings = await weigh(question, said, busyFor("answers"));
    expect(findings.isUnread).toBe(true);
    const answer = answerFromEvidence(findings, true, () => undefined);
    expect(answer?.text).toMatch(/^I'm not certain\..*4711/);
    expect(answer?.isSure).toBe(false);
  });

  it("is doubted where the reader has no time for what may have ended it", async () => {
    const visits = ["The boiler man is coming on Wednesday.", "The boiler is older than our house."];
    const findings = await weigh("Which day does the boiler man come?", visits, busyFor("ends"));
    expect(findings.isUnread).toBe(true);
    const answer = answerFromEvidence(findings, true, () => undefined);
    expect(answer?.text).toMatch(/^I'm not certain\..*Wednesday/);
    expect(answer?.isSure).toBe(false);
  });

  it("fails where the reading failed for another reason", async () => {
    const failing = { ...ports, rateWindow: () => Promise.reject(new Error("no memory")) };
    await expect(weigh(question, said, failing)).rejects.toThrow("no memory");
  });
});
