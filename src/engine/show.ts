import type { LogEntry } from "../domain/change-set.ts";
import { matchesFilter } from "../domain/filter.ts";
import { checkCount } from "../domain/limits.ts";
import { MEMORY_KINDS, type Memory, type SourceSpan } from "../domain/memory.ts";
import type { Source } from "../domain/recall.ts";
import type { Scope } from "../domain/scope.ts";
import { invalid, MemoryError } from "../errors.ts";
import { requireMemory } from "./add.ts";
import { forEachInSlices, mapInSlices } from "./in-slices.ts";
import { createNewestPage, toCursor } from "./paging.ts";
import type { Ports } from "./ports.ts";
import type { Listing, ListOptions, Page, ShownMemory } from "./surface.ts";
import type { UserState } from "./user-state.ts";

/** After so many memories that are looked at, others have their turn: about every two milliseconds. */
const SLICE = 2000;

/** The sources of a memory in full; one whose message is gone is left out. */
export function toSources(state: Pick<UserState, "messages">, sources: readonly SourceSpan[]): Source[] {
  return sources.flatMap((source) => {
    const message = state.messages.get(source.message);
    if (!message) return [];
    const { role, at, session, name } = message;
    return [
      {
        ...source,
        role,
        at,
        ...(session === undefined ? {} : { session }),
        ...(name === undefined ? {} : { name }),
      },
    ];
  });
}

export function toShownMemory(state: Pick<UserState, "messages">, memory: Memory): ShownMemory {
  return { ...memory, sources: toSources(state, memory.sources) };
}

/** One memory, whatever its status. `not_found` where it is not there, or not this user's. */
export async function getMemory(
  ports: Pick<Ports, "states" | "clock">,
  scope: Scope,
  id: string,
): Promise<ShownMemory> {
  const state = await ports.states.of(scope);
  const memory = requireMemory(state, id);
  if (isExpired(memory, ports)) throw new MemoryError("not_found", "this memory has expired.");
  return toShownMemory(state, memory);
}

/** The memories, newest first: what holds now, unless another status is asked for. */
export function listMemories(
  ports: Pick<Ports, "states" | "clock">,
  scope: Scope,
  options: ListOptions = {},
): Listing {
  const page = (cursor: string | undefined): Promise<Page<ShownMemory>> =>
    readPage(ports, scope, { ...options, ...(cursor === undefined ? {} : { cursor }) });
  return {
    // biome-ignore lint/suspicious/noThenProperty: a listing is awaited for its first page, and iterated for all.
    then: (resolve, reject) => page(undefined).then(resolve, reject),
    async *[Symbol.asyncIterator]() {
      let cursor: string | undefined;
      do {
        const { items, cursor: next } = await page(cursor);
        yield* items;
        cursor = next;
      } while (cursor !== undefined);
    },
  };
}

async function readPage(
  ports: Pick<Ports, "states" | "clock">,
  scope: Scope,
  options: ListOptions,
): Promise<Page<ShownMemory>> {
  options.signal?.throwIfAborted();
  const limit = checkCount(options.limit ?? 50, "limit", 1, 1000);
  const { kind, status = "current", quarantined, where } = options;
  if (kind !== undefined && !MEMORY_KINDS.includes(kind))
    throw invalid(`kind must be one of ${MEMORY_KINDS.join(", ")}.`);
  if (!["current", "superseded", "retracted", "all"].includes(status)) {
    throw invalid("status must be one of current, superseded, retracted, all.");
  }
  const now = ports.clock().toISOString();
  const state = await ports.states.of(scope);
  const page = createNewestPage<Memory>(options.cursor, limit);
  await forEachInSlices(
    state.memories.values(),
    (memory) => {
      if (
        (status === "all" || memory.status === status) &&
        (quarantined === undefined || (memory.quarantined ?? false) === quarantined) &&
        (kind === undefined || memory.kind === kind) &&
        (!where || matchesFilter(where, memory.metadata)) &&
        !isExpiredAt(memory, now)
      )
        page.add(memory);
    },
    SLICE,
  );
  const { found, total, isLast } = page.end();
  const last = found.at(-1);
  // What was erased while others had their turn is given to nobody.
  const items = found.flatMap(({ id }) => state.memories.get(id) ?? []);
  return {
    items: await mapInSlices(items, (memory) => toShownMemory(state, memory)),
    total,
    ...(last && !isLast ? { cursor: toCursor(last) } : {}),
  };
}

/** All versions of one memory, oldest first. */
export async function listVersions(
  ports: Pick<Ports, "states" | "record" | "clock">,
  scope: Scope,
  id: string,
): Promise<Memory[]> {
  const versions = await ports.record.versions(scope, id);
  const newest = versions.at(-1) ?? requireMemory(await ports.states.of(scope), id);
  if (isExpired(newest, ports)) throw new MemoryError("not_found", "this memory has expired.");
  return versions;
}

/** What happened, newest first. */
export async function listLog(
  ports: Pick<Ports, "record">,
  scope: Scope,
  { before, limit = 50 }: { before?: number; limit?: number } = {},
): Promise<LogEntry[]> {
  return ports.record.log(scope, {
    limit: checkCount(limit, "limit", 1, 1000),
    ...(before === undefined ? {} : { before: checkCount(before, "before", 1, Number.MAX_SAFE_INTEGER) }),
  });
}

function isExpired(memory: Memory, ports: Pick<Ports, "clock">): boolean {
  return isExpiredAt(memory, ports.clock().toISOString());
}

function isExpiredAt({ expiresAt }: Memory, now: string): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}
