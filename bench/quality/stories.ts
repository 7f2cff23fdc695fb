import type { Embedder, ScopedMemory } from "../../src/index.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { sizeOf } from "./contexts.ts";
import { readJson } from "./files.ts";
import { openMemory } from "./memories.ts";
import { mean, percent } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";

interface Step {
  readonly say?: string;
  readonly role?: "user" | "assistant";
  readonly ask?: string;
  readonly forget?: string;
  readonly user?: string;
  readonly session?: string;
  /** The clock; as it was, where absent. */
  readonly at?: string;
  readonly as_of?: string;
  /** Of each group one alternative occurs in the answer. */
  readonly must?: readonly (readonly string[])[];
  readonly must_not?: readonly string[];
  readonly recall_must?: readonly (readonly string[])[];
  /** It must say that it does not know. */
  readonly abstain?: boolean;
}

interface Story {
  readonly id: string;
  readonly area: string;
  readonly user: string;
  readonly steps: readonly Step[];
}

interface Told {
  readonly id: string;
  readonly area: string;
  readonly passed: boolean;
  readonly asks: readonly Asked[];
}

/** Short conversations over several sessions, with what an answer must and must not say. All asks of a story must do. */
export async function stories({ data, limit, embedder, progress }: RunOptions): Promise<Run> {
  const all = readJson<Story[]>(data, "stories", "stories.json").slice(0, limit);
  const told: Told[] = [];
  const baseline: Told[] = [];
  for (const story of all) {
    told.push(toldOf(story, await live(story, embedder)));
    baseline.push(toldOf(story, liveByWords(story)));
    progress(told.length, all.length);
  }
  return {
    report: {
      set: "stories",
      metrics: ratesOf(told),
      baseline: ratesOf(baseline),
      intervals: mapped(sharesOf(told), interval),
      counts: mapped(sharesOf(told), ({ length }) => length),
      n: told.length,
      per_question: told,
    },
    notes: told.flatMap(({ id, asks }) =>
      asks.flatMap(({ ask, answer, wrong }) =>
        wrong.length > 0 ? [`${id}: ${ask} -> ${answer} [${wrong.join("; ")}]`] : [],
      ),
    ),
  };
}

function toldOf({ id, area }: Story, asks: readonly Asked[]): Told {
  return { id, area, passed: asks.every(({ wrong }) => wrong.length === 0), asks };
}

/**
 * Whether whole stories and single asks passed, as shares. `refused_unknown`: of the asks that have no answer, whether
 * it says that it does not know. `answered_known`: of those that have one, whether it does not say so.
 */
function sharesOf(told: readonly Told[]): Record<string, number[]> {
  const asks = told.flatMap((story) => story.asks);
  const shares = {
    stories_passed: told.map(({ passed }) => Number(passed)),
    asks_passed: asks.map(({ wrong }) => Number(wrong.length === 0)),
    refused_unknown: asks
      .filter(({ answerable }) => answerable === false)
      .map(({ refused }) => Number(refused)),
    answered_known: asks.filter(({ answerable }) => answerable).map(({ refused }) => Number(!refused)),
  };
  return Object.fromEntries(Object.entries(shares).filter(([, values]) => values.length > 0));
}

/** In per cent, and whole stories by area. */
function ratesOf(told: readonly Told[]): Record<string, number> {
  const asks = told.flatMap((story) => story.asks);
  const areas = Map.groupBy(told, ({ area }) => area);
  return {
    ...mapped(sharesOf(told), percent),
    context_tokens: Math.round(mean(asks.map(({ tokens }) => tokens))),
    ...Object.fromEntries(
      [...areas].map(([area, of]) => [
        `stories_passed (${area})`,
        percent(of.map(({ passed }) => Number(passed))),
      ]),
    ),
  };
}

function mapped<Value>(
  shares: Readonly<Record<string, number[]>>,
  change: (values: number[]) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(shares).map(([name, values]) => [name, change(values)]));
}

