import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Embedder } from "../../src/index.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { everythingIn } from "./everything.ts";
import { readPlainLines } from "./files.ts";
import { openMemory } from "./memories.ts";
import { percent } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";

type Mutation =
  | readonly ["supersede", what: string, text: string]
  | readonly ["purge" | "release", what: string];

interface Case {
  readonly id: string;
  readonly category: string;
  readonly setup_facts: readonly string[];
  readonly mutations: readonly Mutation[];
  readonly final_query: string;
  readonly must_contain: readonly string[];
  readonly must_not_contain: readonly string[];
}

interface Tried {
  readonly id: string;
  readonly category: string;
  readonly passed: boolean;
  /** By recall alone, without the profile. */
  readonly byRecall: boolean;
  /** Without any change, the three best by BM25. */
  readonly words: boolean;
  readonly lacks: readonly string[];
  readonly shows: readonly string[];
  /** Of cases that erase: what is still listed, exported, in the history or in the bytes of the file. */
  readonly left: readonly string[];
  readonly isErasing: boolean;
}

/**
 * Facts are added, some are replaced or erased by a description of what is meant, and a question is asked. A model is
 * shown the profile and what is recalled. Passed is what shows all that must come and nothing that must not.
 */
export async function forgetCases({ data, limit, embedder, progress }: RunOptions): Promise<Run> {
  const all = readPlainLines<Case>(data, "forget_cases", "forgeteval_sample.jsonl").slice(0, limit);
  const tried: Tried[] = [];
  for (const one of all) {
    tried.push(await run(one, embedder));
    progress(tried.length, all.length);
  }
  const erasing = tried.filter(({ isErasing }) => isErasing);
  const passed = tried.map((one) => Number(one.passed));
  return {
    report: {
      set: "forget-cases",
      metrics: {
        passed: percent(passed),
        passed_count: passed.filter(Boolean).length,
        passed_by_recall_alone: percent(tried.map(({ byRecall }) => Number(byRecall))),
        left: erasing.length === 0 ? 0 : percent(erasing.map(({ left }) => Number(left.length > 0))),
        ...Object.fromEntries(
          [...Map.groupBy(tried, ({ category }) => category)].map(([category, ones]) => [
            `passed (${category})`,
            percent(ones.map((one) => Number(one.passed))),
          ]),
        ),
      },
      baseline: {
        passed: percent(tried.map(({ words }) => Number(words))),
        passed_count: tried.filter(({ words }) => words).length,
      },
      intervals: { passed: interval(passed) },
      counts: { left: erasing.length },
      n: tried.length,
      per_question: tried,
    },
    notes: tried.flatMap(({ id, passed, lacks, shows, left }) => [
      ...(passed
        ? []
        : [`${id}: lacks ${lacks.join("; ") || "nothing"}, shows ${shows.join("; ") || "nothing"}`]),
      ...(left.length > 0 ? [`${id}: still stored: ${left.join("; ")}`] : []),
    ]),
  };
}

async function run(one: Case, embedder: Embedder): Promise<Tried> {
  const folder = mkdtempSync(join(tmpdir(), "forget-cases-"));
  // A minute between one fact and the next, so that newer and older can be told.
  let minute = 0;
  const clock = (): Date => new Date(Date.UTC(2026, 0, 1, 0, minute));
  const isErasing = one.mutations.length > 0 && one.mutations.every(([kind]) => kind !== "supersede");
  try {
    const path = join(folder, "memory.db");
    const found = await (async () => {
      await using memory = await openMemory({ path, embedder, clock });
      const user = memory.scope({ user: "somebody" });
      for (const text of one.setup_facts) {
        minute += 1;
        await user.add({ text });
      }
      for (const mutation of one.mutations) {
        minute += 1;
        if (mutation[0] === "supersede") await user.supersede(mutation[1], { text: mutation[2] });
        else await user.forget(mutation[1]);
      }
      const { items } = await user.recall(one.final_query);
      const { text: profile } = await user.profile();
      // What was so comes too, and says so by its status; the question is what is shown as true.
      const recalled = items.filter(({ status }) => status === "current").map(({ text }) => text);
      return { recalled: recalled.join("\n"), profile, stored: await everythingIn(user) };
    })();
    const bytes = readdirSync(folder).map((file) => readFileSync(join(folder, file)).toString("latin1"));
    const stored = [found.stored, ...bytes].join("\n");
    const { lacks, shows } = judged(one, `${found.profile}\n${found.recalled}`);
    const alone = judged(one, found.recalled);
    const byWords = judged(one, bestByWords(one));
    return {
      id: one.id,
      category: one.category,
      passed: lacks.length + shows.length === 0,
      byRecall: alone.lacks.length + alone.shows.length === 0,
      words: byWords.lacks.length + byWords.shows.length === 0,
      lacks,
      shows,
      left: isErasing ? one.must_not_contain.filter((text) => says(stored, text)) : [],
      isErasing,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function judged({ must_contain, must_not_contain }: Case, text: string): Pick<Tried, "lacks" | "shows"> {
  return {
    lacks: must_contain.filter((one) => !says(text, one)),
    shows: must_not_contain.filter((one) => says(text, one)),
  };
}

function says(text: string, words: string): boolean {
  return text.toLowerCase().includes(words.toLowerCase());
}

function bestByWords({ setup_facts, mutations, final_query }: Case): string {
  const texts = [...setup_facts, ...mutations.flatMap(([, , text]) => text ?? [])];
  return bm25(texts)
    .rank(final_query)
    .slice(0, 3)
    .map((i) => texts[i] ?? "")
    .join("\n");
}
