import { describe, expect, it } from "vitest";
import { madeUp, options } from "./made-up.ts";
import { realtalk, realtalkTalks } from "./realtalk.ts";

const turn = (dia_id: string, speaker: string, clean_text: string, more: object = {}): object => ({
  dia_id,
  speaker,
  clean_text,
  text: "not this",
  ...more,
});

const SESSIONS = {
  session_1: [
    turn("D1:1", "Ann", "We sailed to Heron Island on Sunday."),
    turn("D1:2", "Ben", "Lovely.", { blip_caption: "a green boat", date_time: "29.12.2023, 19:08:31" }),
  ],
  session_1_date_time: "1:56 pm on 8 May, 2023",
  session_10: [turn("D10:1", "Ben", "My sister moved to Oslo.")],
  session_10_date_time: "2023-06-02 08:00:00",
  session_2: [turn("D2:1", "Ann", "Nothing new."), turn("D2:2", "Ben", "")],
  session_2_date_time: "some day",
  events_session_1: ["no session"],
};

const QA = [
  { question: "Where did Ann sail?", answer: "Heron Island", evidence: ["D1:1; D99:1"], category: 1 },
  { question: "When did the sister move?", answer: "June", evidence: ["D10:01"], category: 2 },
  { question: "Nowhere?", answer: "", evidence: ["D9:9"], category: 3 },
  { question: "Empty?", answer: "", evidence: [], category: 3 },
];

const data = madeUp({
  "realtalk/Chat_10_Cleo_Dan.json": { conversation: SESSIONS, qa: QA },
  "realtalk/Chat_2_Ann_Ben.json": { ...SESSIONS, qa: QA },
  "realtalk/notes.json": {},
});

describe("REALTALK", () => {
  it("is read chat by chat, with the sessions inside or at the top, in the order of their numbers", () => {
    const talks = realtalkTalks(data);
    expect(talks.map(({ name }) => name)).toEqual(["Chat_2_Ann_Ben", "Chat_10_Cleo_Dan"]);
    for (const { turns } of talks) {
      expect(turns.map(({ id, session }) => `${session} ${id}`)).toEqual([
        "S1 D1:1",
        "S1 D1:2",
        "S2 D2:1",
        "S2 D2:2",
        "S10 D10:1",
      ]);
    }
  });

  it("takes the clean text with what the picture shows, and every form of date as UTC", () => {
    const [talk] = realtalkTalks(data);
    expect(talk?.turns[1]?.text).toBe("Lovely. a green boat");
    expect(talk?.turns.map(({ at }) => at)).toEqual([
      "2023-05-08T13:56:00.000Z",
      "2023-12-29T19:08:31.000Z",
      undefined,
      undefined,
      "2023-06-02T08:00:00.000Z",
    ]);
  });

  it("leaves out questions without a turn that is there", () => {
    const [talk] = realtalkTalks(data);
    expect(talk?.questions.map(({ group, gold }) => [group, [...gold]])).toEqual([
      ["1 multi-hop", ["D1:1"]],
      ["2 temporal", ["D10:1"]],
    ]);
  });

  it("finds turns and sessions, beside BM25", async () => {
    const { report } = await realtalk(options(data));
    expect(report).toMatchObject({
      set: "realtalk",
      n: 4,
      baseline: { "turn_recall@10": 100, "session_recall@1": 100 },
    });
    expect(report.metrics["turn_recall@10 (1 multi-hop)"]).toBe(100);
    expect(report.metrics.context_tokens).toBeGreaterThan(0);
  });

  it("says where the data comes from when there is none", () => {
    expect(() => realtalkTalks(madeUp({ "x.json": 0 }))).toThrow("bench/quality/README.md");
  });
});
