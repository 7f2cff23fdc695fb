/**
 * What speaks for a unit, each as a number; the higher, the more. A signal is told by unit, or by the turn that the
 * unit is from, or by that turn's session; of a turn by a column of numbers, by bits, or by who speaks.
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
  /** The same once what all units have in common is taken away: what tells them apart. */
  apart: "unit",
  /** The mean cosine of the turns around it, itself included. */
  around: "turn",
  /** 1 where its speaker is named in the query. */
  named: "speaker",
  /** 1 where the turn before it was a question, which it then answers. */
  answers: "bit",
  /** 1 where the user said it, in a chat with an assistant. */
  own: "bit",
  /** 1 where the assistant said it, and the query asks after that. */
  theirs: "bit",
  /** 1 where it does not end in a question. */
  tells: "bit",
  /** Where the user says how they want things to be and the query asks for something: how near it is, 0 to 1. */
  wish: "unit",
  /** How well its claim fits what the query asks: 0 to 1. */
  claim: "unit",
  /** 1 where it lies in the span of time that the query names. */
  time: "unit",
} as const;

export type Signal = keyof typeof SIGNALS;

type SignalAtLevel<Level> = {
  [signal in Signal]: (typeof SIGNALS)[signal] extends Level ? signal : never;
}[Signal];

/** Signals that a column tells, and those that a bit of the turn does. */
export type ColumnSignal = SignalAtLevel<"unit" | "turn" | "session">;
type BitSignal = SignalAtLevel<"bit">;

export const SIGNAL_NAMES: readonly Signal[] = Object.keys(SIGNALS) as Signal[];

/** All signals of a query. A column is empty where nothing has any. */
export interface Signals {
  /** By the number of the unit, turn or session. */
  readonly columns: { [signal in ColumnSignal]: Float32Array };
  /** What each signal is divided by: the greatest value there is, or 1; 0 where nothing has any. */
  readonly tops: { [signal in Signal]: number };
  /** By the number of who speaks: 1 where the query names them. */
  named: Float32Array;
  /** Which bit of the turns' bits tells a signal; less than 0 where the bit's absence does. */
  readonly bits: { readonly [signal in BitSignal]: number };
}

/** Where the units are from: the turn of each unit (-1 where it is from none); and of each turn what is known of it. */
export interface UnitPlaces {
  readonly slots: number;
  readonly turn: Int32Array;
  /** How many turns there are. */
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

/** A signal's value for a unit. What is from no turn is its own surroundings. */
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

/** Whether a turn's bits tell a signal, by the signal's bit. */
export function hasBit(bits: number, bit: number): boolean {
  return bit < 0 ? (bits & -bit) === 0 : (bits & bit) !== 0;
}

export function isBitSignal(signal: Signal): signal is BitSignal {
  return SIGNALS[signal] === "bit";
}

/**
 * Columns of zeros to work in. The same memory serves again at the next recall under the same name: fresh memory costs
 * more than the work that is done in it.
 */
export interface Scratch {
  column(name: string, length: number): Float32Array;
  /** The same with whatever was in it, for one who writes every place. */
  raw(name: string, length: number): Float32Array;
}

interface PooledScratch extends Scratch {
  readonly columns: Map<string, Float32Array>;
}

/** Those that no recall works in now. Two recalls that wait for something at once have one each. */
const freeScratches: PooledScratch[] = [];
const MAX_FREE = 4;
/** Floats; what a very large memory needed is not held on to. */
const MAX_POOLED_LENGTH = 4_000_000;

/** Lends a scratch for the time of some work. */
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
