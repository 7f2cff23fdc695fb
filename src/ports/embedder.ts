import type { CallOptions } from "./call.ts";

/** Turns texts into vectors of unit length, such that near in meaning is near in angle. */
export interface Embedder {
  /** Names the space: model, version and dimensions ("static-minilm-1/256"). Vectors of different spaces never mix. */
  readonly fingerprint: string;
  readonly dimensions: number;
  /** True where it needs no network; then it runs before the commit. */
  readonly local: boolean;
  /** Cosine of a query and a text below which they have nothing to do with each other, found by calibration. */
  readonly floor: number;
  /** One vector per text, in order. A text without any known word gives the zero vector. */
  embed(texts: readonly string[], options?: CallOptions): Promise<Float32Array[]>;
}
