/**
 * Fits the weights of the default profile (`src/engine/recall/scoring.ts`) on conversations whose gold turns are known:
 *
 *     node bench/quality/fit.ts DIR [--json]
 *
 * A linear sum of the signals, each scaled as the product scales it, is fitted so that a softmax over all turns of a
 * conversation puts the gold turns on top (listwise, Adam, a little L2). Talk among people (LoCoMo) and chats with an
 * assistant (LongMemEval, BEAM) are two situations and are fitted apart. What is printed besides the weights are the
 * figures of conversations, of tenths of the questions, and of whole sets that the fitting has not seen; with `--json`
 * as the list that the results page takes.
 */
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import {
  SIGNAL_NAMES,
  type Signal,
  signalValueAt,
  withScratch,
} from "../../src/engine/recall/retrievers/signals.ts";
import { scanVectors } from "../../src/engine/recall/retrievers/vector-retriever.ts";
import { findRankingProfile } from "../../src/engine/recall/scoring.ts";
import { search, searchByText } from "../../src/engine/recall/search.ts";
import { isPassage } from "../../src/engine/search-index/search-index.ts";
import { createUserStates } from "../../src/engine/user-state/user-state.ts";
import { createMemory, type InputMessage } from "../../src/index.ts";
import { englishPhrases } from "../../src/language/en/phrases.ts";
import { englishVocabulary } from "../../src/language/en/vocabulary.ts";
import { beamTalks } from "./beam.ts";
import { locomoQuestions } from "./locomo.ts";
import { longmemevalQuestions } from "./longmemeval.ts";
import type { LeftOut } from "./page.ts";
import { forFitting } from "./retrieval.ts";

/** `claim` and `time` come from the question's structure and are set by hand. */
const FITTED: readonly Signal[] = SIGNAL_NAMES.filter((signal) => signal !== "claim" && signal !== "time");
const STEPS = 150;
const RATE = 0.1;
const L2 = 1e-3;
const PARTS = 10;

/** A conversation with its questions, each with the ids of the messages that answer it. */
export interface Conversation {
  readonly name: string;
  readonly messages: readonly InputMessage[];
  readonly questions: readonly { readonly question: string; readonly gold: ReadonlySet<string> }[];
}

/** One question: the signals of each unit as they are weighed, the unit's message, and the gold messages. */
interface Case {
  readonly set: string;
  readonly group: string;
  readonly columns: readonly Float32Array[];
  readonly owners: readonly string[];
  readonly gold: ReadonlySet<string>;
  /** The units of gold messages. */
  readonly golden: readonly number[];
}

async function casesOf(set: string, { name, messages, questions }: Conversation): Promise<Case[]> {
  const record = createInMemoryStore();
  const embedder = staticEmbedder();
  await using memory = await createMemory({ record, embedder });
  await memory.scope({ user: name }).remember(messages, { extract: "never" });
  const block = await createUserStates(record, embedder, { phrases: englishPhrases }).searchIndex({
    project: "default",
    user: name,
  });
  const { turn } = block.units.columns;
  const owners = Array.from({ length: block.units.count }, (_, slot) =>
    isPassage(block, slot) ? (block.turns.ids.at(turn[slot] as number) ?? "") : "",
  );
  return Promise.all(
    questions.map(async ({ question, gold }) => {
      const [vector = new Float32Array(embedder.dimensions)] = await embedder.embed([question]);
      return withScratch(async (scratch) => {
        const near = scanVectors(block, scratch, vector);
        const asked = { query: question, span: {}, near, vocabulary: englishVocabulary };
        const texts = searchByText(block, scratch, asked, findRankingProfile({ profile: "default" }));
        const { signals, places } = search(block, scratch, texts, { near, floor: embedder.floor });
        const columns = FITTED.map((signal) =>
          Float32Array.from(owners, (_, slot) =>
            signals.tops[signal] > 0
              ? Math.max(0, signalValueAt(signals, signal, places, slot)) / signals.tops[signal]
              : 0,
          ),
        );
        const golden = owners.flatMap((owner, slot) => (gold.has(owner) ? [slot] : []));
        return { set, group: name, columns, owners, gold, golden };
      });
    }),
  );
}

function scores({ columns, owners }: Case, weights: readonly number[]): Float64Array {
  const sums = new Float64Array(owners.length);
  for (const [i, column] of columns.entries()) {
    const weight = weights[i] ?? 0;
    for (let slot = 0; slot < sums.length; slot += 1) {
      sums[slot] = (sums[slot] as number) + (column[slot] as number) * weight;
    }
  }
  return sums;
}

