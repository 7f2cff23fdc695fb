import type { SearchUnit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { formatPassage, splitPassages } from "../../domain/text/split-text.ts";
import type { Delta } from "../../ports/memory-store.ts";
import type { VectorIndexEntry, VectorIndexMetadata } from "../../ports/vector-index.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../search-index/search-units.ts";

/** The entries to put and drop to bring an index up to date with the store. */
interface IndexChanges {
  readonly put: readonly VectorIndexEntry[];
  readonly drop: readonly string[];
}

type EntryPorts = Pick<Ports, "store" | "embedder">;

/** The owners of units, by id. */
interface EntryOwners {
  readonly messages: ReadonlyMap<string, Message>;
  readonly memories: ReadonlyMap<string, Memory>;
}

/** Changes since a revision as entries. A unit without a vector is not in an index. */
export async function toIndexChanges(
  ports: EntryPorts,
  scope: Scope,
  delta: Delta,
  withTexts: boolean,
): Promise<IndexChanges> {
  const space = spaceOf(ports.embedder);
  const put: SearchUnit[] = [];
  const drop = [...delta.gone.units];
  for (const unit of delta.units) {
    if (unit.space === space && hasDirection(unit.vector)) put.push(unit);
    else drop.push(unit.id);
  }
  const owners = await findOwners(ports, scope, put, delta);
  return { put: put.map((unit) => toEntry(unit, owners, withTexts)), drop };
}

/** Reads some units by id as entries, in their current state; missing ones are left out. */
export async function readEntries(
  ports: EntryPorts,
  scope: Scope,
  ids: readonly string[],
  withTexts: boolean,
): Promise<VectorIndexEntry[]> {
  const { store, embedder } = ports;
  const vectors = await store.vectors(scope, ids, spaceOf(embedder));
  const present = ids.flatMap((id, i) => {
    const vector = vectors[i];
    return vector && hasDirection(vector) ? [{ id, vector }] : [];
  });
  const owners = await readOwners(
    ports,
    scope,
    present.map(({ id }) => messageIdOf(id)),
    present.map(({ id }) => id),
  );
  return present.map(({ id, vector }) => {
    const isMemory = owners.memories.has(id);
    const owner = isMemory ? id : messageIdOf(id);
    return toEntry({ id, vector, type: isMemory ? "memory" : "passage", owner }, owners, withTexts);
  });
}

/** The message of a passage: "m1#0" -> "m1". */
export function messageIdOf(passage: string): string {
  return passage.slice(0, Math.max(0, passage.lastIndexOf("#")));
}

export function hasDirection(vector: Float32Array): boolean {
  return vector.some((part) => part !== 0);
}

async function findOwners(
  ports: EntryPorts,
  scope: Scope,
  units: readonly SearchUnit[],
  delta: Delta,
): Promise<EntryOwners> {
  const messages = new Map(delta.messages.map((message) => [message.id, message]));
  const memories = new Map(delta.memories.map((memory) => [memory.id, memory]));
  const missing = units.filter(({ type, owner }) =>
    type === "passage" ? !messages.has(owner) : !memories.has(owner),
  );
  if (missing.length === 0) return { messages, memories };
  const of = (wanted: SearchUnit["type"]): string[] =>
    missing.filter(({ type }) => type === wanted).map(({ owner }) => owner);
  const more = await readOwners(ports, scope, of("passage"), of("memory"));
  return {
    messages: new Map([...messages, ...more.messages]),
    memories: new Map([...memories, ...more.memories]),
  };
}

async function readOwners(
  { store }: EntryPorts,
  scope: Scope,
  messages: readonly string[],
  memories: readonly string[],
): Promise<EntryOwners> {
  const read = await store.read(scope, {
    messages: [...new Set(messages)],
    memories: [...new Set(memories)],
  });
  return {
    messages: new Map(read.messages.map((message) => [message.id, message])),
    memories: new Map(read.memories.map((memory) => [memory.id, memory])),
  };
}

type EntryUnit = Pick<SearchUnit, "id" | "type" | "owner" | "vector">;

function toEntry(unit: EntryUnit, owners: EntryOwners, withTexts: boolean): VectorIndexEntry {
  const { id, vector } = unit;
  const text = withTexts ? findText(unit, owners) : undefined;
  return { id, vector, metadata: toMetadata(unit, owners), ...(text === undefined ? {} : { text }) };
}

function findText({ id, type, owner }: EntryUnit, { messages, memories }: EntryOwners): string | undefined {
  if (type === "memory") return memories.get(owner)?.text;
  const message = messages.get(owner);
  const passage = message && splitPassages(message).find((one) => one.id === id);
  return passage && formatPassage(message, passage);
}

function toMetadata({ type, owner }: EntryUnit, { messages, memories }: EntryOwners): VectorIndexMetadata {
  const memory = type === "memory" ? memories.get(owner) : undefined;
  const source = memory ?? messages.get(owner);
  const session = source?.session;
  return {
    type,
    owner,
    at: source ? Date.parse(source.at) : 0,
    ...(memory ? { kind: memory.kind } : {}),
    ...(session === undefined ? {} : { session }),
  };
}
