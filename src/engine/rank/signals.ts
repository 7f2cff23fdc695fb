/** What speaks for a unit, each as one number; the higher, the more. */
export const SIGNALS = [
  /** BM25 of its own words, as a share of the most that the query could give. */
  "words",
  /** The same of the turns around it in the session, itself included. */
  "window",
  /** The same of the whole session. */
  "session",
  /** Cosine of its vector with the query's. */
  "near",
  /** The mean cosine of the turns around it, itself included. */
  "around",
  /** 1 where its speaker is named in the query. */
  "named",
  /** 1 where the turn before it was a question, which it then answers. */
  "answers",
  /** 1 where the user said it, in a chat with an assistant. */
  "own",
  /** How well its claim fits what the query asks: 0 to 1. */
  "claim",
  /** 1 where it lies in the span of time that the query names. */
  "time",
] as const;

export type Signal = (typeof SIGNALS)[number];

/** One number per unit, by its number in the corpus, for each signal; empty where no unit has any of it. */
export type Signals = { [signal in Signal]: Float32Array };

export function noSignals(): Signals {
  const none = new Float32Array(0);
  return Object.fromEntries(SIGNALS.map((signal) => [signal, none])) as Signals;
}
