import { describe, expect, it } from "vitest";
import { beam, beamTalks, idsIn } from "./beam.ts";
import { madeUp, options } from "./made-up.ts";

const said = (id: number, content: string, more: object = {}): object => ({
  role: id % 2 === 0 ? "user" : "assistant",
  id,
  content,
  ...more,
});

const CHAT = [
  {
    batch_number: 1,
    turns: [
      [
        said(0, "My boat is called Heron. ->-> 1,1", { time_anchor: "March-15-2024" }),
        said(1, "A fine name."),
      ],
      [said(2, "The mast is nine metres tall."), said(3, "Noted.")],
    ],
  },
  {
    batch_number: 2,
    turns: [[said(4, "I painted the hull green.", { time_anchor: "April-05-2024" }), said(5, "Lovely.")]],
  },
];

const PROBES = {
  information_extraction: [{ question: "How tall is the mast?", source_chat_ids: [2] }],
  knowledge_update: [
    { question: "What is my boat called?", source_chat_ids: { original_info: [0], updated_info: [4] } },
  ],
  abstention: [{ question: "What did it cost?" }],
  summarization: [{ question: "Sum it up.", source_chat_ids: [77] }],
};

const data = madeUp({
  "beam/100K/1/chat.json": CHAT,
  "beam/100K/1/probing_questions/probing_questions.json": PROBES,
});

describe("BEAM", () => {
  it("gives each message the date of its batch and takes the generator's marks away", () => {
    const [talk] = beamTalks(data);
    expect(talk?.messages.map(({ content }) => content)[0]).toBe("My boat is called Heron.");
    expect(talk?.messages.map(({ at }) => at?.slice(0, 10))).toEqual([
      ...Array(4).fill("2024-03-15"),
      ...Array(2).fill("2024-04-05"),
    ]);
    expect(talk?.messages.map(({ session }) => session)).toEqual(["B1", "B1", "B1", "B1", "B2", "B2"]);
  });

  it("leaves out questions that have no answer or whose messages are not there", () => {
    const [talk] = beamTalks(data);
    expect(talk?.questions.map(({ group, gold }) => [group, [...gold]])).toEqual([
      ["information_extraction", ["2"]],
      ["knowledge_update", ["0", "4"]],
    ]);
  });

  it("reads message ids in every shape that they come in", () => {
    expect(idsIn(7)).toEqual(["7"]);
    expect(idsIn("7, 08")).toEqual(["7", "8"]);
    expect(idsIn([1, "2", [3]])).toEqual(["1", "2", "3"]);
    expect(idsIn({ first: [1], second: { third: 4 } })).toEqual(["1", "4"]);
    expect(idsIn(null)).toEqual([]);
  });

  it("finds the message that answers, beside BM25, with the size of the context and an interval", async () => {
    const { report } = await beam({ ...options(data), limit: 1 });
    expect(report).toMatchObject({
      set: "beam",
      n: 1,
      metrics: { "recall@10": 100, "recall@10 (information_extraction)": 100 },
      baseline: { "recall@10": 100, mrr: 100 },
      intervals: { "recall@10": [100, 100] },
    });
    expect(report.metrics.context_tokens).toBeGreaterThan(0);
    expect(report.metrics.abstained).toBe(0);
    expect(report.per_question).toHaveLength(1);
  });

  it("says where the data comes from when it is not there", () => {
    expect(() => beamTalks(madeUp({ "other.json": 1 }))).toThrow("bench/quality/README.md");
  });
});
