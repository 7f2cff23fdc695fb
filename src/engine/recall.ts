import type { Memory } from "../domain/memory.ts";
import type { Recall, RecallOptions } from "../domain/recall.ts";
import type { Scope } from "../domain/scope.ts";
import { packContext } from "./context.ts";
import type { Ports } from "./ports.ts";
import { corpusOf } from "./recall/corpus.ts";
import { explanationOf, whyItem } from "./recall/explain.ts";
import { rank } from "./recall/rank.ts";
import { search } from "./recall/search.ts";
import { takeOptions } from "./recall/take-options.ts";

/** Characters. */
const LONGEST_QUERY = 4000;

/**
 * What a user's memory holds on a query: memories and passages, best first, and as text for a prompt. Nothing
 * relevant gives nothing. Reads alone; `invalid_input` for a query or an option that is wrong or unknown.
 */
export async function recall(
  ports: Pick<Ports, "record" | "states" | "embedder" | "questions" | "clock" | "ids">,
  scope: Scope,
  query: string,
  options: RecallOptions = {},
): Promise<Recall> {
  options.signal?.throwIfAborted();
  const now = ports.clock().toISOString();
  const wanted = takeOptions(scope, query, options, now);
  const { bounds, profile } = wanted;
  const text = excerpt(query);
  const [vector] = await ports.embedder.embed([text], options.signal ? { signal: options.signal } : {});
  const versions = bounds.knownAt === undefined ? undefined : await ports.record.versions(scope);
  const state = await ports.states.of(scope);
  options.signal?.throwIfAborted();

  // From here on nothing waits, so that the state stays as it is.
  const memories = versions && bounds.knownAt ? knownThen(versions, bounds.knownAt) : state.memories;
  const corpus = corpusOf(state, ports.embedder);
  const memoryAt = (slot: number): Memory | undefined => {
    const memory = corpus.memories[slot];
    return memory && versions ? memories.get(memory.id) : memory;
  };
  const known = versions ? [...memories.values()] : corpus.known;
  const asked = {
    query: text,
    vector: vector ?? new Float32Array(ports.embedder.dimensions),
    question: ports.questions.read(text, { at: bounds.asOf ?? now, known }),
    floor: ports.embedder.floor,
  };
  const found = search(corpus, memoryAt, asked, profile);
  const ranked = rank({ state, corpus, memories, memoryAt, found, wanted });
  const context = packContext(ranked.items, wanted.maxTokens);
  const plain = {
    id: ports.ids(),
    context: context.text,
    tokens: context.tokens,
    abstained: ranked.items.length === 0,
  };
  if (!options.explain) return { ...plain, items: ranked.items };
  const items = ranked.items.map((item, i) => ({
    ...item,
    why: whyItem(text, found, corpus, ranked.slots[i] ?? -1),
  }));
  return { ...plain, items, explanation: explanationOf(ranked, wanted) };
}

/** What is searched with: of a long query its beginning and its end, where the question mostly stands. */
function excerpt(query: string): string {
  if (query.length <= LONGEST_QUERY) return query;
  const half = LONGEST_QUERY / 2;
  return `${query.slice(0, half)}\n${query.slice(-half)}`.toWellFormed();
}

/** The memories as they were known at a time: of each, the newest version stored by then. */
function knownThen(versions: readonly Memory[], at: string): ReadonlyMap<string, Memory> {
  const known = new Map<string, Memory>();
  for (const memory of versions) {
    const held = known.get(memory.id);
    if (memory.storedAt <= at && (!held || held.version < memory.version)) known.set(memory.id, memory);
  }
  return known;
}