/** Every set counts the same, however many questions it has. */
function fit(cases: readonly Case[]): number[] {
  const sizes = Map.groupBy(cases, ({ set }) => set);
  const weights = FITTED.map(() => 0);
  const first = FITTED.map(() => 0);
  const second = FITTED.map(() => 0);
  for (let step = 1; step <= STEPS; step += 1) {
    const slope = FITTED.map((_, i) => L2 * (weights[i] ?? 0));
    for (const one of cases) {
      const share = 1 / sizes.size / (sizes.get(one.set)?.length ?? 1);
      for (const [i, part] of gradient(one, weights).entries()) slope[i] = (slope[i] ?? 0) + part * share;
    }
    for (const [i, part] of slope.entries()) {
      first[i] = 0.9 * (first[i] ?? 0) + 0.1 * part;
      second[i] = 0.999 * (second[i] ?? 0) + 0.001 * part * part;
      const size = Math.sqrt((second[i] ?? 0) / (1 - 0.999 ** step)) + 1e-8;
      // No signal speaks against a unit: a weight that would, is 0.
      weights[i] = Math.max(0, (weights[i] ?? 0) - (RATE * (first[i] ?? 0)) / (1 - 0.9 ** step) / size);
    }
  }
  return weights;
}

/** Expected signals under the softmax, minus the mean signals of the gold units. */
function gradient(one: Case, weights: readonly number[]): number[] {
  const shares = scores(one, weights);
  const top = shares.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  let sum = 0;
  for (let slot = 0; slot < shares.length; slot += 1) {
    const share = Math.exp((shares[slot] as number) - top);
    shares[slot] = share;
    sum += share;
  }
  return one.columns.map((column) => {
    let expected = 0;
    for (let slot = 0; slot < shares.length; slot += 1) {
      expected += (shares[slot] as number) * (column[slot] as number);
    }
    const golden = one.golden.reduce((whole, slot) => whole + (column[slot] as number), 0);
    return expected / sum - golden / one.golden.length;
  });
}

/** The share of gold messages among the ten best. */
function recallAt10(one: Case, weights: readonly number[]): number {
  const all = scores(one, weights);
  const order = one.owners.map((_, slot) => slot).sort((a, b) => (all[b] ?? 0) - (all[a] ?? 0));
  const best = new Set([...new Set(order.map((slot) => one.owners[slot] ?? ""))].slice(0, 10));
  return [...one.gold].filter((id) => best.has(id)).length / one.gold.size;
}

function percent(shares: readonly number[]): number {
  return Math.round((1000 * shares.reduce((sum, share) => sum + share, 0)) / shares.length) / 10;
}

/** The figure of a set with weights fitted without what `partOf` puts together, part by part. */
function leftOut(
  cases: readonly Case[],
  set: string,
  without: string,
  fitted: readonly number[],
  partOf: (one: Case) => string,
): LeftOut {
  const own = cases.filter((one) => one.set === set);
  const found: number[] = [];
  for (const [part, some] of Map.groupBy(own, partOf)) {
    const weights = fit(cases.filter((one) => one.set !== set || partOf(one) !== part));
    for (const one of some) found.push(recallAt10(one, weights));
  }
  return {
    set,
    metric: "recall@10 of passages",
    without,
    fitted: percent(own.map((one) => recallAt10(one, fitted))),
    leftOut: percent(found),
  };
}

/** Each conversation with its questions, or, where there are many, a tenth of them. */
function partsOf(cases: readonly Case[]): { without: string; partOf: (one: Case) => string } {
  const groups = [...new Set(cases.map(({ group }) => group))];
  if (groups.length <= PARTS) return { without: "each conversation", partOf: ({ group }) => group };
  return { without: "each tenth", partOf: ({ group }) => String(groups.indexOf(group) % PARTS) };
}

async function situation(sets: {
  readonly [set: string]: readonly Conversation[];
}): Promise<{ weights: number[]; rows: LeftOut[] }> {
  const cases: Case[] = [];
  for (const [set, conversations] of Object.entries(sets)) {
    for (const conversation of conversations) cases.push(...(await casesOf(set, conversation)));
  }
  const weights = fit(cases);
  const names = Object.keys(sets);
  const rows = names.map((set) => {
    const { without, partOf } = partsOf(cases.filter((one) => one.set === set));
    return leftOut(cases, set, without, weights, partOf);
  });
  if (names.length > 1) {
    for (const set of names) rows.push(leftOut(cases, set, "the whole set", weights, () => set));
  }
  return { weights, rows };
}

async function main(data: string, isJson: boolean): Promise<void> {
  const situations = {
    talk: { locomo: locomoQuestions(data) },
    chat: { longmemeval: longmemevalQuestions(data), beam: forFitting(beamTalks(data)) },
  };
  const all: LeftOut[] = [];
  for (const [name, sets] of Object.entries(situations)) {
    const { weights, rows } = await situation(sets);
    all.push(...rows);
    if (isJson) continue;
    console.log(name, FITTED.map((signal, i) => `${signal} ${weights[i]?.toFixed(2)}`).join(", "));
    for (const row of rows) {
      console.log(`  ${row.set} without ${row.without}: ${row.leftOut} (fitted on all: ${row.fitted})`);
    }
  }
  if (isJson) console.log(JSON.stringify(all, null, 2));
}

if (import.meta.main) await main(process.argv[2] ?? "", process.argv.includes("--json"));
