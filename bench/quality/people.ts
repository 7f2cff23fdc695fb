import { asking, scoreFound } from "./asking.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { contexts, toldEvidence } from "./contexts.ts";
import type { Conversation } from "./fit.ts";
import { type Metrics, mean, named, score, table } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";
import { forFitting, toRemember, type Unit, withIds } from "./retrieval.ts";

/** Two people who talk over months, and questions about what they said: LoCoMo and REALTALK. */
export interface PeopleTalk {
  readonly name: string;
  readonly turns: readonly PersonTurn[];
  readonly questions: readonly PeopleQuestion[];
}

export interface PersonTurn {
  readonly id: string;
  readonly session: string;
  readonly speaker: string;
  /** What was said and what the picture shows. */
  readonly text: string;
  readonly at?: string;
}

export interface PeopleQuestion {
  readonly question: string;
  readonly group: string;
  /** Ids of the turns that hold the answer; never empty. */
  readonly gold: ReadonlySet<string>;
}

const CUTS = [1, 5, 10, 20, 50];
const TURN = [
  "recall@5",
  "recall@10",
  "recall@20",
  "recall@50",
  "any@5",
  "any@10",
  "all@10",
  "ndcg@10",
  "mrr",
];
const SESSION = ["recall@1", "recall@5", "recall@10", "any@5", "any@10", "all@5", "ndcg@5", "mrr"];

/** Each conversation is one user's memory, asked after single turns and after whole sessions. */
export async function people(
  set: string,
  talks: readonly PeopleTalk[],
  { limit = Number.POSITIVE_INFINITY, embedder, progress }: RunOptions,
  notes: readonly string[],
): Promise<Run> {
  const ours = { turn: table(), session: table() };
  const base = { turn: table(), session: table() };
  const asked: object[] = [];
  const context = contexts();
  const told = toldEvidence();
  const times: number[] = [];
  const all = Math.min(limit, talks.flatMap(({ questions }) => questions).length);
  for (const { name, turns, questions } of talks) {
    if (asked.length >= all) break;
    const units = unitsOf(turns);
    await using memory = await asking(name, toRemember(units), embedder);
    const baseline = baselineOf(turns);
    const session = new Map(turns.map((turn) => [turn.id, turn.session]));
    for (const { question, group, gold } of questions.slice(0, all - asked.length)) {
      const found = withIds(await memory.ask(question), units);
      const ranked = baseline.turns(question);
      const goldSessions = new Set([...gold].map((id) => session.get(id) ?? ""));
      const metrics = scoreFound(found, gold, CUTS);
      ours.turn.add(group, metrics);
      ours.session.add(group, score(sessionsOf(found.far, session), goldSessions, CUTS));
      base.turn.add(group, score(ranked.ids, gold, CUTS));
      base.session.add(group, score(baseline.sessions(question), goldSessions, CUTS));
      context.add(found, ranked.texts);
      const places = new Map(units.map(({ id }, place) => [id, String(place)]));
      await told.add(memory, question, new Set([...gold].map((id) => places.get(id) ?? "")));
      times.push(found.ms);
      asked.push(answered(name, question, group, metrics));
      progress(asked.length, all);
    }
  }
  return {
    report: {
      set,
      metrics: {
        ...named("turn", ours.turn, TURN),
        ...named("session", ours.session, SESSION),
        ...context.ours(),
        ...told.metrics(),
        recall_ms: Number(mean(times).toFixed(2)),
      },
      baseline: {
        ...named("turn", base.turn, TURN),
        ...named("session", base.session, SESSION),
        ...context.base(),
      },
      intervals: { "turn_recall@10": interval(ours.turn.values("recall@10")) },
      n: asked.length,
      per_question: asked,
    },
    notes: [
      ...notes,
      "k counts items; a memory credits every turn that it was read from.",
      "Session figures: ours rank sessions by their best item, BM25 ranks whole sessions.",
    ],
  };
}

/** The conversations with their questions, for fitting. */
export function peopleForFitting(talks: readonly PeopleTalk[]): Conversation[] {
  return forFitting(talks.map(({ turns, ...talk }) => ({ ...talk, messages: unitsOf(turns) })));
}

/** Evidence as turn ids. It is messy: "D8:6; D9:17", "D30:05", "D:11:26", empty. Keeps the ids that there are. */
export function evidenceIn(evidence: readonly unknown[], ids: ReadonlySet<string>): ReadonlySet<string> {
  const found = evidence.flatMap((one) =>
    [...String(one).matchAll(/D:?(\d+):0*(\d+)/g)].map(([, a, b]) => `D${a}:${b}`),
  );
  return new Set(found.filter((id) => ids.has(id)));
}

/** The numbers of the sessions of a conversation, in order: its lists called `session_1` and so on. */
export function sessionsIn(conversation: { readonly [key: string]: unknown }): number[] {
  return Object.keys(conversation)
    .flatMap((key) => (Array.isArray(conversation[key]) ? (/^session_(\d+)$/.exec(key)?.[1] ?? []) : []))
    .map(Number)
    .sort((one, other) => one - other);
}

function unitsOf(turns: readonly PersonTurn[]): Unit[] {
  return turns.map(({ speaker, text, ...turn }) => ({
    ...turn,
    role: "user",
    name: speaker,
    content: text.trim(),
  }));
}

function answered(sample: string, question: string, category: string, metrics: Metrics): object {
  return { sample, question, category, "recall@5": metrics["recall@5"], "recall@10": metrics["recall@10"] };
}

interface BaselineOfPeople {
  turns(question: string): { ids: string[][]; texts: string[] };
  sessions(question: string): string[][];
}

function baselineOf(turns: readonly PersonTurn[]): BaselineOfPeople {
  const texts = turns.map(({ speaker, text }) => `${speaker}: ${text}`);
  const bySession = Map.groupBy(texts, (_, i) => turns[i]?.session ?? "");
  const sessions = [...bySession.keys()];
  const rankTurns = bm25(texts);
  const rankSessions = bm25([...bySession.values()].map((session) => session.join(" ")));
  return {
    turns(question) {
      const order = rankTurns.rank(question).slice(0, 50);
      return { ids: order.map((i) => [turns[i]?.id ?? ""]), texts: order.map((i) => texts[i] ?? "") };
    },
    sessions: (question) =>
      rankSessions
        .rank(question)
        .slice(0, 50)
        .map((i) => [sessions[i] ?? ""]),
  };
}

/** The sessions of a ranking, each at its best place. */
function sessionsOf(
  places: readonly (readonly string[])[],
  session: ReadonlyMap<string, string>,
): string[][] {
  const seen = new Set<string>();
  for (const ids of places) for (const id of ids) seen.add(session.get(id) ?? "");
  return [...seen].map((one) => [one]);
}
