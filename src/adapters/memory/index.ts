import type { ChangeSet, Link, LogEntry, Redaction, Tombstone, Unit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, KeptReceipt } from "../../domain/receipt.ts";
import { type Scope, scopeKey } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { KeptBlock, Record } from "../../ports/record.ts";
import { countHeld, wordsOfMemory, wordsOfMessage, wordsOfReceipt } from "../shared/held-words.ts";

/** A value, and the revision that last changed it. */
interface Held<Value> {
  value: Value;
  revision: number;
}

interface User {
  readonly scope: Scope;
  revision: number;
  readonly messages: Map<string, Held<Message>>;
  readonly heads: Map<string, Held<Memory>>;
  readonly versions: Memory[];
  readonly units: Map<string, Held<Unit>>;
  /** Ids of units dropped and memories erased, with the revision that took them. */
  readonly gone: { readonly units: Map<string, number>; readonly memories: Map<string, number> };
  readonly tombstones: Map<string, Tombstone>;
  readonly links: Map<string, Link>;
  readonly log: LogEntry[];
  readonly receipts: Map<string, KeptReceipt & { readonly revision: number }>;
  readonly erasures: ErasureReceipt[];
  block?: KeptBlock;
}

/** The reference `Record`: in process, exact, and short enough to read as the specification. It keeps nothing. */
export function memoryRecord(): Record {
  const users = new Map<string, User>();
  const read = (scope: Scope): User => {
    if (isClosed) throw new MemoryError("unavailable", "this record is closed. Open another.");
    if (!scope.project.isWellFormed() || !scope.user.isWellFormed()) {
      throw invalid("a name is no well-formed Unicode: it holds half a surrogate pair.");
    }
    return users.get(scopeKey(scope)) ?? newUser(scope);
  };
  let isClosed = false;
  const erasures: { readonly user: User; readonly index: number }[] = [];

  return {
    name: "memory",

    async revision(scope) {
      return read(scope).revision;
    },

    async commit(scope, changes) {
      const user = read(scope);
      refuseWrong(user, changes);
      users.set(scopeKey(scope), user);
      const before = user.erasures.length;
      apply(user, structuredClone(changes));
      if (user.erasures.length > before) erasures.push({ user, index: before });
      return user.revision;
    },

    async since(scope, revision, options) {
      const user = read(scope);
      const changed = <Value>(held: Map<string, Held<Value>>): Value[] =>
        [...held.values()].filter((one) => one.revision > revision).map(({ value }) => value);
      const gone = (ids: Map<string, number>): string[] =>
        // To somebody who had nothing, nothing is gone.
        [...(revision === 0 ? [] : ids)]
          .filter(([, when]) => when > revision)
          .map(([id]) => id)
          .sort();
      return structuredClone({
        revision: user.revision,
        messages: changed(user.messages),
        memories: changed(user.heads),
        units: options?.units === false ? [] : changed(user.units).sort((a, b) => (a.id < b.id ? -1 : 1)),
        gone: { units: gone(user.gone.units), memories: gone(user.gone.memories) },
        tombstones: [...user.tombstones.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1)),
        links: [...user.links.values()].sort(byEnds),
      });
    },

    async read(scope, { messages, memories }) {
      const user = read(scope);
      return structuredClone({
        messages: messages.flatMap((id) => user.messages.get(id)?.value ?? []),
        memories: memories.flatMap((id) => user.heads.get(id)?.value ?? []),
      });
    },

    async vectors(scope, ids, space) {
      const { units } = read(scope);
      return ids.map((id) => {
        const unit = units.get(id)?.value;
        return unit?.space === space ? unit.vector.slice() : undefined;
      });
    },

    async block(scope) {
      return structuredClone(read(scope).block);
    },

    async keepBlock(scope, block) {
      const user = read(scope);
      if (user.revision > 0 && user.revision === block.revision) user.block = structuredClone(block);
    },

    async versions(scope, id) {
      return structuredClone(read(scope).versions.filter((version) => id === undefined || version.id === id));
    },

    async log(scope, { before = Number.POSITIVE_INFINITY, limit }) {
      const entries = read(scope).log.filter(({ revision }) => revision < before);
      return structuredClone(entries.reverse().slice(0, limit));
    },

    async receipt(scope, key) {
      return structuredClone(read(scope).receipts.get(key));
    },

    async erasures(scope) {
      const kept = scope
        ? read(scope).erasures
        : erasures.flatMap(({ user, index }) => user.erasures[index] ?? []);
      return structuredClone(kept);
    },

    async users(project) {
      return [...users.values()]
        .filter(({ scope }) => scope.project === project)
        .map(({ scope }) => scope.user)
        .sort();
    },

    async usersOutside(space, limit) {
      return [...users.values()]
        .map((user) => ({ scope: { ...user.scope }, units: outside(user, space).length }))
        .filter(({ units }) => units > 0)
        .slice(0, limit);
    },

    async unitsOutside(scope, space, limit) {
      const user = read(scope);
      const units = outside(user, space).slice(0, limit);
      const owners = <Value>(type: Unit["type"], held: Map<string, Held<Value>>): Value[] =>
        [...new Set(units.filter((unit) => unit.type === type).map(({ owner }) => owner))].flatMap(
          (id) => held.get(id)?.value ?? [],
        );
      return structuredClone({
        revision: user.revision,
        units: units.map(({ vector: _vector, ...unit }) => unit),
        messages: owners("passage", user.messages),
        memories: owners("memory", user.heads),
      });
    },

    async scrub(scope, texts) {
      const user = read(scope);
      const messages = [...user.messages.values()].flatMap(({ value }) => wordsOfMessage(value));
      const terms = [...user.units.values()].map(({ value }) => value.terms);
      return [
        { place: "messages", found: countHeld(texts, messages) },
        { place: "memories", found: countHeld(texts, user.versions.flatMap(wordsOfMemory)) },
        { place: "text index", found: countHeld(texts, terms) },
        { place: "receipts", found: countHeld(texts, [...user.receipts.values()].flatMap(wordsOfReceipt)) },
      ];
    },

    async seal(scope, receipt) {
      const { erasures: kept } = read(scope);
      const index = kept.findIndex(({ id }) => id === receipt.id);
      if (index === -1) throw new MemoryError("not_found", "there is no erasure with this id to seal.");
      kept[index] = structuredClone(receipt);
    },

    async check() {
      return [];
    },

    async close() {
      isClosed = true;
    },
  };
}

