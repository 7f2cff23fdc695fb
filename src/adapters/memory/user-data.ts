import type { StoredAttachment } from "../../domain/attachment.ts";
import {
  applyRedaction,
  type ChangeSet,
  type LogEntry,
  type MemoryLink,
  type MessageRedaction,
  type SearchUnit,
  type Tombstone,
  toLinkKey,
} from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { JobProgress } from "../../domain/operations/job.ts";
import type { RecallReceipt } from "../../domain/recall.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "../../domain/receipt.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { StoredSearchIndex } from "../../ports/memory-store.ts";
import type { EmbedderChoice } from "../../ports/stores/embedder-choices.ts";
import type { MemoryUse } from "../../ports/stores/usage-store.ts";
import { createLogEntry } from "../shared/stored-rows.ts";

/** A value, and the revision that last changed it. */
export interface RevisionedValue<Value> {
  value: Value;
  revision: number;
}

/** All data of one user. */
export interface MemoryUser {
  readonly scope: Scope;
  revision: number;
  readonly messages: Map<string, RevisionedValue<Message>>;
  /** By digest. */
  readonly attachments: Map<string, StoredAttachment>;
  readonly heads: Map<string, RevisionedValue<Memory>>;
  readonly versions: Memory[];
  readonly units: Map<string, RevisionedValue<SearchUnit>>;
  /** Ids of dropped units and erased memories, with the revision that removed them. */
  readonly gone: { readonly units: Map<string, number>; readonly memories: Map<string, number> };
  readonly tombstones: Map<string, Tombstone>;
  readonly links: Map<string, MemoryLink>;
  readonly log: LogEntry[];
  readonly receipts: Map<string, KeptReceipt & { readonly revision: number }>;
  readonly erasures: ErasureReceipt[];
  readonly traces: Map<string, Trace>;
  readonly recalls: Map<string, RecallReceipt>;
  /** By the id of the memory. */
  readonly uses: Map<string, MemoryUse>;
  /** By job name. */
  readonly visits: Map<string, JobProgress>;
  searchIndex?: StoredSearchIndex;
}

/** A user without data. */
export function createMemoryUser({ project, user }: Scope): MemoryUser {
  return {
    scope: { project, user },
    revision: 0,
    messages: new Map(),
    attachments: new Map(),
    heads: new Map(),
    versions: [],
    units: new Map(),
    gone: { units: new Map(), memories: new Map() },
    tombstones: new Map(),
    links: new Map(),
    log: [],
    receipts: new Map(),
    erasures: [],
    traces: new Map(),
    recalls: new Map(),
    uses: new Map(),
    visits: new Map(),
  };
}

/** Checks everything that can refuse a change-set, before the first change. */
export function checkChangeSet(user: MemoryUser, changes: ChangeSet): void {
  if (changes.base !== user.revision) {
    throw new MemoryError(
      "conflict",
      `the change was made for revision ${changes.base}, but the user is at revision ${user.revision}.`,
    );
  }
  const ids = new Set(user.messages.keys());
  for (const { id } of changes.messages ?? []) {
    if (ids.has(id)) throw new MemoryError("conflict", "a message with this id already exists.");
    ids.add(id);
  }
  const touched = [...(changes.digests ?? []), ...(changes.erase?.messages ?? [])];
  if (!touched.every(({ id }) => ids.has(id)))
    throw new MemoryError("conflict", "a message to change does not exist.");
  checkVersions(user, changes);
}

function checkVersions(user: MemoryUser, { memories = [], links = [] }: ChangeSet): void {
  const newest = new Map([...user.heads].map(([id, { value }]) => [id, value.version]));
  for (const { id, version } of memories) {
    const current = newest.get(id) ?? 0;
    if (version !== current + 1) {
      throw new MemoryError(
        "conflict",
        `a memory's version ${version} cannot follow its version ${current}.`,
      );
    }
    newest.set(id, version);
  }
  if (!links.every(({ from, to }) => newest.has(from) && newest.has(to))) {
    throw new MemoryError("conflict", "a memory to link does not exist.");
  }
}

