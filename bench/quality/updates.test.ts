import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { madeUp, options } from "./made-up.ts";
import { isNewerFirst, updates } from "./updates.ts";

const lines = (...objects: object[]): Buffer =>
  gzipSync(objects.map((one) => JSON.stringify(one)).join("\n"));

const QUESTION = {
  question_id: "q1",
  question_type: "knowledge-update",
  question: "How tall is the mast of my boat?",
  question_date: "2023/09/01 (Fri) 10:00",
  haystack_dates: ["2023/05/30 (Tue) 23:40", "2023/01/30 (Mon) 08:00", "2023/06/02 (Fri) 08:00"],
  haystack_session_ids: ["s1", "s2", "s3"],
  answer_session_ids: ["s1", "s2"],
};

const longmemeval = {
  "longmemeval_s/sessions.jsonl.gz": lines(
    {
      session_id: "s1",
      turns: [{ role: "user", content: "The mast of my boat is nine metres tall now.", has_answer: true }],
    },
    { session_id: "s2", turns: [{ role: "user", content: "The mast is seven metres.", has_answer: true }] },
    { session_id: "s3", turns: [{ role: "user", content: "Bake me a cake." }] },
  ),
  "longmemeval_s/questions.jsonl.gz": lines(
    QUESTION,
    { ...QUESTION, question_id: "q2", question_type: "multi-session" },
    { ...QUESTION, question_id: "q3_abs" },
    { ...QUESTION, question_id: "q4", answer_session_ids: ["s1"] },
  ),
};

const beam = {
  "beam/100K/1/chat.json": [
    {
      batch_number: 1,
      turns: [
        [
          { role: "user", id: 0, content: "My daily quota is 100 calls.", time_anchor: "March-15-2024" },
          { role: "user", id: 1, content: "My daily quota of calls for the key is 200 calls." },
        ],
      ],
    },
  ],
  "beam/100K/1/probing_questions/probing_questions.json": {
    knowledge_update: [
      {
        question: "What is the daily quota of calls?",
        source_chat_ids: { original_info: [0], updated_info: [0, 1] },
      },
      { question: "Nothing new?", source_chat_ids: { original_info: [0], updated_info: [0] } },
      { question: "No shape?", source_chat_ids: [0, 1] },
    ],
  },
};

describe("The newer statement comes first", () => {
  const change = { old: new Set(["old"]), new: new Set(["new", "newest"]) };

  it("where one of its messages stands before every older one", () => {
    expect(isNewerFirst([["other"], ["newest"], ["old"]], change)).toBe(1);
    expect(isNewerFirst([["new"]], change)).toBe(1);
  });

  it("not behind the older one, not in one item with it, and not where neither came", () => {
    expect(isNewerFirst([["old"], ["new"]], change)).toBe(0);
    expect(isNewerFirst([["old", "new"]], change)).toBe(0);
    expect(isNewerFirst([["other"]], change)).toBe(0);
    expect(isNewerFirst([], change)).toBe(0);
  });
});

describe("The updates set", () => {
  it("asks what changed in both data sets, and nothing else", async () => {
    const { report } = await updates(options(madeUp({ ...longmemeval, ...beam })));
    expect(report.n).toBe(2);
    expect(Object.keys(report.metrics)).toEqual([
      "newer_first",
      "newer_first@10",
      "newer_first (longmemeval)",
      "newer_first@10 (longmemeval)",
      "newer_first (beam)",
      "newer_first@10 (beam)",
      "abstained",
      "context_tokens",
    ]);
    // Words decide for BM25: in the first change the newer statement has more of them, in the second it is too long.
    expect(report.baseline).toMatchObject({ "newer_first (longmemeval)": 100, newer_first: 50 });
    expect(Object.keys(report.intervals ?? {})).toContain("newer_first (beam)");
  });

  it("runs on one of the two alone, and says what is missing without both", async () => {
    const { report } = await updates(options(madeUp(beam)));
    expect(report.n).toBe(1);
    await expect(updates(options(madeUp({ "x.json": 0 })))).rejects.toThrow("longmemeval_s");
  });
});
