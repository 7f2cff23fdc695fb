import type { Embedder, ShownMemory } from "../../src/index.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { readPlainLines } from "./files.ts";
import { openMemory } from "./memories.ts";
import { mean, percent } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";
import { holds, wordF1, wordsOf } from "./words.ts";

interface Text {
  readonly id: string;
  readonly text: string;
}

interface Labelled {
  readonly id: string;
  readonly memories: readonly { readonly type: string; readonly content: string }[];
}

interface Named {
  readonly id: string;
  readonly entities: readonly { readonly name: string; readonly type: string }[];
}

/** The other languages of the texts. */
const LANGUAGES = ["de", "es", "fr", "hi", "it", "ko", "pt-BR", "ru", "zh"];
/** Two statements are the same where their words are so much alike. */
const ALIKE = 0.5;
const NOON = "2026-05-10T12:00:00Z";

type Shares = Map<string, number[]>;

interface Collected {
  readonly ours: Shares;
  readonly baseline: Shares;
  readonly sizes: { readonly ours: number[]; readonly baseline: number[] };
}

/**
 * Notes with the memories that people labelled in them, in ten languages. In English: which of the labelled ones were
 * kept, and how many of what was kept was labelled; and whether who and what is named is found by its name. In the other
 * languages, where the rules read nothing: whether a text stands there word for word, and is found by a piece of it.
 */
export async function mempalace({ data, limit, embedder, progress }: RunOptions): Promise<Run> {
  const read = <Shape>(...path: string[]): Shape[] =>
    readPlainLines<Shape>(data, "mempalace_extraction", ...path).slice(0, limit);
  const kept: Collected = { ours: new Map(), baseline: new Map(), sizes: { ours: [], baseline: [] } };
  const texts = read<Text>("memory_extraction", "dataset.jsonl");
  const labels = read<Labelled>("memory_extraction", "labels.jsonl");
  await extracted({ texts, labels, embedder }, kept);
  progress(1, LANGUAGES.length + 2);
  const named = read<Text>("entity_extraction", "dataset.jsonl");
  await entitiesFound(
    { texts: named, labels: read<Named>("entity_extraction", "labels.jsonl"), embedder },
    kept,
  );
  progress(2, LANGUAGES.length + 2);
  for (const [i, language] of LANGUAGES.entries()) {
    const all = read<Text>("memory_extraction", `dataset.${language}.jsonl`);
    await foundAgain({ texts: all, language, embedder }, kept);
    progress(3 + i, LANGUAGES.length + 2);
  }
  const main = ["memory_recall", "memory_precision", "entity_found@1", "verbatim", "found@1"];
  return {
    baseline: "sentences",
    report: {
      set: "mempalace",
      metrics: { ...ratesOf(kept.ours), memory_words: rounded(mean(kept.sizes.ours)) },
      baseline: { ...ratesOf(kept.baseline), memory_words: rounded(mean(kept.sizes.baseline)) },
      intervals: Object.fromEntries(main.map((name) => [name, interval(kept.ours.get(name) ?? [])])),
      counts: Object.fromEntries(main.map((name) => [name, kept.ours.get(name)?.length ?? 0])),
      n: texts.length,
    },
    notes: [
      "The baseline keeps every sentence as a memory, and finds by plain BM25. memory_words: the mean number of words kept of a text.",
    ],
  };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function ratesOf(shares: Shares): Record<string, number> {
  return Object.fromEntries([...shares].map(([name, values]) => [name, percent(values)]));
}

function note(shares: Shares, names: readonly string[], ...values: boolean[]): void {
  for (const name of names) shares.set(name, [...(shares.get(name) ?? []), ...values.map(Number)]);
}

async function extracted(
  given: { texts: readonly Text[]; labels: readonly Labelled[]; embedder: Embedder },
  kept: Collected,
): Promise<void> {
  const { texts, labels, embedder } = given;
  await using memory = await openMemory({ path: ":memory:", embedder, clock: () => new Date(NOON) });
  for (const { id, text } of texts) {
    const gold = labels.find((one) => one.id === id)?.memories ?? [];
    const user = memory.scope({ user: id });
    await user.remember(text);
    const ours = (await user.list({ limit: 200 })).items.map((one) => one.text);
    compare(kept.ours, ours, gold);
    compare(kept.baseline, sentencesOf(text), gold);
    kept.sizes.ours.push(wordsOf(ours.join(" ")).length);
    kept.sizes.baseline.push(wordsOf(text).length);
  }
}

/** Each labelled memory with the one that is most like it, each once, the closest pairs first. */
function compare(shares: Shares, made: readonly string[], gold: Labelled["memories"]): void {
  const pairs = gold
    .flatMap(({ content }, g) => made.map((text, m) => ({ g, m, alike: wordF1(text, content) })))
    .filter(({ alike }) => alike >= ALIKE)
    .sort((one, other) => other.alike - one.alike);
  const foundGold = new Set<number>();
  const foundMade = new Set<number>();
  for (const { g, m } of pairs) {
    if (foundGold.has(g) || foundMade.has(m)) continue;
    foundGold.add(g);
    foundMade.add(m);
  }
  for (const [g, { type }] of gold.entries())
    note(shares, ["memory_recall", `memory_recall (${type})`], foundGold.has(g));
  note(shares, ["memory_precision"], ...made.map((_, m) => foundMade.has(m)));
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?。！？।])\s*/u).filter((sentence) => sentence.trim() !== "");
}

