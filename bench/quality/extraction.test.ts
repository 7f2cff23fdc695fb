import { describe, expect, it } from "vitest";
import { madeUp, options } from "./made-up.ts";
import { mempalace } from "./mempalace.ts";
import { personaext } from "./personaext.ts";
import { holds, wordF1 } from "./words.ts";

const lines = (...rows: object[]): Buffer => Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n"));

const STATEMENTS = lines(
  { utterance: "I live in Turin , and I play the oboe .", relation: "live_in", head: "i", tail: "turin" },
  { utterance: "I live in Turin , and I play the oboe .", relation: "plays", head: "i", tail: "oboe" },
  { utterance: "Nice weather today !", relation: "other", head: "i", tail: "weather" },
);

const texts = (text: string): Buffer => lines({ id: "n1", text }, { id: "n2", text: "Ottiwell likes tea." });
const NOTE = "Maren prefers paper maps to screens. It rained.";
const LABELS = [
  { type: "preference", content: "Maren prefers paper maps to screens." },
  { type: "fact", content: "The bridge at Holm is closed." },
];
const LANGUAGES = ["de", "es", "fr", "hi", "it", "ko", "pt-BR", "ru", "zh"];

const data = madeUp({
  "personaext/pairs.jsonl": STATEMENTS,
  "mempalace_extraction/memory_extraction/dataset.jsonl": lines({ id: "n1", text: NOTE }),
  "mempalace_extraction/memory_extraction/labels.jsonl": lines({ id: "n1", memories: LABELS }),
  "mempalace_extraction/entity_extraction/dataset.jsonl": texts(NOTE),
  "mempalace_extraction/entity_extraction/labels.jsonl": lines({
    id: "n1",
    entities: [{ name: "Maren", type: "person" }],
  }),
  ...Object.fromEntries(
    LANGUAGES.map((language) => [
      `mempalace_extraction/memory_extraction/dataset.${language}.jsonl`,
      texts("Wir fahren nach Holm. Die Brücke ist wieder offen."),
    ]),
  ),
});

describe("PersonaExt", () => {
  it("counts each label of a statement, and says how much was kept beside the whole message", async () => {
    const { report, baseline } = await personaext(options(data));
    expect(baseline).toBe("sentence");
    expect(report.n).toBe(3);
    expect(report.metrics.holds_gold).toBe(66.7);
    expect(report.metrics["value_f1>=0.5"]).toBe(66.7);
    expect(report.metrics["holds_gold (other)"]).toBe(0);
    expect(report.baseline).toMatchObject({ holds_gold: 100, memories: 1, memory_words: 6 });
    expect(report.metrics.memories).toBe(1);
  });
});

describe("MemPalace", () => {
  it("pairs what was kept with what was labelled, one to one", async () => {
    const { report } = await mempalace(options(data));
    expect(report.metrics).toMatchObject({
      memory_recall: 50,
      "memory_recall (preference)": 100,
      "memory_recall (fact)": 0,
      "entity_found@1": 100,
      entity_in_memory: 100,
    });
    expect(report.baseline).toMatchObject({ memory_recall: 50, memory_precision: 50 });
  });

  it("finds a note of another language by a piece of it, word for word", async () => {
    const { report } = await mempalace(options(data));
    expect(report.metrics).toMatchObject({ verbatim: 100, "found@1 (de)": 100 });
  });
});

describe("Comparing words", () => {
  it("looks for whole words in order, in any case", () => {
    expect(holds("She owns a Blue Heron boat.", "blue heron")).toBe(true);
    expect(holds("She owns a heron, blue.", "blue heron")).toBe(false);
    expect(holds("She reheated it.", "heat")).toBe(false);
    expect(holds("Anything", "")).toBe(false);
  });

  it("counts a word that stands twice twice", () => {
    expect(wordF1("tea and tea", "tea")).toBeCloseTo(0.5);
    expect(wordF1("tea", "coffee")).toBe(0);
  });
});