/** Applies a change-set that passed `checkChangeSet`. */
export function applyChangeSet(user: MemoryUser, changes: ChangeSet): void {
  user.revision += 1;
  const { revision } = user;
  for (const message of changes.messages ?? []) {
    user.messages.set(message.id, { value: { ...message, turn: user.messages.size + 1 }, revision });
  }
  addAttachments(user, changes);
  for (const change of changes.digests ?? []) changeDigest(user, change);
  for (const memory of changes.memories ?? []) addVersion(user, memory);
  for (const link of changes.dropLinks ?? []) user.links.delete(toLinkKey(link));
  for (const link of changes.links ?? []) user.links.set(toLinkKey(link), link);
  for (const id of changes.dropUnits ?? []) dropUnit(user, id);
  if (changes.erase) applyErasure(user, changes.erase);
  for (const unit of changes.units ?? []) putUnit(user, unit);
  putMarks(user, changes);
  user.log.push(createLogEntry(revision, changes));
}

/** Content that the user has already stays as it is. */
function addAttachments(user: MemoryUser, { attachments = [] }: ChangeSet): void {
  for (const attachment of attachments) {
    if (!user.attachments.has(attachment.digest)) user.attachments.set(attachment.digest, attachment);
  }
}

function putUnit(user: MemoryUser, unit: SearchUnit): void {
  user.units.set(unit.id, { value: unit, revision: user.revision });
  user.gone.units.delete(unit.id);
}

function putMarks(user: MemoryUser, changes: ChangeSet): void {
  for (const tombstone of changes.tombstones ?? []) user.tombstones.set(tombstone.hash, tombstone);
  for (const hash of changes.liftTombstones ?? []) user.tombstones.delete(hash);
  const { receipt } = changes;
  if (receipt) user.receipts.set(receipt.key, { ...receipt, revision: user.revision });
}

function changeDigest(user: MemoryUser, change: NonNullable<ChangeSet["digests"]>[number]): void {
  const stored = user.messages.get(change.id);
  if (!stored) return;
  const { undone: before, heard: heardBefore, ...message } = stored.value;
  const undone = (change.undone ?? before) ? { undone: true } : {};
  const isHeard = change.digest === "pending" && (change.heard ?? heardBefore);
  const heard = isHeard ? { heard: true } : {};
  user.messages.set(change.id, {
    value: { ...message, digest: change.digest, ...heard, ...undone },
    revision: user.revision,
  });
}

function addVersion(user: MemoryUser, memory: Memory): void {
  const value = { ...memory, revision: user.revision };
  user.heads.set(memory.id, { value, revision: user.revision });
  user.versions.push(value);
  user.gone.memories.delete(memory.id);
}

function dropUnit(user: MemoryUser, id: string): void {
  if (user.units.delete(id)) user.gone.units.set(id, user.revision);
}

function applyErasure(user: MemoryUser, erasure: NonNullable<ChangeSet["erase"]>): void {
  for (const redaction of erasure.messages) redactMessage(user, redaction);
  for (const digest of erasure.attachments ?? []) user.attachments.delete(digest);
  for (const id of erasure.memories) eraseMemory(user, id);
  for (const version of erasure.rewrites) {
    const index = user.versions.findIndex((one) => one.id === version.id && one.version === version.version);
    if (index !== -1) user.versions[index] = version;
    if (user.heads.get(version.id)?.value.version === version.version) {
      user.heads.set(version.id, { value: version, revision: user.revision });
    }
  }
  user.erasures.push(erasure.receipt);
  if (erasure.trace) user.traces.set(erasure.receipt.id, erasure.trace);
  delete user.searchIndex;
}

function redactMessage(user: MemoryUser, redaction: MessageRedaction): void {
  const stored = user.messages.get(redaction.id);
  if (!stored) return;
  user.messages.set(redaction.id, {
    value: applyRedaction(stored.value, redaction),
    revision: user.revision,
  });
}

function eraseMemory(user: MemoryUser, id: string): void {
  if (!user.heads.delete(id)) return;
  user.uses.delete(id);
  user.gone.memories.set(id, user.revision);
  user.versions.splice(0, user.versions.length, ...user.versions.filter((version) => version.id !== id));
  dropUnit(user, id);
  for (const [key, { from, to }] of user.links) if (from === id || to === id) user.links.delete(key);
}

/** The choices of a store, by project and user; that of a project has an empty user. */
export type MemoryEmbedderChoices = Map<string, EmbedderChoice>;

/** The key of a choice. Users have longer names than a project's own choice. */
export function toChoiceKey({ project, user = "" }: Omit<EmbedderChoice, "embedder">): string {
  return toScopeKey({ project, user });
}
