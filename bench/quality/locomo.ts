import { readJson } from "./files.ts";
import type { Conversation } from "./fit.ts";
import {
  evidenceIn,
  type PeopleQuestion,
  type PeopleTalk,
  type PersonTurn,
  people,
  peopleForFitting,
  sessionsIn,
} from "./people.ts";
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

const CATEGORIES: { readonly [category: number]: string } = {
  1: "1 multi-hop",
  2: "2 temporal",
  3: "3 open-domain",
  4: "4 single-hop",
};

/**
 * LoCoMo: two people talk over months; each question names the turns that hold its answer. Each conversation is one
 * user's memory. Categories 1 to 4 count (5 asks after what was never said). A memory credits the turns it came from.
 */
export function locomo(options: RunOptions): Promise<Run> {
  return people("locomo", talksIn(options.data), options, ["Categories 1-4."]);
}

/** The conversations with their questions, for fitting. */
export function locomoQuestions(data: string): Conversation[] {
  return peopleForFitting(talksIn(data));
}

/** The conversations as their turns and questions. */
export function talksIn(data: string): PeopleTalk[] {
  return readJson<Sample[]>(data, "locomo", "locomo.json").map((sample) => {
    const turns = turnsOf(sample);
    return { name: sample.sample_id, turns, questions: questionsOf(sample, turns) };
  });
}

function turnsOf({ conversation }: Sample): PersonTurn[] {
  return sessionsIn(conversation).flatMap((session) =>
    (conversation[`session_${session}`] as Turn[]).map((turn) => ({
      id: turn.dia_id,
      session: `S${session}`,
      at: dateOf(String(conversation[`session_${session}_date_time`])),
      speaker: turn.speaker,
      text: `${turn.text} ${turn.blip_caption ?? ""}`,
    })),
  );
}

/** Questions of categories 1 to 4 with the turns that answer them. */
function questionsOf({ qa }: Sample, turns: readonly PersonTurn[]): PeopleQuestion[] {
  const ids = new Set(turns.map(({ id }) => id));
  return qa.flatMap(({ question, category, evidence }) => {
    const gold = evidenceIn(evidence, ids);
    return gold.size > 0 && category !== 5 ? [{ question, group: CATEGORIES[category] ?? "", gold }] : [];
  });
}

/** "1:56 pm on 8 May, 2023", taken as UTC. */
function dateOf(text: string): string {
  const [, hour = "0", minute = "0", half, day, month, year] =
    /^(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)$/.exec(text.trim()) ?? [];
  const date = new Date(`${day} ${month} ${year} 00:00:00 UTC`);
  date.setUTCHours((Number(hour) % 12) + (half === "pm" ? 12 : 0), Number(minute));
  return date.toISOString();
}
