import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Item } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore } from "../../ports/record.ts";
import type { SearchIndex } from "../block/block.ts";
import { toSources } from "../show.ts";
import type { RankedUnit } from "./rank.ts";

/** The texts of what was chosen, by id. */
export interface ItemBodies {
  readonly messages: ReadonlyMap<string, Message>;
  readonly memories: ReadonlyMap<string, Memory>;
}

/** What is known without asking the record. */
export interface KnownBodies {
  /** Where another time is asked about. */
  readonly memories?: ReadonlyMap<string, Memory> | undefined;
  readonly ahead?: Promise<ItemBodies | undefined> | undefined;
  /** Everything of the user, where it is held, of the block's revision. */
  readonly held?: ItemBodies | undefined;
}

/**
 * What was chosen as items, with its sources. The record has the last word, or what is held of its newest revision: what that does not
 * know any more is left out.
 */
export async function loadItems(
  record: Pick<MemoryStore, "read">,
  scope: Scope,
  block: SearchIndex,
  chosen: readonly RankedUnit[],
  { memories, ahead, held }: KnownBodies = {},
): Promise<{ items: Item[]; chosen: RankedUnit[] }> {
  const bodies = held
    ? { ...held, ...(memories ? { memories } : {}) }
    : await loadBodies(record, scope, collectIds(block, chosen), { memories, ahead });
  const items: Item[] = [];
  const kept: RankedUnit[] = [];
  for (const one of chosen) {
    const item = one.type === "memory" ? toMemoryItem(bodies, one) : toPassageItem(bodies, one);
    if (!item) continue;
    items.push(item);
    kept.push(one);
  }
  return { items, chosen: kept };
}

async function loadBodies(
  record: Pick<MemoryStore, "read">,
  scope: Scope,
  wanted: BodyIds,
  { memories, ahead }: KnownBodies,
): Promise<ItemBodies> {
  const read = await ahead;
  return read && hasAll(read, wanted) ? read : readBodies(record, scope, wanted, memories);
}

/** Reads what will be wanted of what was chosen. */
export function prefetchBodies(
  record: Pick<MemoryStore, "read">,
  scope: Scope,
  block: SearchIndex,
  chosen: readonly RankedUnit[],
): Promise<ItemBodies> {
  return readBodies(record, scope, collectIds(block, chosen));
}

interface BodyIds {
  readonly messages: readonly string[];
  readonly memories: readonly string[];
}

function hasAll(bodies: ItemBodies, { messages, memories }: BodyIds): boolean {
  return messages.every((id) => bodies.messages.has(id)) && memories.every((id) => bodies.memories.has(id));
}

async function readBodies(
  record: Pick<MemoryStore, "read">,
  scope: Scope,
  wanted: BodyIds,
  memories?: ReadonlyMap<string, Memory>,
): Promise<ItemBodies> {
  const found = await record.read(scope, memories ? { ...wanted, memories: [] } : wanted);
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
