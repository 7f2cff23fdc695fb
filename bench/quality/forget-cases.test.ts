import { describe, expect, it } from "vitest";
import { forgetCases } from "./forget-cases.ts";
import { madeUp, options } from "./made-up.ts";

const one = (id: string, fields: object): object => ({
  id,
  category: "made up",
  setup_facts: ["Ivo lives in Malmö.", "The ferry to Malmö leaves at noon."],
  mutations: [],
  final_query: "Where does Ivo live?",
  must_contain: [],
  must_not_contain: [],
  ...fields,
});

const CASES = [
  one("replaced", {
    mutations: [["supersede", "Ivo residence city", "Ivo lives in Turku."]],
    must_contain: ["Turku"],
    must_not_contain: ["Ivo lives in Malmö"],
  }),
  one("erased", { mutations: [["purge", "Ivo residence"]], must_not_contain: ["Ivo lives in Malmö"] }),
  one("not done", { must_contain: ["Turku"], must_not_contain: ["Malmö"] }),
];

const data = madeUp({
  "forget_cases/forgeteval_sample.jsonl": Buffer.from(CASES.map((one) => JSON.stringify(one)).join("\n")),
});

describe("forget-cases", () => {
  it("passes what shows all that must come and nothing that must not, and reads the bytes after an erasure", async () => {
    const { report, notes } = await forgetCases(options(data));
    expect(report).toMatchObject({ set: "forget-cases", n: 3, counts: { left: 1 } });
    expect(report.metrics).toMatchObject({ passed_count: 2, left: 0 });
    expect(notes.join("\n")).toMatch(/not done: lacks Turku, shows Malmö/);
  });
});
