import { BM25, idf } from "../../domain/text-index.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";
import { REACH } from "./turns.ts";

/** A unit that holds this many telling words of the query has to do with it, however long the query is. */
const ENOUGH_WORDS = 6;

/**
 * Fills the signals that words give: of the unit, of the turns around it, of its session. Exact BM25 for all units;
 * the work grows with how often the query's words occur, not with how much there is. Gives, by number of the unit, the
 * share of the query's words that it holds, each weighed by how much it tells; of a long query, the share of six.
 */
export function searchWords(corpus: Corpus, terms: readonly string[], signals: Signals): Float32Array {
  const { text, slots } = corpus;
  const words = corpus.column("words", slots);
  const share = corpus.column("share", slots);
  const around = {
    window: counter(corpus, "window", corpus.turns.messages.length),
    session: counter(corpus, "session", corpus.turns.sessionTurns.length),
  };
  const asked = weighed(corpus, terms);
  for (const { term, weight, part } of asked) {
    const posting = text.postings(term);
    if (!posting) continue;
    for (const [slot, found] of posting) {
      const length = text.length(slot) / text.meanLength;
      words[slot] = (words[slot] as number) + saturated(found, length) * weight;
      share[slot] = (share[slot] as number) + part;
    }
    spread(corpus, posting, around);
    around.window.take(weight);
    around.session.take(weight);
  }
  signals.words = words;
  signals.window = around.window.sums;
  signals.session = around.session.sums;
  return share;
}

/** Each term once: what it tells, times how often it was asked for; and its part of what the query asks in all. */
function weighed(
  { text }: Corpus,
  terms: readonly string[],
): { term: string; weight: number; part: number }[] {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const tells = [...counts].map(([term, count]) => ({
    term,
    count,
    telling: idf(text.size, text.frequency(term)),
  }));
  const most = tells.map(({ telling }) => telling).sort((one, other) => other - one);
  const all = most.slice(0, ENOUGH_WORDS).reduce((sum, telling) => sum + telling, 0) || 1;
  return tells.map(({ term, count, telling }) => ({ term, weight: telling * count, part: telling / all }));
}

/** What the words come to, by turn and by session. */
interface Around {
  readonly window: Counter;
  readonly session: Counter;
}

/** Counts one term at a time by place, and sums up what the terms give there. */
interface Counter {
  readonly sums: Float32Array;
  add(place: number, count: number): void;
  /** Turns the counts of a term into what it gives, and starts anew. */
  take(weight: number): void;
}

function counter({ column }: Corpus, name: string, places: number): Counter {
  const sums = column(name, places);
  const counts = column(`${name} counts`, places);
  const touched: number[] = [];
  return {
    sums,
    add(place, count) {
      if (counts[place] === 0) touched.push(place);
      counts[place] = (counts[place] as number) + count;
    },
    take(weight) {
      for (const place of touched) {
        sums[place] = (sums[place] as number) + saturated(counts[place] as number, 1) * weight;
        counts[place] = 0;
      }
      touched.length = 0;
    },
  };
}

/** BM25's share of a term that stands `found` times in a text of `length` mean lengths: below 1. */
function saturated(found: number, length: number): number {
  const { k1, b } = BM25;
  return found / (found + k1 * (1 - b + b * length));
}

/** Counts a term in the windows and sessions of the turns that hold it. */
function spread(corpus: Corpus, posting: ReadonlyMap<number, number>, { window, session }: Around): void {
  const { previous, next, session: sessionOf } = corpus.turns;
  for (const [slot, found] of posting) {
    const turn = corpus.turn[slot] as number;
    // A memory's words stand in its passage already.
    if (turn < 0 || corpus.isPassage[slot] === 0) continue;
    session.add(sessionOf[turn] as number, found);
    window.add(turn, found);
    for (
      let near = previous[turn] as number, i = 0;
      near >= 0 && i < REACH;
      near = previous[near] as number, i += 1
    ) {
      window.add(near, found);
    }
    for (
      let near = next[turn] as number, i = 0;
      near >= 0 && i < REACH;
      near = next[near] as number, i += 1
    ) {
      window.add(near, found);
    }
  }
}
