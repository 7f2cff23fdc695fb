import type { CallOptions } from "../call-options.ts";
import type { CircuitMonitor } from "./model-calls.ts";

/** Options of a call of an embedder. */
export interface EmbedOptions extends CallOptions {
  /** Whether the texts are queries of a search. Some models embed queries and texts in different ways; others ignore it. */
  readonly isQuery?: boolean;
}

/** Measures a threshold of an embedder when it is first needed. */
export interface EmbedderCalibration {
  /**
   * Gives the threshold for merges; see `Embedder.duplicateFloor`. It is measured at the first call, on built-in pairs of
   * sentences, and kept. Throws what `embed` throws; a later call then goes on.
   */
  duplicateFloor(options?: CallOptions): Promise<number>;
}

/** Turns texts into vectors of unit length. Texts close in meaning have a small angle. */
export interface Embedder {
  /**
   * Names the embedding space: model, version and dimensions ("static-minilm-1/256"). Vectors of different
   * spaces are never mixed. A change that moves vectors needs another name; stored texts are then embedded
   * again.
   */
  readonly fingerprint: string;
  /** The length of its vectors. */
  readonly dimensions: number;
  /**
   * True if it needs no network; it then runs before the commit. Otherwise texts are committed without
   * vectors, found by their words, and embedded in the background.
   */
  readonly local: boolean;
  /** The cosine below which a query and a text count as unrelated, found by calibration. */
  readonly floor: number;
  /**
   * The cosine from which memories that say the same in other words are merged, found by `scripts/duplicates/calibrate.ts`.
   * Without it and without `calibration`, only those in the same words are.
   */
  readonly duplicateFloor?: number;
  /** Measures `duplicateFloor` when it is first needed, for an embedder that costs a request to measure. */
  readonly calibration?: EmbedderCalibration;
  /**
   * How long a recall waits for its query vector, in ms (default 50). After that, the recall uses words only.
   * Local embedders are always awaited.
   */
  readonly patienceMs?: number;
  /**
   * Returns one vector per text, in order. The same text has the same vector in any batch (a server's may
   * differ in the last digits). The vectors belong to the caller.
   *
   * A text without a word (empty, white space) gives the zero vector. So does a text without a known word, if
   * the embedder can tell. A text that is too long is truncated.
   *
   * Throws `unavailable` if the embedder cannot be reached now, and `invalid_input` if it will never accept
   * these texts. An aborted signal rejects with its reason. Error messages contain no user text.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  /** The vectors of earlier texts that it keeps. Absent if it keeps none. */
  readonly cache?: VectorCache;
  /** The circuit breaker of its server. Absent for an embedder without one. */
  readonly circuit?: CircuitMonitor;
}

/** Vectors of earlier texts, which an embedder keeps. */
export interface VectorCache {
  /** Removes all of them. Called at each erasure. */
  clear(): void;
}