function outside(user: User, space: string): Unit[] {
  return [...user.units.values()].map(({ value }) => value).filter((unit) => unit.space !== space);
}

function byEnds(one: Link, other: Link): number {
  return compare(one.from, other.from) || compare(one.type, other.type) || compare(one.to, other.to);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function newUser({ project, user }: Scope): User {
  return {
    scope: { project, user },
    revision: 0,
    messages: new Map(),
    heads: new Map(),
    versions: [],
    units: new Map(),
    gone: { units: new Map(), memories: new Map() },
    tombstones: new Map(),
    links: new Map(),
    log: [],
    receipts: new Map(),
    erasures: [],
  };
}

/** All reasons to refuse come before the first change. */
function refuseWrong(user: User, changes: ChangeSet): void {
  if (changes.base !== user.revision) {
    throw new MemoryError(
      "conflict",
      `the change was thought out on revision ${changes.base}, the user is at ${user.revision}.`,
    );
  }
  const ids = new Set(user.messages.keys());
  for (const { id } of changes.messages ?? []) {
    if (ids.has(id)) throw new MemoryError("conflict", "a message with this id is there already.");
    ids.add(id);
  }
  const touched = [...(changes.digests ?? []), ...(changes.erase?.messages ?? [])];
  if (!touched.every(({ id }) => ids.has(id)))
    throw new MemoryError("conflict", "a message to change is not there.");
  refuseWrongVersions(user, changes);
}

function refuseWrongVersions(user: User, { memories = [], links = [] }: ChangeSet): void {
  const newest = new Map([...user.heads].map(([id, { value }]) => [id, value.version]));
  for (const { id, version } of memories) {
    const held = newest.get(id) ?? 0;
    if (version !== held + 1) {
      throw new MemoryError("conflict", `a memory's version ${version} cannot follow its version ${held}.`);
    }
    newest.set(id, version);
  }
  if (!links.every(({ from, to }) => newest.has(from) && newest.has(to))) {
    throw new MemoryError("conflict", "a memory to link is not there.");
  }
}

function apply(user: User, changes: ChangeSet): void {
  user.revision += 1;
  const { revision } = user;
  for (const message of changes.messages ?? []) {
    user.messages.set(message.id, { value: { ...message, turn: user.messages.size + 1 }, revision });
  }
  for (const change of changes.digests ?? []) digest(user, change);
  for (const memory of changes.memories ?? []) addVersion(user, memory);
  for (const link of changes.links ?? []) {
    user.links.set(JSON.stringify([link.from, link.type, link.to]), link);
  }
  for (const id of changes.dropUnits ?? []) dropUnit(user, id);
  if (changes.erase) erase(user, changes.erase);
  for (const unit of changes.units ?? []) putUnit(user, unit);
  putMarks(user, changes);
  user.log.push(entryOf(revision, changes));
}

function putUnit(user: User, unit: Unit): void {
  user.units.set(unit.id, { value: unit, revision: user.revision });
  user.gone.units.delete(unit.id);
}

function putMarks(user: User, changes: ChangeSet): void {
  for (const tombstone of changes.tombstones ?? []) user.tombstones.set(tombstone.hash, tombstone);
  for (const hash of changes.liftTombstones ?? []) user.tombstones.delete(hash);
  const { receipt } = changes;
  if (receipt) user.receipts.set(receipt.key, { ...receipt, revision: user.revision });
}

function digest(user: User, change: NonNullable<ChangeSet["digests"]>[number]): void {
  const held = user.messages.get(change.id);
  if (!held) return;
  const { undone: before, ...message } = held.value;
  const undone = (change.undone ?? before) ? { undone: true } : {};
  user.messages.set(change.id, {
    value: { ...message, digest: change.digest, ...undone },
    revision: user.revision,
  });
}

function addVersion(user: User, memory: Memory): void {
  const value = { ...memory, revision: user.revision };
  user.heads.set(memory.id, { value, revision: user.revision });
  user.versions.push(value);
  user.gone.memories.delete(memory.id);
}

function dropUnit(user: User, id: string): void {
  if (user.units.delete(id)) user.gone.units.set(id, user.revision);
}

function erase(user: User, erasure: NonNullable<ChangeSet["erase"]>): void {
  for (const redaction of erasure.messages) redact(user, redaction);
  for (const id of erasure.memories) eraseMemory(user, id);
  for (const version of erasure.rewrites) {
    const index = user.versions.findIndex((one) => one.id === version.id && one.version === version.version);
    if (index !== -1) user.versions[index] = version;
    if (user.heads.get(version.id)?.value.version === version.version) {
      user.heads.set(version.id, { value: version, revision: user.revision });
    }
  }
  user.erasures.push(erasure.receipt);
  delete user.block;
}

function redact(user: User, { id, content, parts, keepMetadata }: Redaction): void {
  const held = user.messages.get(id);
  if (!held) return;
  const { parts: _parts, metadata, ...rest } = held.value;
  const kept = { ...(keepMetadata && metadata ? { metadata } : {}), ...(parts ? { parts } : {}) };
  user.messages.set(id, { value: { ...rest, ...kept, content }, revision: user.revision });
}

function eraseMemory(user: User, id: string): void {
  if (!user.heads.delete(id)) return;
  user.gone.memories.set(id, user.revision);
  user.versions.splice(0, user.versions.length, ...user.versions.filter((version) => version.id !== id));
  dropUnit(user, id);
  for (const [key, { from, to }] of user.links) if (from === id || to === id) user.links.delete(key);
}

function entryOf(
  revision: number,
  { at, cause, undoes, messages, memories, erase: erasure }: ChangeSet,
): LogEntry {
  return {
    revision,
    at,
    cause,
    ...(undoes === undefined ? {} : { undoes }),
    messages: (messages ?? []).map(({ id }) => id),
    memories: (memories ?? []).map(({ id, version, action }) => ({ id, version, action })),
    erased: erasure ? [...erasure.messages.map(({ id }) => id), ...erasure.memories] : [],
  };
}
