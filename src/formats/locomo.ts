import { invalid } from "../errors.ts";
import type { Entry } from "./entry.ts";
import { jsonFile } from "./json-file.ts";
import { isObject } from "./lines.ts";
import { spokenTime } from "./spoken-time.ts";

/**
 * Conversations of LoCoMo (Maharana et al. 2024): a list of samples with sessions of turns. Ids are
 * `<sample>:<dia_id>`, sessions `<sample>:session_<n>`; each turn is a second later than the one before it. The
 * caption of a shared picture is part of what was said. Questions, answers and summaries are left out.
 */
export async function* readLocomo(path: string): AsyncIterable<Entry> {
  const samples = jsonFile(path);
  if (!isLocomo(samples)) throw invalid("the file holds no LoCoMo conversations.");
  for (const { sample_id: sample, conversation } of samples) {
    for (const session of sessionsOf(conversation)) {
      const date = conversation[`${session}_date_time`];
      for (const [i, turn] of (conversation[session] as readonly unknown[]).entries()) {
        const { speaker, dia_id: id, text, blip_caption: caption } = turnOf(turn, `${sample}, ${session}`, i);
        yield {
          place: `${sample}:${id}`,
          message: {
            id: `${sample}:${id}`,
            role: "user",
            name: speaker,
            content: caption ? `${text} [image: ${caption}]`.trim() : text,
            at: spokenTime(date, i),
            session: `${sample}:${session}`,
          },
        };
      }
    }
  }
}

interface Sample {
  readonly sample_id: string;
  readonly conversation: { readonly [key: string]: unknown };
}

export function isLocomo(value: unknown): value is readonly Sample[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => isObject(one) && typeof one.sample_id === "string" && isObject(one.conversation))
  );
}

function sessionsOf(conversation: Sample["conversation"]): string[] {
  return Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key) && Array.isArray(conversation[key]))
    .sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)));
}

interface Turn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

function turnOf(turn: unknown, session: string, i: number): Turn {
  const isTurn =
    isObject(turn) && [turn.speaker, turn.dia_id, turn.text].every((field) => typeof field === "string");
  if (!isTurn) throw invalid(`${session}, turn ${i + 1}: it must have speaker, dia_id and text.`);
  return turn as unknown as Turn;
}
