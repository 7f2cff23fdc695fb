import { type Answer, createMemory, type ScopedMemory } from "../../src/index.ts";
import { readJson } from "./files.ts";
import { percent } from "./metrics.ts";
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

export interface Story {
  readonly id: string;
  readonly area: string;
  readonly user: string;
  readonly steps: readonly Step[];
}

/** Short conversations over several sessions, with what an answer must and must not say. All asks of a story must do. */
export async function stories({ data, limit, progress }: RunOptions): Promise<Run> {
  return tell(readJson<Story[]>(data, "stories", "stories.json").slice(0, limit), "stories", progress);
}

export async function tell(
  all: readonly Story[],
  set: string,
  progress: RunOptions["progress"],
): Promise<Run> {
  const told: { id: string; area: string; passed: boolean; asks: Asked[] }[] = [];
  for (const story of all) {
    const asks = await live(story);
    told.push({
      id: story.id,
      area: story.area,
      passed: asks.every(({ wrong }) => wrong.length === 0),
      asks,
    });
    progress(told.length, all.length);
  }
  const areas = Map.groupBy(told, ({ area }) => area);
  const asks = told.flatMap((story) => story.asks);
  const rate = (passed: readonly boolean[]): number => percent(passed.map(Number));
  return {
    report: {
      set,
      metrics: {
        stories_passed: rate(told.map(({ passed }) => passed)),
        asks_passed: rate(asks.map(({ wrong }) => wrong.length === 0)),
        ...Object.fromEntries(
          [...areas].map(([area, of]) => [`stories_passed (${area})`, rate(of.map(({ passed }) => passed))]),
        ),
      },
      baseline: {},
      n: told.length,
      per_question: told,
    },
    notes: told.flatMap(({ id, asks: of }) =>
      of.flatMap(({ ask, answer, wrong }) =>
        wrong.length > 0 ? [`${id}: ${ask} -> ${answer} [${wrong.join("; ")}]`] : [],
      ),
    ),
  };
}

interface Asked {
  readonly ask: string;
  readonly answer: string;
  readonly wrong: readonly string[];
}

/** Lives through a story, with the clock at each step's time. */
async function live(story: Story): Promise<Asked[]> {
  let now = new Date(0);
  await using memory = await createMemory({ path: ":memory:", clock: () => now });
  const asked: Asked[] = [];
  for (const step of story.steps) {
    if (step.at !== undefined) now = new Date(step.at);
    const user = memory.scope({ user: step.user ?? story.user });
    const done = await take(user, step).catch((error: Error) => ({
      ask: step.ask ?? "",
      answer: "",
      wrong: [`failed: ${error.message}`],
    }));
    if (done) asked.push(done);
  }
  return asked;
}

async function take(user: ScopedMemory, step: Step): Promise<Asked | undefined> {
  const { say, role = "user", ask, forget, session, as_of } = step;
  if (say !== undefined) {
    await user.remember([{ role, content: say }], session === undefined ? {} : { session });
  }
  if (forget !== undefined) await user.forget(forget);
  if (ask === undefined) return undefined;
  const answer = await user.answer(ask, as_of === undefined ? {} : { asOf: as_of });
  return { ask, answer: answer.text, wrong: wrongs(step, answer) };
}

function wrongs(
  { must = [], must_not = [], recall_must = [], abstain }: Step,
  { text, abstained, recall }: Answer,
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
