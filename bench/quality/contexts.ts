import type { Found } from "./asking.ts";
import { mean, percent } from "./metrics.ts";

/** What recalls of ten gave, and what the first ten of the baseline would have. */
export interface Contexts {
  /** `texts`: the baseline's documents, best first. */
  add(found: Pick<Found, "first" | "tokens">, texts: readonly string[]): void;
  /** `abstained`: the share of questions for which nothing came, in per cent. `context_tokens`: the mean size. */
  ours(): { abstained: number; context_tokens: number };
  base(): { context_tokens: number };
}

export function contexts(): Contexts {
  const nothing: number[] = [];
  const sizes = { ours: [] as number[], base: [] as number[] };
  return {
    add({ first, tokens }, texts) {
      nothing.push(first.length === 0 ? 1 : 0);
      sizes.ours.push(tokens);
      sizes.base.push(sizeOf(texts.slice(0, 10)));
    },
    ours: () => ({ abstained: percent(nothing), context_tokens: Math.round(mean(sizes.ours)) }),
    base: () => ({ context_tokens: Math.round(mean(sizes.base)) }),
  };
}

/** About four characters to a token. */
export function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length / 4, 0);
}
