/** A unit that may be given, and why it ranks where it does. */
export interface Candidate {
  readonly slot: number;
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  /** The turns that it rests on. */
  readonly turns: readonly number[];
  /** What two texts that say the same have in common. */
  readonly key: number;
  /** True where it answers the question itself: then nothing stands for it. */
  readonly answers: boolean;
}

/** What is left of the score of another passage of a message that stands there. */
const MORE_OF_IT = 0.8;
/** What is left of the score of something that stands there already in other words. */
const REPEATED = 0.5;

/**
 * The candidates in the order in which they get places. Places go to different things: what was read from a message
 * that stands above already, as a passage or in another memory, is set back, unless it answers the question itself;
 * and so is a text that stands there word for word. What gets the first places does not hang on how many there are.
 */
export function arrange(candidates: readonly Candidate[]): Candidate[] {
  const there: There = { texts: new Set(), read: new Set(), quoted: new Set() };
  const arranged: Candidate[] = [];
  for (const candidate of [...candidates].sort(byScore)) {
    const keeps = keptBeside(there, candidate);
    const { type, turns, key } = candidate;
    there.texts.add(key);
    for (const turn of turns) (type === "memory" ? there.read : there.quoted).add(turn);
    arranged.push(keeps < 1 ? { ...candidate, score: candidate.score * keeps } : candidate);
  }
  return arranged.sort(byScore);
}

/** What has a place: its texts by key, and the turns that a memory was read from or that are there as they were said. */
interface There {
  readonly texts: Set<number>;
  readonly read: Set<number>;
  readonly quoted: Set<number>;
}

/** The share of its score that a candidate keeps beside what is there. */
function keptBeside({ texts, read, quoted }: There, { type, turns, key, answers }: Candidate): number {
  const isQuoted = hasAny(quoted, turns);
  // Passages of one long message are different things; memories of one message are mostly the same.
  const isSaid = !answers && (hasAny(read, turns) || (type === "memory" && isQuoted));
  if (isSaid || texts.has(key)) return REPEATED;
  return type === "passage" && isQuoted ? MORE_OF_IT : 1;
}

function hasAny(known: ReadonlySet<number>, turns: readonly number[]): boolean {
  for (const turn of turns) if (known.has(turn)) return true;
  return false;
}

/** Best first; among equals the smaller id, so that the order does not hang on the order of storing. */
function byScore(one: Candidate, other: Candidate): number {
  return other.score - one.score || (one.id < other.id ? -1 : 1);
}
