import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "./files.ts";
import type { Run, RunOptions } from "./report.ts";
import { type GoldQuestion, retrieval, type SetConversation, type Unit } from "./retrieval.ts";

interface Batch {
  readonly batch_number: number;
  readonly time_anchor?: string | null;
  readonly turns: readonly (readonly Message[])[];
}

interface Message {
  readonly role: "user" | "assistant";
  readonly id: number;
  readonly time_anchor?: string | null;
  readonly content: string | null;
}

/** Questions by ability. */
export interface Probes {
  readonly [ability: string]: readonly { readonly question: string; readonly source_chat_ids?: unknown }[];
}

export interface Chat {
  readonly name: string;
  readonly messages: readonly Unit[];
  readonly probes: Probes;
}

/** What the generator of the chats left at the end of a message. */
const MARKS = /\s*->->.*$/s;

/**
 * BEAM: long chats with an assistant, here those of 100K tokens; each question names the messages that its answer
 * rests on. Each chat is one user's memory. The questions without an answer ("abstention") are left out.
 */
export function beam(options: RunOptions): Promise<Run> {
  return retrieval(
    {
      set: "beam",
      cuts: [5, 10, 20, 50],
      columns: ["recall@5", "recall@10", "recall@20", "recall@50", "any@10", "all@10", "ndcg@10", "mrr"],
      main: ["recall@10"],
      notes: ["Chats of 100K tokens; messages of both are searched."],
    },
    beamTalks(options.data),
    options,
  );
}

/** The chats with the questions that have an answer. */
export function beamTalks(data: string): SetConversation[] {
  return beamChats(data).map(({ name, messages, probes }) => {
    const known = new Set(messages.map(({ id }) => id));
    return { name, messages, questions: questionsOf(probes, known) };
  });
}

/** All chats of 100K tokens, in the order of their numbers. */
export function beamChats(data: string): Chat[] {
  const folder = join(data, "beam", "100K");
  return chatsIn(folder).map((name) => ({
    name: `beam-${name}`,
    messages: messagesOf(readJson<Batch[]>(folder, name, "chat.json")),
    probes: readJson<Probes>(folder, name, "probing_questions", "probing_questions.json"),
  }));
}

/** The message ids in a number, a text, a list, or a dictionary of those. */
export function idsIn(source: unknown): string[] {
  if (typeof source === "number") return [String(source)];
  if (typeof source === "string") return [...source.matchAll(/\d+/g)].map(([id]) => String(Number(id)));
  if (typeof source === "object" && source !== null) return Object.values(source).flatMap(idsIn);
  return [];
}

function chatsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .sort((one, other) => Number(one) - Number(other));
  } catch {
    throw new Error(`${folder} cannot be read. bench/quality/README.md says where the data comes from.`);
  }
}

function questionsOf(probes: Probes, known: ReadonlySet<string>): GoldQuestion[] {
  return Object.entries(probes).flatMap(([group, questions]) =>
    questions.flatMap(({ question, source_chat_ids }) => {
      const gold = new Set(idsIn(source_chat_ids).filter((id) => known.has(id)));
      return gold.size > 0 && group !== "abstention" ? [{ question, group, gold }] : [];
    }),
  );
}

/** A date stands at the first message of a batch and holds until the next one. */
function messagesOf(batches: readonly Batch[]): Unit[] {
  let at: string | undefined;
  return batches.flatMap(({ batch_number, time_anchor, turns }) =>
    turns.flat().map((message) => {
      at = dateOf(message.time_anchor ?? time_anchor) ?? at;
      return {
        id: String(message.id),
        role: message.role,
        session: `B${batch_number}`,
        content: (message.content ?? "").replace(MARKS, ""),
        ...(at === undefined ? {} : { at }),
      };
    }),
  );
}

/** "March-15-2024", taken as UTC. */
function dateOf(text: string | null | undefined): string | undefined {
  const [, month, day, year] = /^(\w+)-(\d+)-(\d+)$/.exec(text ?? "") ?? [];
  const date = new Date(`${day} ${month} ${year} 00:00:00 UTC`);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
