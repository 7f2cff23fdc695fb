import { BM25, idf } from "../../domain/text-index.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";
import { REACH } from "./turns.ts";

/**
 * Fills the signals that words give: of the unit, of the turns around it, of its session. Exact BM25 for all units;
 * the work grows with how often the query's words occur, not with how much there is. Gives, by number of the unit, the
 * share of the query's words that it holds, each weighed by how much it tells.
 */
export function searchWords(corpus: Corpus, terms: readonly string[], signals: Signals): Float32Array {
  const { text, turns, slots } = corpus;
  const share = new Float32Array(slots);
  const around = {
    window: new Float32Array(turns.messages.length),
    session: new Float32Array(turns.sessionTurns.length),
  };
  const most = terms.reduce((sum, term) => sum + idf(text.size, text.frequency(term)), 0) || 1;
  for (const term of terms) {
    const posting = text.postings(term);
    if (!posting) continue;
    const weight = idf(text.size, posting.size) / most;
    for (const [slot, found] of posting) {
      const length = text.length(slot) / text.meanLength;
      signals.words[slot] = (signals.words[slot] as number) + saturated(found, length) * weight;
      share[slot] = (share[slot] as number) + weight;
    }
    spread(corpus, posting, weight, around);
  }
  gather(corpus, signals, around);
  return share;
}

/** What the words come to, by turn and by session. */
interface Around {
  readonly window: Float32Array;
  readonly session: Float32Array;
}

/** BM25's share of a term that stands `found` times in a text of `length` mean lengths: below 1. */
function saturated(found: number, length: number): number {
  const { k1, b } = BM25;
  return found / (found + k1 * (1 - b + b * length));
}

/** Adds what one term gives to the windows and sessions of the turns that hold it. */
function spread(corpus: Corpus, posting: ReadonlyMap<number, number>, weight: number, around: Around): void {
  const { previous, next, session } = corpus.turns;
  const windows = new Map<number, number>();
  const sessions = new Map<number, number>();
  for (const [slot, found] of posting) {
    const turn = corpus.turn[slot] as number;
    // A memory's words stand in its passage already.
    if (turn < 0 || corpus.units[slot]?.type !== "passage") continue;
    add(sessions, session[turn] as number, found);
    add(windows, turn, found);
    for (
      let near = previous[turn] as number, i = 0;
      near >= 0 && i < REACH;
      near = previous[near] as number, i += 1
    ) {
      add(windows, near, found);
    }
    for (
      let near = next[turn] as number, i = 0;
      near >= 0 && i < REACH;
      near = next[near] as number, i += 1
    ) {
      add(windows, near, found);
    }
  }
  for (const [turn, found] of windows) {
    around.window[turn] = (around.window[turn] as number) + saturated(found, 1) * weight;
  }
  for (const [number, found] of sessions) {
    around.session[number] = (around.session[number] as number) + saturated(found, 1) * weight;
  }
}

function add(counts: Map<number, number>, key: number, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

function gather(corpus: Corpus, signals: Signals, around: Around): void {
  for (let slot = 0; slot < corpus.slots; slot += 1) {
    const turn = corpus.turn[slot] as number;
    // What came from no conversation is its own surroundings.
    const own = signals.words[slot] as number;
    signals.window[slot] = turn < 0 ? own : (around.window[turn] as number);
    signals.session[slot] = turn < 0 ? own : (around.session[corpus.turns.session[turn] as number] as number);
  }
}
