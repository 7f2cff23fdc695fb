import type { CallOptions } from "../../ports/call-options.ts";

/** Options of `reflect`. */
export interface ReflectOptions extends CallOptions {
  /** Only what was said from then on (inclusive). */
  readonly from?: Date | string;
  /** Only what was said before then. */
  readonly to?: Date | string;
  /** Only this topic ("work", "health"). */
  readonly topic?: string;
  /** The fewest memories that a reflection sums up (default 2). */
  readonly minMemories?: number;
  /** The most reflections (default 50, at most 1,000). */
  readonly limit?: number;
  /**
   * Whose words: those of the "memory" (the default), or of the "model", if one is configured. A model words the first 12; a
   * sentence of it that cites no memory is left out. Each call is a request to the model for each of them.
   */
  readonly by?: "memory" | "model";
}

/** What a user said, summed up by month and topic. */
export interface Reflections {
  /** The newest month first; in a month, the topic with the most memories. */
  readonly items: readonly Reflection[];
  /** The number there are, before the limit. */
  readonly total: number;
}

/** What a user said about a topic in a month. It is computed from what is current, and stored nowhere. */
export interface Reflection {
  /** Always `reflection`. */
  readonly kind: "reflection";
  /** The topic: "work". */
  readonly topic: string;
  /** The month in which it was said, in UTC: "2026-03". */
  readonly month: string;
  /** The weightiest statements, word for word; by a model, what it says of them. */
  readonly text: string;
  /** Whose words these are. */
  readonly by: "memory" | "model";
  /** Ids of all memories that it sums up, the weightiest first. */
  readonly memories: readonly string[];
  /** Ids of the messages that these come from. */
  readonly sources: readonly string[];
  /** Health, beliefs, money, secrets. */
  readonly sensitive?: boolean;
}
