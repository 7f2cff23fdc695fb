import type { InputMessage } from "../engine/surface.ts";
import { MemoryError } from "../errors.ts";
import { jsonFile, timeOf } from "./json-file.ts";

interface Turn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

/**
 * Conversations of LoCoMo (Maharana et al. 2024): a list of samples with sessions of turns. Ids are
 * `<sample>:<dia_id>`, sessions `<sample>:session_<n>`; each turn is a second later than the one before it. The
 * caption of a shared picture is part of what was said.
 */
export async function* readLocomo(path: string): AsyncIterable<InputMessage> {
  const samples = jsonFile(path);
  if (!isLocomo(samples)) throw new MemoryError("invalid_input", "the file holds no LoCoMo conversations.");
  for (const { sample_id: sample, conversation } of samples) {
    const sessions = Object.keys(conversation)
      .filter((key) => /^session_\d+$/.test(key) && Array.isArray(conversation[key]))
      .sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)));
    for (const session of sessions) {
      const date = String(conversation[`${session}_date_time`]);
      for (const [i, turn] of (conversation[session] as readonly Turn[]).entries()) {
        yield {
          id: `${sample}:${turn.dia_id}`,
          role: "user",
          name: turn.speaker,
          content: turn.blip_caption ? `${turn.text} [image: ${turn.blip_caption}]` : turn.text,
          at: timeOf(date, i),
          session: `${sample}:${session}`,
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
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(
    (one: unknown) => typeof one === "object" && one !== null && "sample_id" in one && "conversation" in one,
  );
}
