/** A unit that may be given, and why it ranks where it does. */
export interface RankCandidate {
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
const SAME_MESSAGE_FACTOR = 0.8;
/** What is left of the score of something that stands there already in other words. */
const DUPLICATE_FACTOR = 0.5;

/**
 * The candidates in the order in which they get places. Places go to different things: what was read from a message
 * that stands above already, as a passage or in another memory, is set back, unless it answers the question itself;
 * and so is a text that stands there word for word. What gets the first places does not hang on how many there are.
 */
export function arrangeCandidates(candidates: readonly RankCandidate[]): RankCandidate[] {
  const there: PlacedContent = { texts: new Set(), sourceTurns: new Set(), quotedTurns: new Set() };
  const arranged: RankCandidate[] = [];
  for (const candidate of [...candidates].sort(compareCandidates)) {
    const keeps = computeKeptShare(there, candidate);
    const { type, turns, key } = candidate;
    there.texts.add(key);
    for (const turn of turns) (type === "memory" ? there.sourceTurns : there.quotedTurns).add(turn);
    arranged.push(keeps < 1 ? { ...candidate, score: candidate.score * keeps } : candidate);
  }
  return arranged.sort(compareCandidates);
}

/** What has a place: its texts by key, and the turns that a memory was read from or that are there as they were said. */
interface PlacedContent {
  readonly texts: Set<number>;
  readonly sourceTurns: Set<number>;
  readonly quotedTurns: Set<number>;
}

/** The share of its score that a candidate keeps beside what is there. */
function computeKeptShare(
  { texts, sourceTurns: read, quotedTurns: quoted }: PlacedContent,
  { type, turns, key, answers }: RankCandidate,
): number {
  const isQuoted = hasAny(quoted, turns);
  // Passages of one long message are different things; memories of one message are mostly the same.
  const isSaid = !answers && (hasAny(read, turns) || (type === "memory" && isQuoted));
  if (isSaid || texts.has(key)) return DUPLICATE_FACTOR;
  return type === "passage" && isQuoted ? SAME_MESSAGE_FACTOR : 1;
}

function hasAny(known: ReadonlySet<number>, turns: readonly number[]): boolean {
  for (const turn of turns) if (known.has(turn)) return true;
  return false;
}

/** Best first; among equals the smaller id, so that the order does not hang on the order of storing. */
function compareCandidates(one: RankCandidate, other: RankCandidate): number {
  return other.score - one.score || (one.id < other.id ? -1 : 1);
}
