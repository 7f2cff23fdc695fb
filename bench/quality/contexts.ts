import type { ConversationMemory, FoundPlaces } from "./asking.ts";
import { mean, percent } from "./metrics.ts";

/** What recalls of ten gave, and what the first ten of the baseline would have. */
export interface Contexts {
  /** `texts`: the baseline's documents, best first. */
  add(found: Pick<FoundPlaces, "first" | "tokens">, texts: readonly string[]): void;
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

/**
 * Whether all evidence of a question is in the context that a model is told, at two sizes: its words, or a memory made from
 * them. `whole` counts a long message only if none of its words was left out.
 */
export interface ToldEvidence {
  add(memory: ConversationMemory, question: string, gold: ReadonlySet<string>): Promise<void>;
  metrics(): { readonly [name: string]: number };
}

const TOLD_SIZES = [1500, 3000];

export function toldEvidence(): ToldEvidence {
  const values = new Map<string, number[]>();
  const note = (name: string, value: number): void => {
    values.set(name, [...(values.get(name) ?? []), value]);
  };
  return {
    async add(memory, question, gold) {
      for (const size of TOLD_SIZES) {
        const { messages, whole, tokens } = await memory.tell(question, size);
        note(`told_all@${size}`, Number([...gold].every((id) => messages.has(id))));
        note(`told_whole@${size}`, Number([...gold].every((id) => whole.has(id))));
        note(`told_tokens@${size}`, tokens);
      }
    },
    metrics: () =>
      Object.fromEntries(
        [...values].map(([name, all]) => [
          name,
          name.startsWith("told_tokens") ? Math.round(mean(all)) : percent(all),
        ]),
      ),
  };
}

/** About four characters to a token. */
export function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length / 4, 0);
}
