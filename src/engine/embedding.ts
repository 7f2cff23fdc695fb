import type { SearchUnit } from "../domain/change-set.ts";
import { type Scope, toScopeKey } from "../domain/scope.ts";
import { isMemoryError } from "../errors.ts";
import type { CallOptions } from "../ports/call-options.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { StaleUnits } from "../ports/memory-store.ts";
import { runInUserQueue } from "./ingest/change-set.ts";
import type { Ports } from "./ports.ts";
import { listOlderSpaces, spaceOf, termsOfText, textOfUnit } from "./search-index/search-units.ts";

export interface EmbedProgress {
  /** Units embedded so far. */
  readonly done: number;
  /** Units that waited when it was counted last, less those. */
  readonly left: number;
}

type EmbedPorts = Pick<Ports, "record" | "embedder" | "clock">;

/** Units in one commit: a few milliseconds, so that nobody who writes or recalls waits longer. */
const BATCH_SIZE = 100;
/** How often a user who writes all the time is tried before the others come first. */
const MAX_TRIES = 20;
/** Any embedder takes this text. */
const PROBE_TEXT = "Hello.";

/**
 * Embeds the units of all users whose vectors are of another embedder, or still to be made, until none is left, and
 * takes their words apart anew where an older analysis did. What
 * is done stands in the record and nowhere else, so that it may be broken off at any moment, and goes on where it was.
 * A commit comes after each hundred; recalls go on meanwhile, by words for what has no vector yet. Yields after each
 * commit. Throws what the embedder throws, and the signal's reason.
 */
export async function* embedPending(
  ports: EmbedPorts,
  signal?: AbortSignal,
): AsyncGenerator<EmbedProgress, void, void> {
  let done = 0;
  let left = await countPendingUnits(ports);
  /** Users who wrote faster than we could; the next run finds them. */
  const overtaken = new Set<string>();
  let scope: Scope | undefined;
  for (;;) {
    scope ??= await findNextUser(ports, overtaken);
    if (!scope) return;
    signal?.throwIfAborted();
    const embedded = await embedBatch(ports, scope, signal);
    if (embedded === undefined) overtaken.add(toScopeKey(scope));
    if (!embedded) {
      scope = undefined;
      continue;
    }
    done += embedded;
    left = Math.max(0, left - embedded);
    yield { done, left };
    // Everybody else's turn: with a local embedder and record, nothing above ever waits.
    await sleep(0);
  }
}

async function findNextUser(
  { record, embedder }: EmbedPorts,
  but: ReadonlySet<string>,
): Promise<Scope | undefined> {
  const users = await record.usersWithStaleEmbeddings(spaceOf(embedder), 1 + but.size);
  return users.map(({ scope }) => scope).find((scope) => !but.has(toScopeKey(scope)));
}

/** How many units wait for the embedder. */
export async function countPendingUnits({
  record,
  embedder,
}: Pick<Ports, "record" | "embedder">): Promise<number> {
  const users = await record.usersWithStaleEmbeddings(spaceOf(embedder), Number.MAX_SAFE_INTEGER);
  return users.reduce((sum, { units }) => sum + units, 0);
}

/** Embeds up to a hundred units of a user and commits them; gives how many, or nothing where others were always faster. */
async function embedBatch(
  ports: EmbedPorts,
  scope: Scope,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const { record, embedder } = ports;
  // Kept over the tries: what was paid for once is not asked for again.
  const known = new Map<string, Float32Array>();
  for (let tried = 1; tried <= MAX_TRIES; tried += 1) {
    const outside = await record.unitsWithStaleEmbeddings(scope, spaceOf(embedder), BATCH_SIZE);
    if (outside.units.length === 0) return 0;
    await reuseVectors(ports, scope, outside, known);
    await embedMissing(embedder, unitTextsOf(outside), known, { scope, ...(signal ? { signal } : {}) });
    // In turn with the writes of this process, which would have to think anew; the embedder was not waited for in there.
    const put = await runInUserQueue(record, scope, () => commitKnown(ports, scope, known));
    if (put > 0) return put;
    await sleep(tried);
  }
  return undefined;
}

/** Commits those of the user's units whose text is known; gives how many, 0 where another process was faster. */
async function commitKnown(
  { record, embedder, clock }: EmbedPorts,
  scope: Scope,
  known: ReadonlyMap<string, Float32Array>,
): Promise<number> {
  const outside = await record.unitsWithStaleEmbeddings(scope, spaceOf(embedder), BATCH_SIZE);
  const texts = unitTextsOf(outside);
  const units = outside.units.flatMap((unit, i): SearchUnit[] => {
    const text = texts[i] ?? "";
    const vector = known.get(text);
    return vector ? [{ ...unit, terms: termsOfText(text), space: spaceOf(embedder), vector }] : [];
  });
  if (units.length === 0) return 0;
  try {
    const at = clock().toISOString();
    await record.commit(scope, { base: outside.revision, at, cause: "reindex", units });
    return units.length;
  } catch (error) {
    if (isMemoryError(error) && error.code === "conflict") return 0;
    throw error;
  }
}

function unitTextsOf({ units, messages, memories }: StaleUnits): string[] {
  const messageById = new Map(messages.map((message) => [message.id, message]));
  const memoryById = new Map(memories.map((memory) => [memory.id, memory]));
  return units.map((unit) => textOfUnit(unit, messageById, memoryById) ?? "");
}

/** Of texts that this embedder read already, with an older analysis of words, it is not asked again. */
async function reuseVectors(
  { record, embedder }: EmbedPorts,
  scope: Scope,
  outside: StaleUnits,
  known: Map<string, Float32Array>,
): Promise<void> {
  const texts = unitTextsOf(outside);
  for (const space of listOlderSpaces(embedder)) {
    const places = outside.units.flatMap((unit, i) => (unit.space === space ? [i] : []));
    if (places.length === 0) continue;
    const ids = places.map((i) => outside.units[i]?.id ?? "");
    const vectors = await record.vectors(scope, ids, space);
    for (const [k, i] of places.entries()) {
      const vector = vectors[k];
      if (vector) known.set(texts[i] ?? "", vector);
    }
  }
}

/** Has the texts embedded that are not known yet. */
async function embedMissing(
  embedder: Embedder,
  texts: readonly string[],
  known: Map<string, Float32Array>,
  call: CallOptions,
): Promise<void> {
  const missing = [...new Set(texts)].filter((text) => !known.has(text));
  const vectors = await embedTexts(embedder, missing, call);
  for (const [i, text] of missing.entries()) {
    known.set(text, vectors[i] ?? new Float32Array(embedder.dimensions));
  }
}

/** A text that the embedder will never take gets zeros, and is found by its words; it holds up none of the others. */
async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  call: CallOptions,
): Promise<Float32Array[]> {
  if (texts.length === 0) return [];
  try {
    return await embedder.embed(texts, call);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  // Where even this is refused, it is not the texts: a wrong model, a wrong address.
  await embedder.embed([PROBE_TEXT], call);
  const vectors: Float32Array[] = [];
  for (const text of texts) {
    const [vector] = await embedder.embed([text], call).catch((error: unknown) => {
      if (isRefusal(error)) return [];
      throw error;
    });
    vectors.push(vector ?? new Float32Array(embedder.dimensions));
  }
  return vectors;
}

function isRefusal(error: unknown): boolean {
  return isMemoryError(error) && error.code === "invalid_input";
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}
