import { readJson } from "../quality/files.ts";
import { evidenceIn, sessionsIn } from "../quality/people.ts";

/** What one sentence about a speaker says, and the turn that says it. */
export interface Observation {
  readonly speaker: string;
  readonly text: string;
}

interface Sample {
  readonly conversation: { readonly [key: string]: unknown };
  readonly observation?: {
    readonly [session: string]: { readonly [speaker: string]: readonly (readonly [string, unknown])[] };
  };
}

interface Turn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

/** Only letters and digits, and the first of them: by these a turn is known again in a prompt. */
export const keyOf = (speaker: string, text: string): string =>
  `${speaker} ${text}`
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "")
    .slice(0, 100);

/**
 * What a model wrote down about each turn: LoCoMo brings "observations", sentences that a GPT model drew from each session,
 * each with the turn that it rests on. Where there are none (in the project's own conversation), each sentence in which
 * somebody speaks of themself stands for one.
 */
export function observationsIn(data: string): ReadonlyMap<string, readonly Observation[]> {
  const found = new Map<string, Observation[]>();
  for (const { conversation, observation } of readJson<Sample[]>(data, "locomo", "locomo.json")) {
    const turns = sessionsIn(conversation).flatMap((session) => conversation[`session_${session}`] as Turn[]);
    const keys = new Map(
      turns.map((turn) => [turn.dia_id, keyOf(turn.speaker, `${turn.text} ${turn.blip_caption ?? ""}`)]),
    );
    for (const [id, one] of observation ? written(observation, new Set(keys.keys())) : ofThemselves(turns)) {
      const key = keys.get(id) ?? "";
      found.set(key, [...(found.get(key) ?? []), one]);
    }
  }
  return found;
}

type Placed = readonly [id: string, Observation];

function written(sessions: NonNullable<Sample["observation"]>, ids: ReadonlySet<string>): Placed[] {
  return Object.values(sessions).flatMap((bySpeaker) =>
    Object.entries(bySpeaker).flatMap(([speaker, lines]) =>
      lines.flatMap(([text, evidence]): Placed[] => {
        const [first] = evidenceIn([evidence].flat(), ids);
        return first === undefined ? [] : [[first, { speaker, text }]];
      }),
    ),
  );
}

function ofThemselves(turns: readonly Turn[]): Placed[] {
  return turns.flatMap(({ dia_id: id, speaker, text }) =>
    (text.match(/[^.!?]+[.!?]*/g) ?? [])
      .filter((sentence) => /\b(?:I|my|we|our)\b/.test(sentence) && sentence.trim().split(/\s+/).length >= 5)
      .map((sentence): Placed => [id, { speaker, text: `${speaker} ${sentence.trim()}` }]),
  );
}
