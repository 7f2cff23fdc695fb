import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "./files.ts";
import {
  evidenceIn,
  type PeopleQuestion,
  type PeopleTalk,
  type PersonTurn,
  people,
  sessionsIn,
} from "./people.ts";
import type { Run, RunOptions } from "./report.ts";

interface Turn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly clean_text?: string;
  readonly blip_caption?: string;
  readonly date_time?: string;
}

/** The sessions stand in `conversation`, as in LoCoMo, or at the top. */
interface Chat {
  readonly conversation?: { readonly [key: string]: unknown };
  readonly qa?: readonly {
    readonly question: string;
    readonly evidence?: readonly unknown[] | string;
    readonly category?: number;
  }[];
}

const CATEGORIES: { readonly [category: number]: string } = {
  1: "1 multi-hop",
  2: "2 temporal",
  3: "3 commonsense",
};

/**
 * REALTALK: two people really chatted for three weeks; each question names the turns that hold its answer. As LoCoMo,
 * one file to a chat. Questions whose turns are not there are left out.
 */
export function realtalk(options: RunOptions): Promise<Run> {
  return people("realtalk", realtalkTalks(options.data), options, ["All three categories."]);
}

/** The chats with the questions that name at least one turn. */
export function realtalkTalks(data: string): PeopleTalk[] {
  const folder = join(data, "realtalk");
  return filesIn(folder).map((file) => {
    const chat = readJson<Chat>(folder, file);
    const turns = turnsOf(chat.conversation ?? (chat as { [key: string]: unknown }));
    return { name: file.replace(".json", ""), turns, questions: questionsOf(chat, turns) };
  });
}

/** `Chat_1_…` to `Chat_10_…`, in the order of their numbers. */
function filesIn(folder: string): string[] {
  const number = (file: string): number => Number(/\d+/.exec(file)?.[0] ?? 0);
  let files: string[] = [];
  try {
    files = readdirSync(folder).filter((file) => /^Chat_.*\.json$/.test(file));
  } catch {
    // Said below: a folder that cannot be read is as good as one without chats.
  }
  if (files.length > 0) return files.sort((one, other) => number(one) - number(other));
  throw new Error(`${folder} holds no Chat_*.json. bench/quality/README.md says where the data comes from.`);
}

function turnsOf(conversation: { readonly [key: string]: unknown }): PersonTurn[] {
  return sessionsIn(conversation).flatMap((session) =>
    (conversation[`session_${session}`] as Turn[]).map((turn) => {
      const at = dateOf(turn.date_time) ?? dateOf(conversation[`session_${session}_date_time`]);
      return {
        id: turn.dia_id,
        session: `S${session}`,
        speaker: turn.speaker,
        text: `${turn.clean_text ?? ""} ${turn.blip_caption ?? ""}`,
        ...(at === undefined ? {} : { at }),
      };
    }),
  );
}

function questionsOf({ qa = [] }: Chat, turns: readonly PersonTurn[]): PeopleQuestion[] {
  const ids = new Set(turns.map(({ id }) => id));
  return qa.flatMap(({ question, category = 0, evidence = [] }) => {
    const gold = evidenceIn([evidence].flat(), ids);
    return gold.size > 0 ? [{ question, group: CATEGORIES[category] ?? "other", gold }] : [];
  });
}

/** "29.12.2023, 19:08:31", LoCoMo's "1:56 pm on 8 May, 2023", or any form that JavaScript reads; taken as UTC. */
function dateOf(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  const [, day, month, year, time = "00:00"] =
    /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? (\d{1,2}:\d{2}(?::\d{2})?))?/.exec(text.trim()) ?? [];
  const [, hour, half, spoken] = /^(\d+:\d+) (am|pm) on (\d+ \w+, \d+)$/.exec(text.trim()) ?? [];
  const date = new Date(
    year ? `${year}-${month}-${day} ${time} UTC` : spoken ? `${spoken} ${hour} ${half} UTC` : `${text} UTC`,
  );
  const known = Number.isNaN(date.getTime()) ? new Date(text) : date;
  return Number.isNaN(known.getTime()) ? undefined : known.toISOString();
}
