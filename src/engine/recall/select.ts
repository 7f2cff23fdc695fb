/** A unit that may be given, and why it ranks where it does. */
export interface Candidate {
  readonly slot: number;
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  /** Ids of the messages that it rests on. */
  readonly messages: readonly string[];
  /** What two texts that say the same have in common. */
  readonly key: string;
  /** True where it answers the question itself: then nothing stands for it. */
  readonly answers: boolean;
}

/**
 * The candidates that get a place, best first, and those that do not. Places go to different things: a passage whose
 * memory is there already, a memory whose passage is, and a text that stands there word for word, wait until all else
 * has a place.
 */
export function select(
  sorted: readonly Candidate[],
  limit: number,
): { chosen: Candidate[]; duplicates: Candidate[]; beyond: Candidate[] } {
  const chosen: Candidate[] = [];
  const waiting: Candidate[] = [];
  const beyond: Candidate[] = [];
  const texts = new Set<string>();
  const spoken = { memory: new Set<string>(), passage: new Set<string>() };
  for (const candidate of sorted) {
    if (chosen.length >= limit) {
      beyond.push(candidate);
      continue;
    }
    const others = candidate.type === "memory" ? spoken.passage : spoken.memory;
    const isSaid = candidate.messages.some((message) => others.has(message)) && !candidate.answers;
    if (isSaid || texts.has(candidate.key)) {
      waiting.push(candidate);
      continue;
    }
    chosen.push(candidate);
    texts.add(candidate.key);
    for (const message of candidate.messages) spoken[candidate.type].add(message);
  }
  const second = waiting.splice(0, limit - chosen.length);
  return { chosen: [...chosen, ...second].sort(byScore), duplicates: waiting, beyond };
}

/** Best first; among equals the smaller id, so that the order does not hang on the order of storing. */
export function byScore(one: Candidate, other: Candidate): number {
  return other.score - one.score || (one.id < other.id ? -1 : 1);
}
