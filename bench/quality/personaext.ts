import type { ShownMemory } from "../../src/index.ts";
import { interval } from "./bootstrap.ts";
import { readPlainLines } from "./files.ts";
import { openMemory } from "./memories.ts";
import { mean, named, table } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";
import { holds, wordF1, wordsOf } from "./words.ts";

/** One thing that a statement tells. */
interface Row {
  readonly utterance: string;
  readonly relation: string;
  readonly head: string;
  readonly tail: string;
}

/** What was kept of a statement: the sentences, and the shortest words for the thing in each. */
interface Kept {
  readonly texts: readonly string[];
  readonly values: readonly string[];
}

const HOLDS = "holds_gold";
const SHORT = "value_f1>=0.5";

/**
 * Single statements of strangers about themselves, each with one thing that it tells. Passed where the text of one memory
 * holds it, whole words in order. The baseline keeps the whole message as one memory: it holds nearly everything, so the
 * size stands beside both, and so does whether the value alone, without the words around it, is what was told.
 */
export async function personaext({ data, limit, embedder, progress }: RunOptions): Promise<Run> {
  const rows = readPlainLines<Row>(data, "personaext", "pairs.jsonl").slice(0, limit);
  const ours = table();
  const whole = table();
  const sizes = { ours: [] as number[], whole: [] as number[], count: [] as number[] };
  const per_question: object[] = [];
  await using memory = await openMemory({ path: ":memory:", embedder, clock: () => new Date(NOON) });
  const statements = [...Map.groupBy(rows, ({ utterance }) => utterance)];
  for (const [i, [utterance, golds]] of statements.entries()) {
    const user = memory.scope({ user: `u${i}` });
    await user.remember(utterance);
    const kept = keptOf((await user.list({ limit: 100 })).items);
    for (const gold of golds) {
      const scored = scoreOf(kept, gold);
      ours.add(gold.relation, scored);
      whole.add(gold.relation, scoreOf({ texts: [utterance], values: [utterance] }, gold));
      per_question.push({ ...gold, kept: kept.texts, ...scored });
    }
    sizes.ours.push(wordsOf(kept.texts.join(" ")).length);
    sizes.whole.push(wordsOf(utterance).length);
    sizes.count.push(kept.texts.length);
    progress(i + 1, statements.length);
  }
  const size = { memory_words: rounded(mean(sizes.ours)), memories: rounded(mean(sizes.count)) };
  return {
    baseline: "sentence",
    report: {
      set: "personaext",
      metrics: { ...named("", ours, [HOLDS, SHORT]), ...size },
      baseline: {
        ...named("", whole, [HOLDS, SHORT]),
        memory_words: rounded(mean(sizes.whole)),
        memories: 1,
      },
      intervals: { [HOLDS]: interval(ours.values(HOLDS)), [SHORT]: interval(ours.values(SHORT)) },
      n: rows.length,
      per_question,
    },
    notes: [
      "The baseline keeps each message as one memory. memory_words: the mean number of words kept of a message.",
    ],
  };
}

/** When everything is said. */
const NOON = "2026-01-05T12:00:00Z";

function keptOf(memories: readonly ShownMemory[]): Kept {
  return {
    texts: memories.map(({ text }) => text),
    values: memories.map(({ text, claim }) => claim?.value || text),
  };
}

function scoreOf({ texts, values }: Kept, { tail }: Row): { [HOLDS]: number; [SHORT]: number } {
  return {
    [HOLDS]: Number(texts.some((text) => holds(text, tail))),
    [SHORT]: Number(values.some((value) => wordF1(value, tail) >= 0.5)),
  };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
