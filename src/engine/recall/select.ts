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
  const texts = new Set<number>();
  const read = new Set<number>();
  const quoted = new Set<number>();
  const arranged = [...candidates].sort(byScore).map((candidate) => {
    const { type, turns } = candidate;
    // Passages of one long message are different things; memories of one message are mostly the same.
    const isThere = (turn: number): boolean => read.has(turn) || (type === "memory" && quoted.has(turn));
    const isSaid = turns.some(isThere) && !candidate.answers;
    const isMore = type === "passage" && turns.some((turn) => quoted.has(turn));
    const keeps = isSaid || texts.has(candidate.key) ? REPEATED : isMore ? MORE_OF_IT : 1;
    texts.add(candidate.key);
    for (const turn of turns) (type === "memory" ? read : quoted).add(turn);
    return keeps < 1 ? { ...candidate, score: candidate.score * keeps } : candidate;
  });
  return arranged.sort(byScore);
}

/** Best first; among equals the smaller id, so that the order does not hang on the order of storing. */
function byScore(one: Candidate, other: Candidate): number {
  return other.score - one.score || (one.id < other.id ? -1 : 1);
}
