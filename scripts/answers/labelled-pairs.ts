/**
 * Labelled pairs of a question and a statement, from stories of our own: a statement is right where it holds what an answer must say and
 * nothing that it must not.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { createMemory } from "../../src/index.ts";
import type { Evidence, Findings } from "../../src/language/en/answers/evidence/evidence.ts";
import { readCases } from "./written-questions.ts";

/** A step of a story: something said or asked, at a time. */
interface Step {
  readonly say?: string;
  readonly ask?: string;
  readonly forget?: string;
  readonly at?: string;
  readonly role?: "user" | "assistant";
  readonly name?: string;
  readonly user?: string;
  readonly session?: string;
  readonly as_of?: string;
  readonly must?: readonly (readonly string[])[];
  readonly must_not?: readonly string[];
  readonly abstain?: boolean;
}

/** A conversation with questions. */
export interface Story {
  readonly id: string;
  readonly area?: string;
  readonly user?: string;
  readonly steps: readonly Step[];
}

/** What was found for a question, each statement with its label. */
export interface LabelledQuestion {
  readonly story: string;
  readonly ask: string;
  readonly isUnknown: boolean;
  readonly candidates: readonly {
    readonly evidence: Evidence;
    readonly isRight: boolean;
    readonly said: string;
  }[];
}

/** The stories with odd numbers of a file, or all. */
export function readStories(file: string, half: "odd" | "all"): Story[] {
  const stories = JSON.parse(readFileSync(file, "utf8")) as Story[];
  return half === "all" ? stories : stories.filter(({ id }) => Number(/(\d+)$/.exec(id)?.[1] ?? 0) % 2 === 1);
}

interface Phrasings {
  readonly told: readonly string[];
  readonly lists: readonly (readonly [string, readonly string[]])[];
  readonly told_before_unknown_and_known: readonly string[];
  readonly known: readonly (readonly [string, string])[];
  readonly unknown: readonly string[];
}

/** The questions of the phrasings as stories. */
export function readPhrasings(file: string): Story[] {
  const set = JSON.parse(readFileSync(file, "utf8")) as Phrasings;
  const lists: Step[] = set.lists.map(([ask, must]) => ({ ask, must: must.map((one) => [one]) }));
  const known: Step[] = set.known.map(([ask, must]) => ({ ask, must: [[must]] }));
  const unknown: Step[] = set.unknown.map((ask) => ({ ask, abstain: true }));
  return [
    { id: "lists", steps: [...set.told.map((say) => ({ say })), ...lists] },
    {
      id: "known",
      steps: [...set.told_before_unknown_and_known.map((say) => ({ say })), ...known, ...unknown],
    },
  ];
}

/** Things told in a conversation, and questions: with words that answer them ("2|two": either), or with none where they were not told. */
interface KnownAndUnknown {
  readonly id: string;
  readonly told: readonly string[];
  readonly asks: readonly (readonly [string] | readonly [string, string])[];
}

/** The conversations of `known-and-unknown.json` with odd or even numbers as stories. */
export function readKnownAndUnknown(half: "odd" | "even"): Story[] {
  const file = `${import.meta.dirname}/known-and-unknown.json`;
  const all = JSON.parse(readFileSync(file, "utf8")) as KnownAndUnknown[];
  return all
    .filter(({ id }) => Number(id.slice(2)) % 2 === Number(half === "odd"))
    .map(({ id, told, asks }) => ({
      id,
      steps: [
        ...told.map((say): Step => ({ say })),
        ...asks.map(
          ([ask, must]): Step =>
            must === undefined ? { ask, abstain: true } : { ask, must: [must.split("|")] },
        ),
      ],
    }));
}

/** What somebody wrote that the reader has not learned from. */
const WRITTEN = ["questions-held.txt", "questions-short.txt"];

/** The cases of these files as stories, a message each 30 hours. */
export function readWritten(): Story[] {
  const cases = WRITTEN.flatMap((file) => readCases(`${import.meta.dirname}/${file}`));
  return cases.map(({ messages, questions }, number) => ({
    id: `written${number}`,
    steps: [
      ...messages.map(({ role, text }, i): Step => {
        const at = new Date(Date.UTC(2026, 4, 4, 9 + 30 * i)).toISOString();
        return { say: text, role, at };
      }),
      ...questions.map(({ text, answers }): Step => {
        const words = answers.map(
          ({ message, start, end }) => messages[message]?.text.slice(start, end) ?? "",
        );
        return words.length === 0 ? { ask: text, abstain: true } : { ask: text, must: [words] };
      }),
    ],
  }));
}

