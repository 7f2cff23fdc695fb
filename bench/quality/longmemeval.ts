import type { InputMessage } from "../../src/index.ts";
import { asking, cleaned, scoreFound } from "./asking.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { contexts, toldEvidence } from "./contexts.ts";
import { readLines } from "./files.ts";
import type { Conversation } from "./fit.ts";
import { named, score, table } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";
import type { Unit } from "./retrieval.ts";

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly has_answer?: boolean;
}

interface Question {
  readonly question_id: string;
  readonly question_type: string;
  readonly question: string;
  readonly question_date: string;
  readonly haystack_dates: readonly string[];
  readonly haystack_session_ids: readonly string[];
  readonly answer_session_ids: readonly string[];
}

interface Said {
  readonly id: string;
  readonly session: string;
  readonly turn: Turn;
  readonly at: string;
}

const CUTS = [1, 5, 10];
const COLUMNS = [
  "recall@1",
  "recall@5",
  "recall@10",
  "any@5",
  "any@10",
  "all@5",
  "all@10",
  "ndcg@5",
  "ndcg@10",
];

/**
 * LongMemEval_S: about 48 chats with an assistant per question, with the turns marked that hold the answer. Each
 * question has a memory of its own. All turns are searched; the questions without an answer are left out, and where
 * no turn is marked, the turn figures leave the question out as well.
 */
export async function longmemeval({
  data,
  embedder,
  limit = Number.POSITIVE_INFINITY,
  progress,
}: RunOptions): Promise<Run> {
  const { questions: all, sessions } = read(data);
  const questions = all.slice(0, limit);
  const ours = { turn: table(), session: table() };
  const base = { turn: table(), session: table() };
  const context = contexts();
  const told = toldEvidence();
  const asked: object[] = [];
  for (const question of questions) {
    const turns = turnsOf(question, sessions);
    const gold = goldOf(turns);
    const goldSessions = new Set(question.answer_session_ids);
    const owner = new Map(turns.map(({ id, session }) => [id, session]));
    const type = question.question_type;
    const order = bm25(turns.map(({ turn }) => turn.content)).rank(question.question);
    const ranked = order.map((i) => [turns[i]?.id ?? ""]);
    await using memory = await asking(question.question_id, messagesOf(turns), embedder);
    const recalled = await memory.ask(question.question, dateOf(question.question_date));
    if (gold.size > 0) await told.add(memory, question.question, gold);
    const metrics = scoreFound(recalled, gold, CUTS);
    context.add(
      recalled,
      order.map((i) => turns[i]?.turn.content ?? ""),
    );
    if (gold.size > 0) {
      ours.turn.add(type, metrics);
      base.turn.add(type, score(ranked, gold, CUTS));
    }
    ours.session.add(type, score(sessionsOf(recalled.far, owner), goldSessions, CUTS));
    base.session.add(type, score(sessionsOf(ranked, owner), goldSessions, CUTS));
    asked.push({
      id: question.question_id,
      type,
      "recall@5": metrics["recall@5"],
      "recall@10": metrics["recall@10"],
    });
    progress(asked.length, questions.length);
  }
  return {
    report: {
      set: "longmemeval",
      metrics: {
        ...named("turn", ours.turn, COLUMNS),
        ...named("session", ours.session, COLUMNS),
        ...context.ours(),
        ...told.metrics(),
      },
      baseline: {
        ...named("turn", base.turn, COLUMNS),
        ...named("session", base.session, COLUMNS),
        ...context.base(),
      },
      intervals: { "turn_recall@10": interval(ours.turn.values("recall@10")) },
      n: asked.length,
      per_question: asked,
    },
    notes: [
      "All turns are searched. k counts items; a memory credits every turn that it was read from.",
      "Sessions are ranked by their best turn.",
    ],
  };
}

/** Each question with its chats, for fitting; those without a marked turn are left out. */
export function longmemevalQuestions(data: string): Conversation[] {
  const { questions, sessions } = read(data);
  return questions.flatMap((question) => {
    const turns = turnsOf(question, sessions);
    const gold = goldOf(turns);
    const asked = { question: question.question, gold };
    return gold.size > 0
      ? [{ name: question.question_id, messages: messagesOf(turns), questions: [asked] }]
      : [];
  });
}

/** A question with its chats as a `Talk` has them. */
export interface Haystack {
  readonly type: string;
  readonly question: string;
  /** When it is asked. */
  readonly at: string;
  readonly messages: readonly Unit[];
  /** The evidence sessions, oldest first. */
  readonly evidence: readonly string[];
}

/** The questions that have an answer, each message under the id of its session. */
export function haystacks(data: string): Haystack[] {
  const { questions, sessions } = read(data);
  return questions.map((question) => ({
    type: question.question_type,
    question: question.question,
    at: dateOf(question.question_date),
    messages: turnsOf(question, sessions).map(({ session, turn, at }) => ({
      id: session,
      session,
      at,
      role: turn.role,
      content: turn.content,
    })),
    evidence: question.haystack_session_ids
      .map((id, i) => ({ id, date: question.haystack_dates[i] ?? "" }))
      .filter(({ id }) => question.answer_session_ids.includes(id))
      .sort((one, other) => (one.date < other.date ? -1 : Number(one.date > other.date)))
      .map(({ id }) => id),
  }));
}

function read(data: string): { questions: Question[]; sessions: ReadonlyMap<string, readonly Turn[]> } {
  const folder = "longmemeval_s";
  const sessions = readLines<{ session_id: string; turns: Turn[] }>(data, folder, "sessions.jsonl.gz");
  return {
    questions: readLines<Question>(data, folder, "questions.jsonl.gz").filter(
      ({ question_id }) => !question_id.endsWith("_abs"),
    ),
    sessions: new Map(sessions.map((one) => [one.session_id, one.turns])),
  };
}

function goldOf(turns: readonly Said[]): ReadonlySet<string> {
  return new Set(turns.flatMap(({ id, turn }) => (turn.has_answer ? [id] : [])));
}

function turnsOf(question: Question, sessions: ReadonlyMap<string, readonly Turn[]>): Said[] {
  return question.haystack_session_ids.flatMap((session, i) =>
    (sessions.get(session) ?? []).map((turn, n) => ({
      id: `${session}_${n + 1}`,
      session,
      turn,
      at: dateOf(question.haystack_dates[i] ?? ""),
    })),
  );
}

/** What was said, never the mark that it holds the answer. An empty turn is no message. */
function messagesOf(turns: readonly Said[]): InputMessage[] {
  return turns.flatMap(({ id, session, turn, at }) => {
    const content = cleaned(turn.content);
    return content.trim() === "" ? [] : [{ id, session, at, role: turn.role, content }];
  });
}

/** "2023/05/30 (Tue) 23:40", taken as UTC. */
function dateOf(text: string): string {
  const [, year, month, day, time] = /^(\d+)\/(\d+)\/(\d+) \(\w+\) ([\d:]+)$/.exec(text) ?? [];
  return new Date(`${year}-${month}-${day}T${time}:00Z`).toISOString();
}

function sessionsOf(places: readonly (readonly string[])[], owner: ReadonlyMap<string, string>): string[][] {
  const seen = new Set<string>();
  for (const ids of places) for (const id of ids) seen.add(owner.get(id) ?? "");
  return [...seen].map((one) => [one]);
}
