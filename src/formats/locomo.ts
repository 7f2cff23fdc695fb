import { invalid } from "../errors.ts";
import type { ImportedMessage } from "./entry.ts";
import { readJsonFile } from "./json-file.ts";
import { isObjectValue } from "./lines.ts";
import { parseDatasetTime } from "./spoken-time.ts";

/**
 * Conversations of LoCoMo (Maharana et al. 2024): a list of samples with sessions of turns. Ids are
 * `<sample>:<dia_id>`, sessions `<sample>:session_<n>`; each turn is a second later than the one before it. The
 * caption of a shared picture is part of what was said. Questions, answers and summaries are left out.
 */
export async function* readLocomo(path: string): AsyncIterable<ImportedMessage> {
  const samples = readJsonFile(path);
  if (!isLocomoDataset(samples)) throw invalid("the file holds no LoCoMo conversations.");
  for (const { sample_id: sample, conversation } of samples) {
    for (const session of listSessionKeys(conversation)) {
      const date = conversation[`${session}_date_time`];
      for (const [i, turn] of (conversation[session] as readonly unknown[]).entries()) {
        const {
          speaker,
          dia_id: id,
          text,
          blip_caption: caption,
        } = parseLocomoTurn(turn, `${sample}, ${session}`, i);
        yield {
          place: `${sample}:${id}`,
          message: {
            id: `${sample}:${id}`,
            role: "user",
            name: speaker,
            content: caption ? `${text} [image: ${caption}]`.trim() : text,
            at: parseDatasetTime(date, i),
            session: `${sample}:${session}`,
          },
        };
      }
    }
  }
}

interface LocomoSample {
  readonly sample_id: string;
  readonly conversation: { readonly [key: string]: unknown };
}

export function isLocomoDataset(value: unknown): value is readonly LocomoSample[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (one) => isObjectValue(one) && typeof one.sample_id === "string" && isObjectValue(one.conversation),
    )
  );
}

function listSessionKeys(conversation: LocomoSample["conversation"]): string[] {
  return Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key) && Array.isArray(conversation[key]))
    .sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)));
}

interface LocomoTurn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

function parseLocomoTurn(turn: unknown, session: string, i: number): LocomoTurn {
  const isTurn =
    isObjectValue(turn) && [turn.speaker, turn.dia_id, turn.text].every((field) => typeof field === "string");
  if (!isTurn) throw invalid(`${session}, turn ${i + 1}: it must have speaker, dia_id and text.`);
  return turn as unknown as LocomoTurn;
}
