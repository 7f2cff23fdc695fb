import { BM25, idf } from "../../domain/text-index.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/** How many turns on each side make the window. */
const REACH = 2;

/**
 * Fills the signals that words give: of the unit, of the turns around it, of its session. Exact BM25 for all units;
 * the work grows with how often the query's words occur, not with how much there is. Gives, by number of the unit, the
 * share of the query's words that it holds, each weighed by how much it tells.
 */
export function searchWords(corpus: Corpus, terms: readonly string[], signals: Signals): Float32Array {
  const { text, turns, slots } = corpus;
  const share = new Float32Array(slots);
  const count = turns.messages.length;
  const ofTurn = new Float32Array(count);
  const ofWindow = new Float32Array(count);
  const ofSession = new Float32Array(turns.sessionTurns.length);
  const most = terms.reduce((sum, term) => sum + idf(text.size, text.frequency(term)), 0) || 1;
  for (const term of terms) {
    const posting = text.postings(term);
    if (!posting) continue;
    const weight = idf(text.size, posting.size) / most;
    const touched: number[] = [];
    for (const [slot, found] of posting) {
      const length = text.length(slot) / text.meanLength;
      const gain = saturated(found, length) * weight;
      signals.words[slot] = (signals.words[slot] ?? 0) + gain;
      share[slot] = (share[slot] ?? 0) + weight;
      const turn = corpus.turn[slot] ?? -1;
      if (turn < 0 || corpus.units[slot]?.type !== "passage") continue;
      if (ofTurn[turn] === 0) touched.push(turn);
      ofTurn[turn] = (ofTurn[turn] ?? 0) + found;
    }
    spread(corpus, touched, ofTurn, { ofWindow, ofSession, weight });
  }
  gather(corpus, signals, ofWindow, ofSession);
  return share;
}

/** BM25's share of a term that stands `found` times in a text of `length` mean lengths: below 1. */
function saturated(found: number, length: number): number {
  const { k1, b } = BM25;
  return found / (found + k1 * (1 - b + b * length));
}

/** Adds what one term gives to the windows and sessions of the turns that hold it, and clears the turns again. */
function spread(
  { turns }: Corpus,
  touched: readonly number[],
  ofTurn: Float32Array,
  { ofWindow, ofSession, weight }: { ofWindow: Float32Array; ofSession: Float32Array; weight: number },
): void {
  const windows = new Map<number, number>();
  const sessions = new Map<number, number>();
  for (const turn of touched) {
    const found = ofTurn[turn] ?? 0;
    ofTurn[turn] = 0;
    const session = turns.session[turn] ?? 0;
    sessions.set(session, (sessions.get(session) ?? 0) + found);
    for (const near of windowOf(turns, turn)) windows.set(near, (windows.get(near) ?? 0) + found);
  }
  for (const [turn, found] of windows) ofWindow[turn] = (ofWindow[turn] ?? 0) + saturated(found, 1) * weight;
  for (const [session, found] of sessions) {
    ofSession[session] = (ofSession[session] ?? 0) + saturated(found, 1) * weight;
  }
}

function gather(corpus: Corpus, signals: Signals, ofWindow: Float32Array, ofSession: Float32Array): void {
  for (let slot = 0; slot < corpus.slots; slot += 1) {
    const turn = corpus.turn[slot] ?? -1;
    if (turn < 0) {
      // What came from no conversation is its own surroundings.
      signals.window[slot] = signals.words[slot] ?? 0;
      signals.session[slot] = signals.words[slot] ?? 0;
      continue;
    }
    signals.window[slot] = ofWindow[turn] ?? 0;
    signals.session[slot] = ofSession[corpus.turns.session[turn] ?? 0] ?? 0;
  }
}

/** A turn and up to two on each side of it, in its session. */
export function windowOf(turns: Corpus["turns"], turn: number): number[] {
  const window = [turn];
  for (let at = turn, i = 0; i < REACH; i += 1) {
    at = turns.previous[at] ?? -1;
    if (at < 0) break;
    window.push(at);
  }
  for (let at = turn, i = 0; i < REACH; i += 1) {
    at = turns.next[at] ?? -1;
    if (at < 0) break;
    window.push(at);
  }
  return window;
}
