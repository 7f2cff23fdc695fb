import { replaceControls } from "../../src/domain/limits.ts";
import type { Embedder, InputMessage, Keepsake } from "../../src/index.ts";
import { openMemory } from "./memories.ts";
import { type Metrics, score } from "./metrics.ts";

/** What a recall brings: of each item the messages it was read from, best first. */
export type Places = readonly (readonly string[])[];

export interface FoundPlaces {
  /** With the limit of 10 that a user has unless another is given. */
  readonly first: Places;
  /** With a wider limit. */
  readonly far: Places;
  /** The size of the context of `first`. */
  readonly tokens: number;
  /** How long the first recall took. */
  readonly ms: number;
}

/** What a context brings. */
export interface Told {
  /** The messages whose words, or a memory made from them, are in the context. */
  readonly messages: ReadonlySet<string>;
  /** Those of them that are there with all their words, or by a memory. */
  readonly whole: ReadonlySet<string>;
  readonly tokens: number;
}

/** A memory that holds one conversation, and can be asked. */
export interface ConversationMemory extends AsyncDisposable {
  /**
   * `at`: when the question is asked; right after the last message, where it is not given. `far`: how many items the
   * second, wider look brings (50).
   */
  ask(question: string, at?: string, far?: number): Promise<FoundPlaces>;
  /** What a model is told before it answers, in at most so many tokens. */
  tell(question: string, maxTokens: number): Promise<Told>;
}

/** A memory of its own for a conversation. The clock stands at the last message, then at each question's time. */
export async function asking(
  user: string,
  messages: readonly InputMessage[],
  embedder: Embedder,
): Promise<ConversationMemory> {
  const last = messages.reduce((latest, { at }) => {
    const time = at === undefined ? 0 : new Date(at).getTime();
    return Math.max(latest, time);
  }, 0);
  let now = last > 0 ? new Date(last) : new Date();
  const memory = await openMemory({ path: ":memory:", embedder, clock: () => now });
  const scope = memory.scope({ user });
  await scope.remember(messages);
  if (!embedder.local) await embedded(memory);
  return {
    async ask(question, at, far = 50) {
      if (at !== undefined) now = new Date(at);
      const began = performance.now();
      const first = await scope.recall(question, { limit: 10 });
      const ms = performance.now() - began;
      const wider = await scope.recall(question, { limit: far });
      return { first: placesOf(first), far: placesOf(wider), tokens: first.tokens, ms };
    },
    async tell(question, maxTokens) {
      const { items, tokens } = await scope.context(question, { maxTokens });
      const of = (some: readonly (typeof items)[number][]): Set<string> =>
        new Set(some.flatMap(({ sources }) => sources.map(({ message }) => message)));
      const isWhole = ({ type, text, sources }: (typeof items)[number]): boolean =>
        type === "memory" || text === sources.at(-1)?.quote;
      return { messages: of(items), whole: of(items.filter(isWhole)), tokens };
    },
    [Symbol.asyncDispose]: () => memory.close(),
  };
}

/** Waits until a remote embedder has read everything. */
async function embedded(memory: Keepsake): Promise<void> {
  for await (const _progress of memory.reindex());
}

function placesOf({ items }: { items: readonly { sources: readonly { message: string }[] }[] }): Places {
  return items.map(({ sources }) => sources.map(({ message }) => message));
}

/** The metrics of what was found: up to ten places from what a user gets, beyond that (and mrr) from further down. */
export function scoreFound(
  { first, far }: Pick<FoundPlaces, "first" | "far">,
  gold: ReadonlySet<string>,
  cuts: readonly number[],
): Metrics {
  const near = cuts.filter((k) => k <= 10);
  return {
    ...score(first, gold, near),
    ...score(
      far,
      gold,
      cuts.filter((k) => k > 10),
    ),
  };
}

/** A text as the library takes it: control characters become spaces, and half a surrogate pair a mark. */
export function cleaned(text: string): string {
  return replaceControls(text).toWellFormed();
}
