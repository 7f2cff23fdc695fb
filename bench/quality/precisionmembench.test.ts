import { describe, expect, it } from "vitest";
import { madeUp, options } from "./made-up.ts";
import { judged, precisionmembench } from "./precisionmembench.ts";

const belief = (id: string, content: string, more: object = {}): object => ({
  _id: id,
  user_id: "test-user",
  canonical_name: id.replace("b-", ""),
  aliases: [],
  content,
  scope: ["domain:boat"],
  superseded_by: null,
  resolved_at: null,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-02T00:00:00Z",
  ...more,
});

const BELIEFS = [
  belief("b-sail", "Uses a red sail of canvas.", { superseded_by: "b-new-sail" }),
  belief("b-new-sail", "Uses a white sail of dacron.", { created_at: "2026-03-01T00:00:00Z" }),
  belief("b-anchor", "The anchor weighs nine kilos.", { aliases: ["mudhook"] }),
  belief("b-sail-book", "Writes a book about a sail maker.", { scope: ["domain:book"] }),
  belief("b-others", "The sail is purple.", { user_id: "somebody" }),
];

const expected = (only: string[], more: object = {}): object => ({
  relevantBeliefs: { shouldOnlyInclude: only },
  ...more,
});

const CASES = [
  {
    caseId: "sail",
    category: "one",
    scope: ["domain:boat"],
    query: "Is it a white sail of dacron?",
    expect: expected(["b-new-sail"]),
  },
  {
    caseId: "alias",
    category: "two",
    scope: ["domain:boat"],
    query: "What does the mudhook anchor weigh?",
    expect: expected(["b-anchor"]),
  },
  { caseId: "empty", category: "two", scope: ["domain:boat"], query: "  ", expect: expected([]) },
  {
    caseId: "none",
    category: "two",
    scope: ["domain:boat"],
    query: "sail?",
    budget: { maxBeliefs: 0 },
    expect: expected([]),
  },
  {
    caseId: "stranger",
    category: "two",
    scope: ["domain:boat"],
    query: "Is it a white sail of dacron?",
    userId: "nobody",
    expect: expected([], { pinnedFacts: { mustExclude: ["b-others"] } }),
  },
];

describe("A case of PrecisionMemBench", () => {
  it("counts what was wanted, and not what may come besides", () => {
    const expect_ = {
      relevantBeliefs: { shouldOnlyInclude: ["a", "b"] },
      pinnedFacts: { mustInclude: ["p"] },
      openQuestions: { mustExclude: ["x"] },
    };
    expect(judged(["a", "p", "c"], { expect: expect_ })).toEqual({
      precision: 0.5,
      recall: 0.5,
      kept_out: 1,
    });
    expect(judged(["x"], { expect: expect_ })).toEqual({ precision: 0, recall: 0, kept_out: 0 });
    expect(judged([], { expect: expect_ })).toMatchObject({ precision: 0, recall: 0 });
  });

  it("is right to stay silent where nothing is wanted", () => {
    const nothing = { expect: { relevantBeliefs: { shouldOnlyInclude: [] } } };
    expect(judged([], nothing)).toEqual({ precision: 1, silent: 1 });
    expect(judged(["a"], nothing)).toEqual({ precision: 0, silent: 0 });
    expect(judged(["a"], { expect: {} })).toEqual({});
  });
});

describe("PrecisionMemBench", () => {
  const data = madeUp({
    "precisionmembench/beliefs.seed.json": BELIEFS,
    "precisionmembench/retrieval.cases.json": CASES,
  });

  it("keeps to user and scope, leaves out what has ended, and goes by every name", async () => {
    const { report } = await precisionmembench(options(data));
    const came = report.per_question as readonly { id: string; came: string[] }[];
    expect(came.map(({ id }) => id)).toEqual(["sail", "alias", "stranger"]);
    expect(came[0]?.came).toContain("b-new-sail");
    expect(came[0]?.came).not.toContain("b-sail");
    expect(came[0]?.came).not.toContain("b-others");
    expect(came[0]?.came).not.toContain("b-sail-book");
    expect(came[1]?.came).toContain("b-anchor");
    expect(came[2]?.came).toEqual([]);
    // BM25 knows nothing of what has ended.
    expect(report.baseline).toMatchObject({ precision: 83.3, recall: 100, silent: 100, kept_out: 100 });
  });
});
