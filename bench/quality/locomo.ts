import { createMemory, type InputMessage, type Item } from "../../src/index.ts";
import { bm25 } from "./bm25.ts";
import { readJson } from "./files.ts";
import type { Conversation } from "./fit.ts";
import { type Metrics, named, score, table } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";

interface Turn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

interface Sample {
  readonly sample_id: string;
  readonly conversation: { readonly [key: string]: unknown };
  readonly qa: readonly {
    readonly question: string;
    readonly evidence: readonly string[];
    readonly category: number;
  }[];
}

interface Said {
  readonly id: string;
  readonly session: number;
  readonly date: string;
  readonly speaker: string;
  readonly text: string;
}

const CATEGORIES: { readonly [category: number]: string } = {
  1: "1 multi-hop",
  2: "2 temporal",
  3: "3 open-domain",
  4: "4 single-hop",
};
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

/**
 * LoCoMo: two people talk over months; each question names the turns that hold its answer. Each conversation is one
 * user's memory. Categories 1 to 4 count (5 asks after what was never said). A memory credits the turns it came from.
 */
export async function locomo({
  data,
  embedder,
  limit = Number.POSITIVE_INFINITY,
  progress,
}: RunOptions): Promise<Run> {
  const samples = readJson<Sample[]>(data, "locomo", "locomo.json");
  const ours = { turn: table(), session: table() };
  const base = { turn: table(), session: table() };
  const asked: object[] = [];
  const tokens: number[] = [];
  const times: number[] = [];
  const all = samples.flatMap((sample) => questionsOf(sample)).length;
  for (const sample of samples) {
    if (asked.length >= limit) break;
    const turns = turnsOf(sample);
    await using memory = await createMemory({ path: ":memory:", embedder });
    const user = memory.scope({ user: sample.sample_id });
    await user.remember(turns.map(messageOf));
    const baseline = baselineOf(turns);
    const session = new Map(turns.map((turn) => [turn.id, `S${turn.session}`]));
    for (const { question, category, gold } of questionsOf(sample)) {
      if (asked.length >= limit) break;
      const began = performance.now();
      const { items } = await user.recall(question, { limit: 50 });
      times.push(performance.now() - began);
      const goldSessions = new Set([...gold].map((id) => session.get(id) ?? ""));
      const places = items.map(({ sources }) => sources.map(({ message }) => message));
      const group = CATEGORIES[category] ?? "";
      const metrics = score(places, gold, CUTS);
      ours.turn.add(group, metrics);
      ours.session.add(group, score(sessionsOf(places, session), goldSessions, CUTS));
      base.turn.add(group, score(baseline.turns(question), gold, CUTS));
      base.session.add(group, score(baseline.sessions(question), goldSessions, CUTS));
      tokens.push(tokensOf(items.slice(0, 10)));
      asked.push(answered(sample.sample_id, question, group, metrics));
      progress(asked.length, Math.min(all, limit));
    }
  }
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, one) => sum + one, 0) / (values.length || 1);
  return {
    report: {
      set: "locomo",
      metrics: {
        ...named("turn", ours.turn, TURN),
        ...named("session", ours.session, SESSION),
        "context_tokens@10": Math.round(mean(tokens)),
        recall_ms: Number(mean(times).toFixed(2)),
      },
      baseline: { ...named("turn", base.turn, TURN), ...named("session", base.session, SESSION) },
      n: asked.length,
      per_question: asked,
    },
    notes: [
      "Categories 1-4. k counts items; a memory credits every turn that it was read from.",
      "Session figures: ours rank sessions by their best item, BM25 ranks whole sessions.",
    ],
  };
}

/** The conversations with their questions, for fitting. */
export function locomoQuestions(data: string): Conversation[] {
  return readJson<Sample[]>(data, "locomo", "locomo.json").map((sample) => ({
    name: sample.sample_id,
    messages: turnsOf(sample).map(messageOf),
    questions: questionsOf(sample),
  }));
}

function answered(sample: string, question: string, category: string, metrics: Metrics): object {
  return { sample, question, category, "recall@5": metrics["recall@5"], "recall@10": metrics["recall@10"] };
}

function turnsOf({ conversation }: Sample): Said[] {
  const numbers = Object.keys(conversation).flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? []);
  return numbers
    .map(Number)
    .sort((one, other) => one - other)
    .flatMap((session) =>
      (conversation[`session_${session}`] as Turn[]).map((turn) => ({
        id: turn.dia_id,
        session,
        date: String(conversation[`session_${session}_date_time`]),
        speaker: turn.speaker,
        text: `${turn.text} ${turn.blip_caption ?? ""}`,
      })),
    );
}

function messageOf({ id, session, date, speaker, text }: Said): InputMessage {
  return { id, role: "user", name: speaker, content: text.trim(), at: dateOf(date), session: `S${session}` };
}

/** "1:56 pm on 8 May, 2023", taken as UTC. */
function dateOf(text: string): string {
  const [, hour = "0", minute = "0", half, day, month, year] =
    /^(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)$/.exec(text.trim()) ?? [];
  const date = new Date(`${day} ${month} ${year} 00:00:00 UTC`);
  date.setUTCHours((Number(hour) % 12) + (half === "pm" ? 12 : 0), Number(minute));
  return date.toISOString();
}

/** Questions of categories 1 to 4 with the turns that answer them. Evidence is messy: "D8:6; D9:17", "D30:05", empty. */
function questionsOf(sample: Sample): { question: string; category: number; gold: ReadonlySet<string> }[] {
  const ids = new Set(turnsOf(sample).map(({ id }) => id));
  return sample.qa.flatMap(({ question, category, evidence }) => {
    const found = evidence.flatMap((one) =>
      [...one.matchAll(/D:?(\d+):0*(\d+)/g)].map(([, a, b]) => `D${a}:${b}`),
    );
    const gold = new Set(found.filter((id) => ids.has(id)));
    return gold.size > 0 && category !== 5 ? [{ question, category, gold }] : [];
  });
}

function baselineOf(turns: readonly Said[]): {
  [unit in "turns" | "sessions"]: (question: string) => string[][];
} {
  const texts = turns.map(({ speaker, text }) => `${speaker}: ${text}`);
  const bySession = Map.groupBy(texts, (_, i) => `S${turns[i]?.session}`);
  const sessions = [...bySession.keys()];
  const rankTurns = bm25(texts);
  const rankSessions = bm25([...bySession.values()].map((session) => session.join(" ")));
  return {
    turns: (question) =>
      rankTurns
        .rank(question)
        .slice(0, 50)
        .map((i) => [turns[i]?.id ?? ""]),
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

/** About four characters to a token. */
function tokensOf(items: readonly Item[]): number {
  return items.reduce((sum, { text }) => sum + text.length / 4, 0);
}
