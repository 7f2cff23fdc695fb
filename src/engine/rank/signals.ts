/**
 * What speaks for a unit, each as a number; the higher, the more. A signal is told by unit, or by the turn that the
 * unit is from, or by that turn's session.
 */
export const SIGNALS = {
  /** BM25 of its own words. */
  words: "unit",
  /** The same of the turns around it in the session, itself included. */
  window: "turn",
  /** The same of the whole session. */
  session: "session",
  /** Cosine of its vector with the query's. */
  near: "unit",
  /** The mean cosine of the turns around it, itself included. */
  around: "turn",
  /** 1 where its speaker is named in the query. */
  named: "turn",
  /** 1 where the turn before it was a question, which it then answers. */
  answers: "turn",
  /** 1 where the user said it, in a chat with an assistant. */
  own: "turn",
  /** How well its claim fits what the query asks: 0 to 1. */
  claim: "unit",
  /** 1 where it lies in the span of time that the query names. */
  time: "unit",
} as const;

export type Signal = keyof typeof SIGNALS;

export const SIGNAL_NAMES: readonly Signal[] = Object.keys(SIGNALS) as Signal[];

/** A column of numbers for each signal, by the number of the unit, turn or session; empty where nothing has any. */
export type Signals = { [signal in Signal]: Float32Array };

/** Where the units are from: the turn of each unit (-1 where it is from none), and the session of each turn. */
export interface Places {
  readonly slots: number;
  readonly turn: Int32Array;
  /** How many turns there are. */
  readonly turns: number;
  readonly session: Int32Array;
}

export function noSignals(): Signals {
  const none = new Float32Array(0);
  return Object.fromEntries(SIGNAL_NAMES.map((signal) => [signal, none])) as Signals;
}

/** A signal's value for a unit. What is from no turn is its own surroundings. */
export function signalAt(signals: Readonly<Signals>, signal: Signal, places: Places, slot: number): number {
  const level = SIGNALS[signal];
  const turn = places.turn[slot] ?? -1;
  if (level === "unit") return signals[signal][slot] ?? 0;
  if (turn < 0) return 0;
  return signals[signal][level === "turn" ? turn : (places.session[turn] ?? 0)] ?? 0;
}
