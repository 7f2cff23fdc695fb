import { UNIQUE } from "./many-commands.ts";

/** A call through a door, with the moments of its begin and end; `end` is infinite where its outcome is not known. */
export interface CallSpan {
  readonly begin: number;
  readonly end: number;
}

/** A fact that was to be stored, under one word. */
export interface Fact extends CallSpan {
  readonly user: string;
  readonly word: string;
  readonly isAcked: boolean;
  /** The word stands in a memory alone, which others may change: it is looked for where it may not be, and never missed. */
  readonly isOfMemory?: boolean;
}

/** An erasure: of one word, or of all there is about a user. */
export interface Erased extends CallSpan {
  readonly user: string;
  /** Absent: everything. */
  readonly word?: string;
  readonly isAcked: boolean;
  /** Whether its receipt says that every place was read again. */
  readonly isComplete: boolean;
}

export interface ReadCall extends CallSpan {
  readonly user: string;
  /** Whether it gives everything, or may leave something out. */
  readonly isWhole: boolean;
  readonly words: readonly string[];
}

export interface SetFindings {
  readonly acked: number;
  readonly inDoubt: number;
  readonly lost: readonly string[];
  readonly resurrected: readonly string[];
  readonly duplicates: readonly string[];
  readonly phantoms: readonly string[];
}

export function wordsIn(text: string): string[] {
  return [...text.matchAll(UNIQUE)].map(
    ([word]) => `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`,
  );
}

/**
 * The set check: what was acknowledged and not erased is in every whole read that began afterwards; what was erased is in none.
 * The last read of each user is among them.
 */
export function checkSet(
  facts: readonly Fact[],
  erasures: readonly Erased[],
  reads: readonly ReadCall[],
): Omit<SetFindings, "duplicates"> {
  const lost = new Set<string>();
  const resurrected = new Set<string>();
  const phantoms = new Set<string>();
  const known = new Set(facts.map(({ word }) => word));
  for (const read of reads) {
    const there = new Set(read.words);
    for (const word of there) if (!known.has(word)) phantoms.add(word);
    for (const fact of facts) {
      const verdict = judge(fact, there.has(fact.word), read, erasures);
      if (verdict !== "well") ({ lost, resurrected, phantom: phantoms })[verdict].add(fact.word);
    }
  }
  const messages = facts.filter(({ isOfMemory }) => !isOfMemory);
  const acked = messages.filter(({ isAcked }) => isAcked).length;
  return {
    acked,
    inDoubt: messages.length - acked,
    lost: [...lost],
    resurrected: [...resurrected],
    phantoms: [...phantoms],
  };
}

function judge(
  fact: Fact,
  isThere: boolean,
  read: ReadCall,
  erasures: readonly Erased[],
): "well" | "lost" | "resurrected" | "phantom" {
  if (fact.user !== read.user) return isThere ? "phantom" : "well";
  const own = erasures.filter(({ user, word = fact.word }) => user === fact.user && word === fact.word);
  if (isThere) return isGoneBy(fact, own, read.begin) ? "resurrected" : "well";
  const mustBeThere = read.isWhole && fact.isAcked && fact.end < read.begin;
  return mustBeThere && !mayBeGone(fact, own, read.end) ? "lost" : "well";
}

/** Whether an erasure that began after the fact was stored had ended by then. */
export function isGoneBy(fact: Fact, erasures: readonly Erased[], time: number): boolean {
  return (
    fact.isAcked && erasures.some(({ isAcked, begin, end }) => isAcked && begin > fact.end && end < time)
  );
}

function mayBeGone(fact: Fact, erasures: readonly Erased[], time: number): boolean {
  return erasures.some(({ begin, end }) => begin < time && end > fact.begin);
}

/** A call on one memory: a read of its word (`undefined` where it is gone), a write of it, or its erasure. */
export interface RegisterCall extends CallSpan {
  readonly kind: "read" | "write" | "erase";
  readonly word: string | undefined;
}

/**
 * Whether calls on one memory can be put in an order in which each takes effect at a moment between its begin and its end
 * (Herlihy and Wing, "Linearizability", 1990), by the search of Wing and Gong. A call whose outcome is not known may take
 * effect at any time after its begin, or never.
 */
export function isLinearizable(calls: readonly RegisterCall[], first: string | undefined): boolean {
  if (calls.length > 30) throw new Error("too many calls for this search");
  const seen = new Set<string>();
  const all = 2 ** calls.length - 1;
  const search = (done: number, state: string | undefined): boolean => {
    if (done === all) return true;
    const key = `${done}/${state ?? ""}`;
    if (seen.has(key)) return false;
    seen.add(key);
    const open = calls.filter((_, i) => (done & (2 ** i)) === 0);
    if (open.every(({ end }) => end === Number.POSITIVE_INFINITY)) return true;
    const earliestEnd = Math.min(...open.map(({ end }) => end));
    return calls.some((call, i) => {
      if ((done & (2 ** i)) !== 0 || call.begin > earliestEnd) return false;
      const next = stateAfter(call, state);
      return next.isPossible && search(done | (2 ** i), next.state);
    });
  };
  return search(0, first);
}

function stateAfter(
  { kind, word, end }: RegisterCall,
  state: string | undefined,
): { readonly isPossible: boolean; readonly state: string | undefined } {
  if (kind === "read") return { isPossible: word === state, state };
  if (kind === "erase") return { isPossible: true, state: undefined };
  // A write to what is gone is refused; one whose outcome is not known may have been.
  if (state === undefined) return { isPossible: end === Number.POSITIVE_INFINITY, state };
  return { isPossible: true, state: word };
}
