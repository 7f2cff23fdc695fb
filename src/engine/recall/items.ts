import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Item } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { type SearchIndex, slotOfMemory } from "../search-index/search-index.ts";
import { toSources } from "../user-state/lookups.ts";
import { findExclusion, type IndexFilters, statusOfUnit } from "./options.ts";
import type { PlacedItem, RankedUnit } from "./rank.ts";

/** The texts of the chosen units, by id. */
export interface ItemBodies {
  readonly messages: ReadonlyMap<string, Message>;
  readonly memories: ReadonlyMap<string, Memory>;
}

/** Data available without a read from the store. */
interface KnownBodies {
  /** Set if another time is queried. */
  readonly memories?: ReadonlyMap<string, Memory> | undefined;
  readonly ahead?: Promise<ItemBodies | undefined> | undefined;
  /** All texts of the user at the revision of the index, if cached. */
  readonly held?: ItemBodies | undefined;
}

/** Loaded items in their order. */
interface LoadedItems {
  readonly placed: readonly PlacedItem[];
  /** By the id of an ended memory: the id of its successor. */
  readonly successors: ReadonlyMap<string, string>;
}

/**
 * Loads the chosen units as items with their sources. The store, or the cache of its newest revision, is
 * authoritative: units that it no longer has are left out.
 */
export async function loadItems(
  store: Pick<MemoryStore, "read">,
  scope: Scope,
  searchIndex: SearchIndex,
  chosen: readonly RankedUnit[],
  { memories, ahead, held }: KnownBodies = {},
): Promise<LoadedItems> {
  const bodies = held
    ? { ...held, ...(memories ? { memories } : {}) }
    : await loadBodies(store, scope, collectIds(searchIndex, chosen), { memories, ahead });
  const placed: PlacedItem[] = [];
  const successors = new Map<string, string>();
  for (const unit of chosen) {
    const item = unit.type === "memory" ? toMemoryItem(bodies, unit) : toPassageItem(bodies, unit);
    if (!item) continue;
    placed.push({ item, unit });
    const successor = unit.status === "superseded" ? bodies.memories.get(unit.id)?.supersededBy : undefined;
    if (successor !== undefined) successors.set(unit.id, successor);
  }
  return { placed, successors };
}

async function loadBodies(
  store: Pick<MemoryStore, "read">,
  scope: Scope,
  wanted: BodyIds,
  { memories, ahead }: KnownBodies,
): Promise<ItemBodies> {
  const read = await ahead;
  return read && hasAll(read, wanted) ? read : readBodies(store, scope, wanted, memories);
}

/** Reads the texts of the chosen units. */
export function prefetchBodies(
  store: Pick<MemoryStore, "read">,
  scope: Scope,
  searchIndex: SearchIndex,
  chosen: readonly RankedUnit[],
): Promise<ItemBodies> {
  return readBodies(store, scope, collectIds(searchIndex, chosen));
}

interface BodyIds {
  readonly messages: readonly string[];
  readonly memories: readonly string[];
}

function hasAll(bodies: ItemBodies, { messages, memories }: BodyIds): boolean {
  return messages.every((id) => bodies.messages.has(id)) && memories.every((id) => bodies.memories.has(id));
}

async function readBodies(
  store: Pick<MemoryStore, "read">,
  scope: Scope,
  wanted: BodyIds,
  memories?: ReadonlyMap<string, Memory>,
): Promise<ItemBodies> {
  const found = await store.read(scope, memories ? { ...wanted, memories: [] } : wanted);
  return {
    messages: new Map(found.messages.map((message) => [message.id, message])),
    memories: memories ?? new Map(found.memories.map((memory) => [memory.id, memory])),
  };
}