async function entitiesFound(
  given: { texts: readonly Text[]; labels: readonly Named[]; embedder: Embedder },
  kept: Collected,
): Promise<void> {
  const { texts, labels, embedder } = given;
  await using memory = await openMemory({ path: ":memory:", embedder, clock: () => new Date(NOON) });
  const user = memory.scope({ user: "reader" });
  await user.remember(texts.map(({ id, text }) => ({ id, role: "user" as const, content: text })));
  const memories: ShownMemory[] = [];
  for await (const one of user.list({ limit: 200 })) memories.push(one);
  const index = bm25(texts.map(({ text }) => text));
  for (const { id, entities } of labels) {
    const own = memories.filter(({ sources }) => sources.some(({ message }) => message === id));
    for (const { name } of entities) {
      const { items } = await user.recall(name, { limit: 10 });
      note(kept.ours, ["entity_found@1"], holds(items[0]?.text ?? "", name));
      note(
        kept.ours,
        ["entity_in_memory"],
        own.some(({ text }) => holds(text, name)),
      );
      note(kept.baseline, ["entity_found@1"], holds(texts[index.rank(name)[0] ?? 0]?.text ?? "", name));
    }
  }
}

/** By the last sentence of each text, or its second half where it has one sentence. */
async function foundAgain(
  given: { texts: readonly Text[]; language: string; embedder: Embedder },
  kept: Collected,
): Promise<void> {
  const { texts, language, embedder } = given;
  await using memory = await openMemory({ path: ":memory:", embedder, clock: () => new Date(NOON) });
  const user = memory.scope({ user: "reader" });
  await user.remember(texts.map(({ id, text }) => ({ id, role: "user" as const, content: text })));
  const index = bm25(texts.map(({ text }) => text));
  for (const { id, text } of texts) {
    const piece = pieceOf(text);
    const { items } = await user.recall(piece, { limit: 10 });
    const isThere = items.some(({ sources }) =>
      sources.some(({ message, quote }) => message === id && text.includes(quote) && holds(quote, piece)),
    );
    note(kept.ours, ["verbatim", `verbatim (${language})`], isThere);
    const first = items[0]?.sources.some(({ message }) => message === id) ?? false;
    note(kept.ours, ["found@1", `found@1 (${language})`], first);
    const best = texts[index.rank(piece)[0] ?? -1]?.id === id;
    note(kept.baseline, ["found@1", `found@1 (${language})`], best);
  }
}

function pieceOf(text: string): string {
  const all = sentencesOf(text);
  return all.length > 1 ? (all.at(-1) ?? text).trim() : text.slice(Math.floor(text.length / 2));
}
