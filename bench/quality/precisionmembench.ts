import type { Embedder, ScopedMemory } from "../../src/index.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { sizeOf } from "./contexts.ts";
import { readJson } from "./files.ts";
import { openMemory } from "./memories.ts";
import { type Metrics, mean, percent } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";

interface Belief {
  readonly _id: string;
  readonly user_id: string;
  readonly canonical_name: string;
  readonly aliases: readonly string[];
  readonly content: string;
  readonly scope: readonly string[];
  readonly superseded_by: string | null;
  readonly resolved_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

interface Expected {
  readonly mustInclude?: readonly string[];
  readonly mustExclude?: readonly string[];
  readonly shouldOnlyInclude?: readonly string[];
}

interface Case {
  readonly caseId: string;
  readonly category: string;
  readonly scope: readonly string[];
  readonly query: string;
  readonly userId?: string;
  readonly budget?: { readonly maxBeliefs?: number };
  readonly expect: {
    readonly relevantBeliefs?: Expected;
    readonly pinnedFacts?: Expected;
    readonly openQuestions?: Expected;
  };
}

const FOLDER = "precisionmembench";
const MAIN = ["precision", "recall"];
const USER = "test-user";

/**
 * PrecisionMemBench: what is known of a user, and queries with what must and must not come back. Each belief is added
 * as a memory under all its names and filtered by its scope; one that was superseded or settled has ended. What its
 * author's system always shows besides ("pinned", "open questions") may come and is not counted. Queries without a
 * word and a budget of nothing are left out.
 */
export async function precisionmembench({ data, limit, embedder, progress }: RunOptions): Promise<Run> {
  const beliefs = readJson<Belief[]>(data, FOLDER, "beliefs.seed.json");
  const cases = readJson<Case[]>(data, FOLDER, "retrieval.cases.json")
    .filter(({ query, budget }) => query.trim() !== "" && budget?.maxBeliefs !== 0)
    .slice(0, limit);
  const texts = new Map(beliefs.map((belief) => [belief._id, textOf(belief)]));
  const ours: Metrics[] = [];
  const base: Metrics[] = [];
  const asked: object[] = [];
  await using known = await knowing(beliefs, embedder);
  for (const one of cases) {
    const { ids, tokens } = await known.ask(one);
    const ranked = ranking(beliefs, one);
    const metrics = { ...judged(ids, one), tokens };
    ours.push(metrics);
    base.push({ ...judged(ranked, one), tokens: sizeOf(ranked.map((id) => texts.get(id) ?? "")) });
    asked.push({ id: one.caseId, type: one.category, came: ids, ...metrics });
    progress(asked.length, cases.length);
  }
  return {
    report: {
      set: "precisionmembench",
      metrics: meansOf(ours),
      baseline: meansOf(base),
      intervals: Object.fromEntries(MAIN.map((name) => [name, interval(valuesOf(ours, name))])),
      counts: Object.fromEntries(MAIN.map((name) => [name, valuesOf(ours, name).length])),
      n: asked.length,
      per_question: asked,
    },
    notes: [
      "precision: of what came, what was wanted; 1 where nothing was wanted and nothing came.",
      "recall: where something was wanted. silent: where nothing was. kept_out: where something must not come.",
      "Written by the author of a system that scores 1.00 on it: fixtures, not a ranking.",
    ],
  };
}

interface Known extends AsyncDisposable {
  ask(one: Case): Promise<{ ids: string[]; tokens: number }>;
}

/** A memory that holds the beliefs, with the clock at the last time they name. */
async function knowing(beliefs: readonly Belief[], embedder: Embedder): Promise<Known> {
  const last = Math.max(
    ...beliefs.flatMap(({ created_at, updated_at }) => [Date.parse(created_at), Date.parse(updated_at)]),
  );
  const memory = await openMemory({ path: ":memory:", embedder, clock: () => new Date(last) });
  const beliefOf = new Map<string, string>();
  for (const belief of beliefs) {
    beliefOf.set(await store(memory.scope({ user: belief.user_id }), belief, beliefs), belief._id);
  }
  return {
    async ask({ query, scope, userId = USER, budget }) {
      const { items, tokens } = await memory.scope({ user: userId }).recall(query, {
        where: { scope: { $in: scope } },
        limit: Math.min(10, budget?.maxBeliefs ?? 10),
      });
      const current = items.filter(({ status }) => status === "current");
      return { ids: current.map(({ id }) => beliefOf.get(id) ?? id), tokens };
    },
    [Symbol.asyncDispose]: () => memory.close(),
  };
}

/** The id of the memory. */
async function store(user: ScopedMemory, belief: Belief, beliefs: readonly Belief[]): Promise<string> {
  const { created_at, scope, superseded_by, resolved_at } = belief;
  const { memories } = await user.add({
    text: textOf(belief),
    at: created_at,
    validFrom: created_at,
    metadata: { scope },
  });
  const id = memories[0]?.id ?? "";
  const newer = beliefs.find(({ _id }) => _id === superseded_by);
  const validTo = newer?.created_at ?? resolved_at;
  if (validTo) await user.update(id, { validTo });
  return id;
}

/** A belief with all names under which it is known. */
function textOf({ content, canonical_name, aliases }: Belief): string {
  return `${content} (${[canonical_name.replaceAll("_", " "), ...aliases].join(", ")})`;
}

/** The baseline: the beliefs of the user in scope that share a word with the query, at most ten. */
function ranking(beliefs: readonly Belief[], { query, scope, userId = USER, budget }: Case): string[] {
  const own = beliefs.filter(
    (belief) => belief.user_id === userId && belief.scope.some((one) => scope.includes(one)),
  );
  const index = bm25(own.map(textOf));
  const scores = index.scores(query);
  const found = index.rank(query).filter((i) => (scores[i] ?? 0) > 0);
  return found.slice(0, Math.min(10, budget?.maxBeliefs ?? 10)).map((i) => own[i]?._id ?? "");
}

/** Shares from 0 to 1; a metric is absent where the case says nothing of it. */
export function judged(came: readonly string[], { expect }: Pick<Case, "expect">): Metrics {
  const { relevantBeliefs = {}, pinnedFacts = {}, openQuestions = {} } = expect;
  const barred = [relevantBeliefs, pinnedFacts, openQuestions].flatMap(({ mustExclude = [] }) => mustExclude);
  const keptOut = barred.length > 0 ? { kept_out: came.some((id) => barred.includes(id)) ? 0 : 1 } : {};
  const wanted = relevantBeliefs.shouldOnlyInclude;
  if (wanted === undefined) return keptOut;
  const besides = [pinnedFacts, openQuestions].flatMap(({ mustInclude = [] }) => mustInclude);
  const counted = came.filter((id) => wanted.includes(id) || !besides.includes(id));
  const right = counted.filter((id) => wanted.includes(id)).length;
  const precision = counted.length > 0 ? right / counted.length : Number(wanted.length === 0);
  return wanted.length > 0
    ? { precision, recall: right / wanted.length, ...keptOut }
    : { precision, silent: Number(counted.length === 0), ...keptOut };
}

function valuesOf(cases: readonly Metrics[], name: string): number[] {
  return cases.flatMap((metrics) => metrics[name] ?? []);
}

function meansOf(cases: readonly Metrics[]): Record<string, number> {
  const names = ["precision", "recall", "silent", "kept_out"];
  const told = names.filter((name) => valuesOf(cases, name).length > 0);
  return {
    ...Object.fromEntries(told.map((name) => [name, percent(valuesOf(cases, name))])),
    context_tokens: Math.round(mean(valuesOf(cases, "tokens"))),
  };
}
