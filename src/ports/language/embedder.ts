import type { CallOptions } from "../call-options.ts";
import type { CircuitState } from "./model-calls.ts";

/** Turns texts into vectors of unit length, such that near in meaning is near in angle. */
export interface Embedder {
  /**
   * Names the space: model, version and dimensions ("static-minilm-1/256"). Vectors of different spaces never mix: a
   * change that moves vectors needs another name, and what is stored is embedded anew then.
   */
  readonly fingerprint: string;
  readonly dimensions: number;
  /**
   * True where it needs no network; then it runs before the commit. What another one is to embed is committed without
   * vectors, found by its words, and embedded in the background.
   */
  readonly local: boolean;
  /** Cosine of a query and a text below which they have nothing to do with each other, found by calibration. */
  readonly floor: number;
  /** How long a recall waits for the vector of its query, in ms (50); without it, it goes by words. Local ones are awaited. */
  readonly patienceMs?: number;
  /**
   * One vector per text, in order; the same text has the same vector, whatever its batch (a server's may differ in the last
   * digits). They are the caller's to keep. A text without a word (empty, white space) gives the zero vector, and so does
   * one without any known word where the embedder can tell. Of a text longer than it can read it takes the beginning.
   *
   * `unavailable` where it cannot be reached now, `invalid_input` where it will never take these texts; an aborted signal
   * rejects with its reason. No message holds a text.
   */
  embed(texts: readonly string[], options?: CallOptions): Promise<Float32Array[]>;
  /** Lets go of vectors that it keeps of earlier texts; called when something is erased. */
  evict?(): void;
  /** Of one on a server: whether it is asked now. */
  circuit?(): CircuitState;
}