/** Areas in which an older value stays an answer when the newer one was never told. */
const WITH_CHANGES = /change|drop|correct|conflict|forget|erase/;

/**
 * Stories in which the answer was never told: for each question, the messages that hold it are left out. What else was said stays, so that
 * what is near the question and no answer is learnt as such.
 */
export function leaveAnswersOut(stories: readonly Story[]): Story[] {
  return stories.flatMap(({ id, area = id, user, steps }) => {
    if (WITH_CHANGES.test(area)) return [];
    return steps.flatMap((step): Story[] => {
      const words = (step.must ?? []).flat();
      if (step.ask === undefined || words.length === 0) return [];
      const told = steps.filter(({ say }) => say !== undefined && !words.some((word) => holds(say, word)));
      const { must: _must, must_not: _not, ...ask } = step;
      const isLiteral = told.length < steps.filter(({ say }) => say !== undefined).length;
      return told.length === 0 || !isLiteral
        ? []
        : [{ id, steps: [...told, { ...ask, abstain: true }], ...(user ? { user } : {}) }];
    });
  });
}

/** Asks the questions of stories, and labels what is found. */
export async function labelStories(stories: readonly Story[]): Promise<LabelledQuestion[]> {
  const questions: LabelledQuestion[] = [];
  for (const story of stories) questions.push(...(await labelStory(story)));
  return questions;
}

async function labelStory({ id, user = "ana", steps }: Story): Promise<LabelledQuestion[]> {
  let now = new Date("2026-11-01T12:00:00Z");
  await using memory = await createMemory({ path: ":memory:", clock: () => now });
  const questions: LabelledQuestion[] = [];
  for (const step of steps) {
    if (step.at !== undefined) now = new Date(step.at);
    const scope = memory.scope({ user: step.user ?? user });
    await tell(scope, step, now);
    if ((step.must?.length ?? 0) + Number(step.abstain === true) === 0 || step.ask === undefined) continue;
    const found = await findingsFor(scope, step.ask, step.as_of);
    if (found) questions.push(label(id, step, step.ask, found));
  }
  return questions;
}

type Scope = ReturnType<Awaited<ReturnType<typeof createMemory>>["scope"]>;

async function tell(
  scope: Scope,
  { say, name, role = "user", session, forget }: Step,
  now: Date,
): Promise<void> {
  if (forget !== undefined) await scope.forget(forget);
  if (say === undefined) return;
  const message = { role, content: say, at: now.toISOString(), ...(name ? { name } : {}) };
  await scope.remember([message], session ? { session } : {});
}

async function findingsFor(
  scope: Scope,
  ask: string,
  asOf: string | undefined,
): Promise<Findings | undefined> {
  let found: Findings | undefined;
  const listen = (findings: unknown): void => {
    found = findings as Findings;
  };
  subscribe("keepsake:evidence", listen);
  await scope.answer(ask, asOf === undefined ? {} : { asOf });
  unsubscribe("keepsake:evidence", listen);
  return found;
}

function label(story: string, step: Step, ask: string, { evidence }: Findings): LabelledQuestion {
  const isUnknown = step.abstain === true;
  return {
    story,
    ask,
    isUnknown,
    candidates: evidence.map((one) => {
      const { said, text, lead, speaker } = one.statement;
      const words = said?.text ?? `${speaker ?? ""} ${lead} ${text}`;
      const met = (step.must ?? []).some((group) => group.some((word) => holds(words, word)));
      const isWrong = (step.must_not ?? []).some((word) => holds(words, word));
      return { evidence: one, isRight: !isUnknown && met && !isWrong, said: words };
    }),
  };
}

/** Whether a text holds a word or words, whole and in any case. */
export function holds(text: string, word: string): boolean {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(^|[^\\p{L}\\p{N}])${escaped}($|[^\\p{L}\\p{N}])`, "iu").test(text);
}
