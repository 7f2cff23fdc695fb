import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Item } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Record } from "../../ports/record.ts";
import type { Block } from "../block/block.ts";
import { shownSources } from "../show.ts";
import type { Chosen } from "./rank.ts";

/** The texts of what was chosen, by id. */
export interface Bodies {
  readonly messages: ReadonlyMap<string, Message>;
  readonly memories: ReadonlyMap<string, Memory>;
}

/** What is known without asking the record. */
export interface Instead {
  /** Where another time is asked about. */
  readonly memories?: ReadonlyMap<string, Memory> | undefined;
  readonly ahead?: Promise<Bodies | undefined> | undefined;
  /** Everything of the user, where it is held, of the block's revision. */
  readonly held?: Bodies | undefined;
}

/**
 * What was chosen as items, with its sources. The record has the last word, or what is held of its newest revision: what that does not
 * know any more is left out.
 */
export async function itemsOf(
  record: Pick<Record, "read">,
  scope: Scope,
  block: Block,
  chosen: readonly Chosen[],
  { memories, ahead, held }: Instead = {},
): Promise<{ items: Item[]; chosen: Chosen[] }> {
  const bodies = held
    ? { ...held, ...(memories ? { memories } : {}) }
    : await wantedBodies(record, scope, idsOf(block, chosen), { memories, ahead });
  const items: Item[] = [];
  const kept: Chosen[] = [];
  for (const one of chosen) {
    const item = one.type === "memory" ? memoryItem(bodies, one) : passageItem(bodies, one);
    if (!item) continue;
    items.push(item);
    kept.push(one);
  }
  return { items, chosen: kept };
}

async function wantedBodies(
  record: Pick<Record, "read">,
  scope: Scope,
  wanted: Ids,
  { memories, ahead }: Instead,
): Promise<Bodies> {
  const read = await ahead;
  return read && hasAll(read, wanted) ? read : bodiesOf(record, scope, wanted, memories);
}

/** Reads what will be wanted of what was chosen. */
export function readAhead(
  record: Pick<Record, "read">,
  scope: Scope,
  block: Block,
  chosen: readonly Chosen[],
): Promise<Bodies> {
  return bodiesOf(record, scope, idsOf(block, chosen));
}

interface Ids {
  readonly messages: readonly string[];
  readonly memories: readonly string[];
}

function hasAll(bodies: Bodies, { messages, memories }: Ids): boolean {
  return messages.every((id) => bodies.messages.has(id)) && memories.every((id) => bodies.memories.has(id));
}

async function bodiesOf(
  record: Pick<Record, "read">,
  scope: Scope,
  wanted: Ids,
  memories?: ReadonlyMap<string, Memory>,
): Promise<Bodies> {
  const found = await record.read(scope, memories ? { ...wanted, memories: [] } : wanted);
  return {
    messages: new Map(found.messages.map((message) => [message.id, message])),
    memories: memories ?? new Map(found.memories.map((memory) => [memory.id, memory])),
  };
}

function idsOf({ turns, units, memories }: Block, chosen: readonly Chosen[]): Ids {
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

function memoryItem(bodies: Bodies, chosen: Chosen): Item | undefined {
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
    sources: shownSources(bodies, memory.sources),
  };
}

function passageItem(bodies: Bodies, chosen: Chosen): Item | undefined {
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
    sources: shownSources(bodies, [{ message: message.id, ...span, quote: text }]),
  };
}