interface Asked {
  readonly ask: string;
  readonly answer: string;
  /** It says that it does not know. */
  readonly refused: boolean;
  /** It must say so, or must answer; neither is told of some questions. */
  readonly answerable?: boolean;
  /** The size of the context. */
  readonly tokens: number;
  readonly wrong: readonly string[];
}

/** Lives through a story, with the clock at each step's time. */
async function live(story: Story, embedder: Embedder): Promise<Asked[]> {
  let now = new Date(0);
  await using memory = await openMemory({ path: ":memory:", embedder, clock: () => now });
  const asked: Asked[] = [];
  for (const step of story.steps) {
    if (step.at !== undefined) now = new Date(step.at);
    const user = memory.scope({ user: step.user ?? story.user });
    const done = await take(user, step).catch((error: Error) => failed(step, error));
    if (done) asked.push(done);
  }
  return asked;
}

/** A step that fails is wrong in every respect. */
function failed(step: Step, error: Error): Asked {
  const nothing = { text: "", abstained: !step.abstain, recall: { items: [], tokens: 0 } };
  return { ...askedOf(step, nothing), wrong: [`failed: ${error.message}`] };
}

async function take(user: ScopedMemory, step: Step): Promise<Asked | undefined> {
  const { say, role = "user", ask, forget, session, as_of } = step;
  if (say !== undefined) {
    await user.remember([{ role, content: say }], session === undefined ? {} : { session });
  }
  if (forget !== undefined) await user.forget(forget);
  if (ask === undefined) return undefined;
  const answer = await user.answer(ask, as_of === undefined ? {} : { asOf: as_of });
  return askedOf(step, answer);
}

/** The baseline: the message of the user that BM25 finds best is the answer; no shared word is "I don't know". */
function liveByWords(story: Story): Asked[] {
  const said = new Map<string, string[]>();
  return story.steps.flatMap((step) => {
    const user = step.user ?? story.user;
    const texts = said.get(user) ?? [];
    said.set(user, texts);
    if (step.say !== undefined && step.role !== "assistant") texts.push(step.say);
    if (step.ask === undefined) return [];
    const index = bm25(texts);
    const order = index.rank(step.ask);
    const best = order[0] ?? 0;
    const abstained = (index.scores(step.ask)[best] ?? 0) === 0;
    const text = abstained ? "" : (texts[best] ?? "");
    const items = order.slice(0, 10).map((i) => ({ text: texts[i] ?? "" }));
    const tokens = sizeOf(items.map((item) => item.text));
    return [askedOf(step, { text, abstained, recall: { items, tokens } })];
  });
}

function askedOf(step: Step, answer: Shown): Asked {
  const { ask = "", abstain, must = [] } = step;
  const answerable = abstain ? { answerable: false } : must.length > 0 ? { answerable: true } : {};
  return {
    ask,
    answer: answer.text,
    refused: answer.abstained,
    ...answerable,
    tokens: answer.recall.tokens,
    wrong: wrongs(step, answer),
  };
}

/** As much of an answer as the rules look at. */
interface Shown {
  readonly text: string;
  readonly abstained: boolean;
  readonly recall: { readonly items: readonly { readonly text: string }[]; readonly tokens: number };
}

function wrongs(
  { must = [], must_not = [], recall_must = [], abstain }: Step,
  { text, abstained, recall }: Shown,
): string[] {
  const recalled = recall.items.map((item) => item.text).join("\n");
  const none = (where: string, group: readonly string[]): boolean => !group.some((one) => says(where, one));
  return [
    ...must.filter((group) => none(text, group)).map((group) => `does not say ${group.join(" or ")}`),
    ...must_not.filter((one) => says(text, one)).map((one) => `says ${one}`),
    ...recall_must
      .filter((group) => none(recalled, group))
      .map((group) => `does not recall ${group.join(" or ")}`),
    ...(abstain && !abstained ? ["claims to know"] : []),
  ];
}

/** Whole words, any case. */
function says(text: string, words: string): boolean {
  const escaped = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "iu").test(text);
}
