/**
 * Fits the weights of the default profile (`src/engine/rank/profiles.ts`) on conversations whose gold turns are known:
 *
 *     node bench/quality/fit.ts DIR
 *
 * A linear sum of the signals, each scaled as the product scales it, is fitted so that a softmax over all turns of a
 * conversation puts the gold turns on top (listwise, Adam, a little L2). Talk (LoCoMo) and chats with an assistant
 * (LongMemEval) are two situations and are fitted apart; the first also by leaving each conversation out in turn.
 */
import { memoryRecord } from "../../src/adapters/memory/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { isPassage } from "../../src/engine/block/block.ts";
import { profileOf } from "../../src/engine/rank/profiles.ts";
import { SIGNAL_NAMES, type Signal, signalAt } from "../../src/engine/rank/signals.ts";
import { withScratch } from "../../src/engine/recall/scratch.ts";
import { search } from "../../src/engine/recall/search.ts";
import { scanVectors } from "../../src/engine/recall/vector-arm.ts";
import { userStates } from "../../src/engine/user-state.ts";
import { createMemory, type InputMessage } from "../../src/index.ts";
import { locomoQuestions } from "./locomo.ts";
import { longmemevalQuestions } from "./longmemeval.ts";

/** `claim` and `time` come from the question's structure and are set by hand. */
const FITTED: readonly Signal[] = SIGNAL_NAMES.filter((signal) => signal !== "claim" && signal !== "time");
const STEPS = 150;
const RATE = 0.1;
const L2 = 1e-4;

/** A conversation with its questions, each with the ids of the messages that answer it. */
export interface Conversation {
  readonly name: string;
  readonly messages: readonly InputMessage[];
  readonly questions: readonly { readonly question: string; readonly gold: ReadonlySet<string> }[];
}

/** One question: the signals of each unit as they are weighed, the unit's message, and the gold messages. */
interface Case {
  readonly group: string;
  readonly columns: readonly Float32Array[];
  readonly owners: readonly string[];
  readonly gold: ReadonlySet<string>;
}

async function casesOf({ name, messages, questions }: Conversation): Promise<Case[]> {
  const record = memoryRecord();
  const embedder = staticEmbedder();
  await using memory = await createMemory({ record, embedder });
  await memory.scope({ user: name }).remember(messages, { extract: "never" });
  const block = await userStates(record, embedder).block({ project: "default", user: name });
  const { turn } = block.units.columns;
  const owners = Array.from({ length: block.units.count }, (_, slot) =>
    isPassage(block, slot) ? (block.turns.ids[turn[slot] as number] ?? "") : "",
  );
  return Promise.all(
    questions.map(async ({ question, gold }) => {
      const [vector = new Float32Array(embedder.dimensions)] = await embedder.embed([question]);
      return withScratch(async (scratch) => {
        const near = scanVectors(block, scratch, vector);
        const asked = { query: question, near, span: {}, floor: embedder.floor };
        const { signals, places } = search(block, scratch, asked, profileOf("default"));
        const columns = FITTED.map((signal) =>
          Float32Array.from(
            owners,
            (_, slot) => Math.max(0, signalAt(signals, signal, places, slot)) / (signals.tops[signal] || 1),
          ),
        );
        return { group: name, columns, owners, gold };
      });
    }),
  );
}

function scores({ columns, owners }: Case, weights: readonly number[]): Float64Array {
  return Float64Array.from(owners, (_, slot) =>
    columns.reduce((sum, column, i) => sum + (column[slot] as number) * (weights[i] ?? 0), 0),
  );
}

function fit(cases: readonly Case[]): number[] {
  const weights = FITTED.map(() => 0);
  const first = FITTED.map(() => 0);
  const second = FITTED.map(() => 0);
  for (let step = 1; step <= STEPS; step += 1) {
    const slope = FITTED.map((_, i) => L2 * (weights[i] ?? 0));
    for (const one of cases) {
      const parts = gradient(one, weights);
      for (const [i, part] of parts.entries()) slope[i] = (slope[i] ?? 0) + part / cases.length;
    }
    for (const [i, part] of slope.entries()) {
      first[i] = 0.9 * (first[i] ?? 0) + 0.1 * part;
      second[i] = 0.999 * (second[i] ?? 0) + 0.001 * part * part;
      const size = Math.sqrt((second[i] ?? 0) / (1 - 0.999 ** step)) + 1e-8;
      weights[i] = (weights[i] ?? 0) - (RATE * (first[i] ?? 0)) / (1 - 0.9 ** step) / size;
    }
  }
  return weights;
}

/** Expected signals under the softmax, minus the mean signals of the gold units. */
function gradient(one: Case, weights: readonly number[]): number[] {
  const all = scores(one, weights);
  const top = all.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  const shares = all.map((score) => Math.exp(score - top));
  const sum = shares.reduce((whole, share) => whole + share, 0);
  const golden = one.owners.flatMap((owner, slot) => (one.gold.has(owner) ? [slot] : []));
  return one.columns.map((column) => {
    const expected = shares.reduce((whole, share, slot) => whole + share * (column[slot] as number), 0) / sum;
    return expected - golden.reduce((whole, slot) => whole + (column[slot] as number), 0) / golden.length;
  });
}

/** The mean share of gold messages among the ten best, in per cent. */
function recallAt10(cases: readonly Case[], weights: readonly number[]): string {
  const found = cases.map((one) => {
    const all = scores(one, weights);
    const order = one.owners.map((_, slot) => slot).sort((a, b) => (all[b] ?? 0) - (all[a] ?? 0));
    const best = new Set([...new Set(order.map((slot) => one.owners[slot] ?? ""))].slice(0, 10));
    return [...one.gold].filter((id) => best.has(id)).length / one.gold.size;
  });
  return ((100 * found.reduce((sum, share) => sum + share, 0)) / found.length).toFixed(1);
}

async function main(data: string): Promise<void> {
  for (const [name, conversations] of [
    ["talk", locomoQuestions(data)],
    ["chat", longmemevalQuestions(data)],
  ] as const) {
    const cases = (await Promise.all(conversations.map(casesOf))).flat();
    const weights = fit(cases);
    console.log(name, FITTED.map((signal, i) => `${signal} ${weights[i]?.toFixed(2)}`).join(", "));
    console.log(`  recall@10 where it was fitted: ${recallAt10(cases, weights)}`);
    if (name !== "talk") continue;
    for (const { name: left } of conversations) {
      const others = cases.filter(({ group }) => group !== left);
      const own = cases.filter(({ group }) => group === left);
      console.log(`  recall@10 of ${left}, fitted without it: ${recallAt10(own, fit(others))}`);
    }
  }
}

if (import.meta.main) await main(process.argv[2] ?? "");
