import type { Unit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { passagesOf, passageText } from "../../domain/passages.ts";
import type { Scope } from "../../domain/scope.ts";
import type { FollowerEntry, FollowerMetadata } from "../../ports/follower.ts";
import type { Delta } from "../../ports/record.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../space.ts";

/** What an index is to take in and to let go of, so that it stands where the record does. */
export interface Step {
  readonly put: readonly FollowerEntry[];
  readonly drop: readonly string[];
}

type Reading = Pick<Ports, "record" | "embedder">;

/** What units belong to, by id. */
interface Owners {
  readonly messages: ReadonlyMap<string, Message>;
  readonly memories: ReadonlyMap<string, Memory>;
}

/** What came since a revision, as entries. A unit that has no vector yet has no place in an index. */
export async function stepOf(ports: Reading, scope: Scope, delta: Delta, withTexts: boolean): Promise<Step> {
  const space = spaceOf(ports.embedder);
  const put: Unit[] = [];
  const drop = [...delta.gone.units];
  for (const unit of delta.units) {
    if (unit.space === space && hasDirection(unit.vector)) put.push(unit);
    else drop.push(unit.id);
  }
  const owners = await ownersOf(ports, scope, put, delta);
  return { put: put.map((unit) => entryOf(unit, owners, withTexts)), drop };
}

/** Some units by id as entries, as they stand in the record now; those that are not there are left out. */
export async function entriesById(
  ports: Reading,
  scope: Scope,
  ids: readonly string[],
  withTexts: boolean,
): Promise<FollowerEntry[]> {
  const { record, embedder } = ports;
  const vectors = await record.vectors(scope, ids, spaceOf(embedder));
  const held = ids.flatMap((id, i) => {
    const vector = vectors[i];
    return vector && hasDirection(vector) ? [{ id, vector }] : [];
  });
  const owners = await readOwners(
    ports,
    scope,
    held.map(({ id }) => messageOf(id)),
    held.map(({ id }) => id),
  );
  return held.map(({ id, vector }) => {
    const isMemory = owners.memories.has(id);
    const owner = isMemory ? id : messageOf(id);
    return entryOf({ id, vector, type: isMemory ? "memory" : "passage", owner }, owners, withTexts);
  });
}

/** The message that a passage is from: "m1#0" -> "m1". */
export function messageOf(passage: string): string {
  return passage.slice(0, Math.max(0, passage.lastIndexOf("#")));
}

export function hasDirection(vector: Float32Array): boolean {
  return vector.some((part) => part !== 0);
}

async function ownersOf(ports: Reading, scope: Scope, units: readonly Unit[], delta: Delta): Promise<Owners> {
  const messages = new Map(delta.messages.map((message) => [message.id, message]));
  const memories = new Map(delta.memories.map((memory) => [memory.id, memory]));
  const missing = units.filter(({ type, owner }) =>
    type === "passage" ? !messages.has(owner) : !memories.has(owner),
  );
  if (missing.length === 0) return { messages, memories };
  const of = (wanted: Unit["type"]): string[] =>
    missing.filter(({ type }) => type === wanted).map(({ owner }) => owner);
  const more = await readOwners(ports, scope, of("passage"), of("memory"));
  return {
    messages: new Map([...messages, ...more.messages]),
    memories: new Map([...memories, ...more.memories]),
  };
}

async function readOwners(
  { record }: Reading,
  scope: Scope,
  messages: readonly string[],
  memories: readonly string[],
): Promise<Owners> {
  const read = await record.read(scope, {
    messages: [...new Set(messages)],
    memories: [...new Set(memories)],
  });
  return {
    messages: new Map(read.messages.map((message) => [message.id, message])),
    memories: new Map(read.memories.map((memory) => [memory.id, memory])),
  };
}

type Shown = Pick<Unit, "id" | "type" | "owner" | "vector">;

function entryOf(unit: Shown, owners: Owners, withTexts: boolean): FollowerEntry {
  const { id, vector } = unit;
  const text = withTexts ? textOf(unit, owners) : undefined;
  return { id, vector, metadata: metadataOf(unit, owners), ...(text === undefined ? {} : { text }) };
}

function textOf({ id, type, owner }: Shown, { messages, memories }: Owners): string | undefined {
  if (type === "memory") return memories.get(owner)?.text;
  const message = messages.get(owner);
  const passage = message && passagesOf(message).find((one) => one.id === id);
  return passage && passageText(message, passage);
}

function metadataOf({ type, owner }: Shown, { messages, memories }: Owners): FollowerMetadata {
  const memory = type === "memory" ? memories.get(owner) : undefined;
  const said = memory ?? messages.get(owner);
  const session = said?.session;
  return {
    type,
    owner,
    at: said ? Date.parse(said.at) : 0,
    ...(memory ? { kind: memory.kind } : {}),
    ...(session === undefined ? {} : { session }),
  };
}
