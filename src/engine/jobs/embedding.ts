import type { SearchUnit } from "../../domain/change-set.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import type { StaleUnits, UserWithStaleEmbeddings } from "../../ports/memory-store.ts";
import { runInUserQueue } from "../change-set.ts";
import { type EmbedderInUse, listEmbedders } from "../embedders.ts";
import type { Ports } from "../ports.ts";
import { listOlderSpaces, spaceOf, termsOfText, textOfUnit } from "../search-index/search-units.ts";

export interface EmbedProgress {
  /** Units embedded so far. */
  readonly done: number;
  /** Pending units at the last count, minus the embedded ones. */
  readonly left: number;
}

/** The ports of one embedder, and whose units it embeds. */
type EmbedPorts = Pick<Ports, "store" | "clock"> & EmbedderInUse;
type AllPorts = Pick<Ports, "store" | "embedder" | "embedders" | "clock">;

/** Units in one commit: a few milliseconds, so that no write or recall waits longer. */
const BATCH_SIZE = 100;
/** Tries for a user who writes all the time before other users come first. */
const MAX_TRIES = 20;
/** Any embedder accepts this text. */
const PROBE_TEXT = "Hello.";

/**
 * Embeds the units of all users whose vectors are missing or from another embedder than the user's. If an embedder fails,
 * those of the other embedders come first, and then its error is thrown. Also tokenizes again the
 * words that an older analysis split. Progress is stored only in the store, so it may be interrupted at any
 * moment and resumes from there. Commits each hundred; recalls continue meanwhile, by words for units without
 * a vector. Yields after each commit. Throws what the embedder throws, or the signal's reason.
 */
export async function* embedPending(
  ports: AllPorts,
  signal?: AbortSignal,
): AsyncGenerator<EmbedProgress, void, void> {
  let done = 0;
  let left = await countPendingUnits(ports);
  const failures: unknown[] = [];
  for (const one of listEmbedders(ports)) {
    try {
      for await (const embedded of embedUnitsOf({ ...ports, ...one }, signal)) {
        done += embedded;
        left = Math.max(0, left - embedded);
        yield { done, left };
      }
    } catch (error) {
      signal?.throwIfAborted();
      failures.push(error);
    }
  }
  for (const error of failures) throw error;
}

/** Embeds the units of the users of one embedder, and yields the number after each commit. */
async function* embedUnitsOf(
  ports: EmbedPorts,
  signal: AbortSignal | undefined,
): AsyncGenerator<number, void, void> {
  /** Users who wrote faster than this run; the next run finds them. */
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
    yield embedded;
    // Yield: with a local embedder and store, nothing above waits for I/O.
    await sleep(0);
  }
}

async function findNextUser(ports: EmbedPorts, but: ReadonlySet<string>): Promise<Scope | undefined> {
  const users = await listStaleUsers(ports, 1 + but.size);
  return users.map(({ scope }) => scope).find((scope) => !but.has(toScopeKey(scope)));
}

function listStaleUsers(
  { store, embedder, chosen }: Omit<EmbedPorts, "clock">,
  limit: number,
): Promise<UserWithStaleEmbeddings[]> {
  const options = chosen === undefined ? undefined : { chosen };
  return store.staleEmbeddings.users(spaceOf(embedder), limit, options);
}

/** Number of units that wait for an embedder of this process. */
export async function countPendingUnits(ports: Omit<AllPorts, "clock">): Promise<number> {
  let sum = 0;
  for (const one of listEmbedders(ports)) {
    const users = await listStaleUsers({ ...ports, ...one }, Number.MAX_SAFE_INTEGER);
    for (const { units } of users) sum += units;
  }
  return sum;
}

/**
 * Embeds up to a hundred units of a user and commits them. Gives the number, or undefined if other writers
 * were always faster.
 */
async function embedBatch(
  ports: EmbedPorts,
  scope: Scope,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const { store, embedder } = ports;
  // Kept across tries, so that no text is paid for twice.
  const vectors = new Map<string, Float32Array>();
  for (let tried = 1; tried <= MAX_TRIES; tried += 1) {
    const outside = await store.staleEmbeddings.units(scope, spaceOf(embedder), BATCH_SIZE);
    if (outside.units.length === 0) return 0;
    await reuseVectors(ports, scope, outside, vectors);
    await embedMissing(embedder, unitTextsOf(outside), vectors, { scope, ...(signal ? { signal } : {}) });
    // In the user's queue, so that writes of this process need not retry; the embedder was called outside it.
    const put = await runInUserQueue(store, scope, () => commitKnown(ports, scope, vectors));
    if (put > 0) return put;
    await sleep(tried);
  }
  return undefined;
}

/** Commits the user's units whose vectors are known. Gives the number, or 0 if another process was faster. */
async function commitKnown(
  { store, embedder, clock }: EmbedPorts,
  scope: Scope,
  known: ReadonlyMap<string, Float32Array>,
): Promise<number> {
  const outside = await store.staleEmbeddings.units(scope, spaceOf(embedder), BATCH_SIZE);
  const texts = unitTextsOf(outside);
  const units = outside.units.flatMap((unit, i): SearchUnit[] => {
    const text = texts[i] ?? "";
    const vector = known.get(text);
    return vector ? [{ ...unit, terms: termsOfText(text), space: spaceOf(embedder), vector }] : [];
  });
  if (units.length === 0) return 0;
  try {
    const at = clock().toISOString();
    await store.commit(scope, { base: outside.revision, at, cause: "reindex", units });
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

/** Reuses the vectors of texts that this embedder read already, with an older analysis of words. */
async function reuseVectors(
  { store, embedder }: EmbedPorts,
  scope: Scope,
  outside: StaleUnits,
  known: Map<string, Float32Array>,
): Promise<void> {
  const texts = unitTextsOf(outside);
  for (const space of listOlderSpaces(embedder)) {
    const places = outside.units.flatMap((unit, i) => (unit.space === space ? [i] : []));
    if (places.length === 0) continue;
    const ids = places.map((i) => outside.units[i]?.id ?? "");
    const vectors = await store.vectors(scope, ids, space);
    for (const [k, i] of places.entries()) {
      const vector = vectors[k];
      if (vector) known.set(texts[i] ?? "", vector);
    }
  }
}

/** Embeds the texts whose vectors are not known yet. */
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

/**
 * A text that the embedder always rejects gets a zero vector and is found by its words, so that it does not
 * block the others.
 */
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
  // If this is rejected too, the texts are not the cause: a wrong model or address is.
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