function collectIds({ turns, units, memories }: SearchIndex, chosen: readonly RankedUnit[]): BodyIds {
  const messages = new Set<string>();
  for (const { slot, type, message } of chosen) {
    if (type === "passage") messages.add(message);
    const row = units.columns.row[slot] as number;
    if (row < 0) continue;
    const { sources, columns } = memories;
    for (let at = columns.sources[row] as number; at >= 0; at = sources.nextOfRow[at] as number) {
      messages.add(turns.ids.at(sources.turn[at] as number) ?? "");
    }
  }
  return {
    messages: [...messages],
    memories: chosen.flatMap(({ type, id }) => (type === "memory" ? [id] : [])),
  };
}

function toMemoryItem(bodies: ItemBodies, chosen: RankedUnit): Item | undefined {
  const memory = bodies.memories.get(chosen.id);
  if (!memory) return undefined;
  const { id, text, kind, claim, at, when, validFrom, validTo } = memory;
  return {
    id,
    type: "memory",
    text,
    kind,
    ...(claim ? { claim } : {}),
    status: chosen.status,
    score: chosen.score,
    at,
    ...(when === undefined ? {} : { when }),
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validTo === undefined ? {} : { validTo }),
    sources: toSources(bodies, memory.sources),
  };
}

function toPassageItem(bodies: ItemBodies, chosen: RankedUnit): Item | undefined {
  const { id, status, score, span } = chosen;
  const message = bodies.messages.get(chosen.message);
  if (!message || !span) return undefined;
  const text = message.content.slice(span.start, span.end);
  // Erased a moment ago.
  if (text === "") return undefined;
  return {
    id,
    type: "passage",
    text,
    status,
    score,
    at: message.at,
    sources: toSources(bodies, [{ message: message.id, ...span, quote: text }]),
  };
}

interface SuccessorInput {
  readonly searchIndex: SearchIndex;
  readonly filters: IndexFilters;
  readonly limit: number;
  /** Used instead of the store's if another time is queried or everything is cached. */
  readonly memories: ReadonlyMap<string, Memory> | undefined;
}

/**
 * The chosen units, each ended memory preceded by its successor, which may say the same in other words than
 * the query's. Reads the store a second time only if a memory has ended.
 */
export async function insertSuccessors(
  store: Pick<MemoryStore, "read">,
  scope: Scope,
  { searchIndex, filters: limits, limit, memories }: SuccessorInput,
  chosen: readonly RankedUnit[],
): Promise<readonly RankedUnit[]> {
  const ended = chosen.filter(({ type, status }) => type === "memory" && status === "superseded");
  if (ended.length === 0) return chosen;
  const ids = ended.map(({ id }) => id);
  const endedMemories =
    memories ??
    new Map((await store.read(scope, { messages: [], memories: ids })).memories.map((one) => [one.id, one]));
  const byId = new Map(chosen.map((one) => [one.id, one]));
  const givenIds = new Set<string>();
  const withSuccessors = chosen.flatMap((one): readonly RankedUnit[] => {
    if (givenIds.has(one.id)) return [];
    givenIds.add(one.id);
    const next = one.status === "superseded" ? endedMemories.get(one.id)?.supersededBy : undefined;
    if (next === undefined || givenIds.has(next)) return [one];
    const successor = byId.get(next) ?? toSuccessor(searchIndex, limits, one, next);
    if (successor?.status !== "current") return [one];
    givenIds.add(next);
    // It takes the place of the ended memory, with the parts of the score that it has there.
    const place = successor.score >= one.score ? successor : { score: one.score, basis: one.basis };
    return [{ ...successor, ...place }, one];
  });
  return withSuccessors.slice(0, limit);
}

/** Ranks the successor as if it had been found in place of the ended memory. */
function toSuccessor(
  searchIndex: SearchIndex,
  limits: IndexFilters,
  ended: RankedUnit,
  id: string,
): RankedUnit | undefined {
  const slot = slotOfMemory(searchIndex, id);
  if (slot < 0 || findExclusion(searchIndex, slot, limits) !== undefined) return undefined;
  return { ...ended, slot, id, status: statusOfUnit(searchIndex, slot, limits) };
}
