/**
 * The signals that rank a unit, each a number; higher is better. A signal belongs to the unit, its turn, or
 * that turn's session. A signal of a turn is stored as a column of numbers, as bits, or by speaker.
 */
export const SIGNALS = {
  /** BM25 of the unit's words. */
  words: "unit",
  /** BM25 of the surrounding turns in the session, itself included. */
  window: "turn",
  /** BM25 of the whole session. */
  session: "session",
  /** Cosine of the unit's vector with the query's. */
  near: "unit",
  /** The same cosine after mean centering, which separates units better. */
  apart: "unit",
  /** Mean cosine of the surrounding turns, itself included. */
  around: "turn",
  /** 1 if the query names its speaker. */
  named: "speaker",
  /** 1 if the previous turn was a question, which it then answers. */
  answers: "bit",
  /** 1 if the user said it in a chat with an assistant. */
  own: "bit",
  /** 1 if the assistant said it and the query asks for the assistant's words. */
  theirs: "bit",
  /** 1 if it does not end in a question. */
  tells: "bit",
  /** Nearness, 0 to 1, of a stated preference to a query that requests something. */
  wish: "unit",
  /** Fit of its claim to the query: 0 to 1. */
  claim: "unit",
  /** 1 if it lies in the time span that the query names. */
  time: "unit",
} as const;

export type Signal = keyof typeof SIGNALS;

type SignalAtLevel<Level> = {
  [signal in Signal]: (typeof SIGNALS)[signal] extends Level ? signal : never;
}[Signal];

/** Signals stored in columns, and signals stored as bits of the turn. */
export type ColumnSignal = SignalAtLevel<"unit" | "turn" | "session">;
type BitSignal = SignalAtLevel<"bit">;

export const SIGNAL_NAMES: readonly Signal[] = Object.keys(SIGNALS) as Signal[];

/** All signals of a query. A column is empty if no unit has the signal. */
export interface Signals {
  /** By number of the unit, turn or session. */
  readonly columns: { [signal in ColumnSignal]: Float32Array };
  /** The divisor of each signal: its maximum or 1; 0 if no unit has it. */
  readonly tops: { [signal in Signal]: number };
  /** By number of the speaker: 1 if the query names them. */
  named: Float32Array;
  /** The bit that carries a signal; negative if the absence of the bit does. */
  readonly bits: { readonly [signal in BitSignal]: number };
}

/** Origin of the units: the turn of each unit (-1 for none), and what is known about each turn. */
export interface UnitPlaces {
  readonly slots: number;
  readonly turn: Int32Array;
  /** Number of turns. */
  readonly turns: number;
  readonly session: Int32Array;
  readonly speaker: Int32Array;
  readonly bits: Uint8Array;
}

export function createSignals(bits: Signals["bits"]): Signals {
  const none = new Float32Array(0);
  return {
    columns: {
      words: none,
      window: none,
      session: none,
      near: none,
      apart: none,
      around: none,
      wish: none,
      claim: none,
      time: none,
    },
    tops: {
      words: 0,
      window: 0,
      session: 0,
      near: 0,
      apart: 0,
      around: 0,
      named: 0,
      answers: 0,
      own: 0,
      theirs: 0,
      tells: 0,
      wish: 0,
      claim: 0,
      time: 0,
    },
    named: none,
    bits,
  };
}

/** The value of a signal for a unit. A unit without a turn is its own surroundings. */
export function signalValueAt(
  signals: Readonly<Signals>,
  signal: Signal,
  places: UnitPlaces,
  slot: number,
): number {
  if (isUnitSignal(signal)) return signals.columns[signal][slot] ?? 0;
  const turn = places.turn[slot] ?? -1;
  if (turn < 0) return 0;
  if (isBitSignal(signal)) return hasBit(places.bits[turn] ?? 0, signals.bits[signal]) ? 1 : 0;
  if (signal === "named") return signals.named[places.speaker[turn] ?? -1] ?? 0;
  if (signal === "session") return signals.columns.session[places.session[turn] ?? 0] ?? 0;
  return signals.columns[signal][turn] ?? 0;
}

function isUnitSignal(signal: Signal): signal is SignalAtLevel<"unit"> {
  return SIGNALS[signal] === "unit";
}

/** Whether a turn's bits carry a signal. */
export function hasBit(bits: number, bit: number): boolean {
  return bit < 0 ? (bits & -bit) === 0 : (bits & bit) !== 0;
}

export function isBitSignal(signal: Signal): signal is BitSignal {
  return SIGNALS[signal] === "bit";
}

/**
 * Zeroed work columns. The next recall reuses the memory under the same name, because fresh memory costs more
 * than the work done in it.
 */
export interface Scratch {
  column(name: string, length: number): Float32Array;
  /** The same without zeroing, for callers that write every position. */
  raw(name: string, length: number): Float32Array;
}

interface PooledScratch extends Scratch {
  readonly columns: Map<string, Float32Array>;
}

/** Scratches not in use. Two concurrent recalls have one each. */
const freeScratches: PooledScratch[] = [];
const MAX_FREE = 4;
/** In floats; larger columns are not pooled. */
const MAX_POOLED_LENGTH = 4_000_000;

/** Lends a scratch for the duration of `work`. */
export async function withScratch<Result>(work: (scratch: Scratch) => Promise<Result>): Promise<Result> {
  const scratch = freeScratches.pop() ?? createScratch();
  try {
    return await work(scratch);
  } finally {
    let floats = 0;
    for (const { length } of scratch.columns.values()) floats += length;
    if (freeScratches.length < MAX_FREE && floats <= MAX_POOLED_LENGTH) freeScratches.push(scratch);
  }
}

function createScratch(): PooledScratch {
  const columns = new Map<string, Float32Array>();
  const raw = (name: string, length: number): Float32Array => {
    let column = columns.get(name);
    if (!column || column.length < length) {
      column = new Float32Array(Math.ceil(length * 1.5));
      columns.set(name, column);
    }
    return column.subarray(0, length);
  };
  return { columns, raw, column: (name, length) => raw(name, length).fill(0) };
}
