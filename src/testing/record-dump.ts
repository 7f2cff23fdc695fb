import type { BackupNote } from "../domain/backup.ts";
import type { ChangeSet, LogEntry } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { ErasureReceipt } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import type { Trace } from "../domain/trace.ts";
import type { Delta, MemoryStore } from "../ports/record.ts";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeTrace,
  makeUnit,
  SAMPLE_IDS,
} from "./change-sets.ts";

/** One sentence of the contract in `ports/record.ts`, tried on a new, empty record. */
export type MemoryStoreCase = (record: MemoryStore) => Promise<void>;
export type MemoryStoreCases = { readonly [title: string]: MemoryStoreCase };

export const ANN: Scope = { project: "default", user: "ann" };
export const BOB: Scope = { project: "default", user: "bob" };

/** What `since` gives of a scope that was never written. */
export const EMPTY_DELTA: Delta = {
  revision: 0,
  messages: [],
  memories: [],
  units: [],
  gone: { units: [], memories: [] },
  tombstones: [],
  links: [],
};

/** A change-set that touches every table, with ids that end in the mark. */
export function makeFullChangeSet(mark: string): ChangeSet {
  return makeChangeSet({
    messages: [makeMessage(`message-${mark}`)],
    memories: [makeMemory(`memory-${mark}`), makeMemory(`other-${mark}`)],
    links: [{ from: `memory-${mark}`, type: "extends", to: `other-${mark}`, strength: 0.5 }],
    units: [
      makeUnit(`memory-${mark}`, "memory", `memory-${mark}`),
      makeUnit(`other-${mark}`, "memory", `other-${mark}`),
      makeUnit(`message-${mark}#0`, "passage", `message-${mark}`),
    ],
    tombstones: [{ hash: `tombstone-${mark}`, of: "words", at: BASE_TIME }],
    receipt: { key: `key-${mark}`, body: "b", messages: [], memories: [], pending: 0 },
    erase: {
      messages: [],
      memories: [],
      rewrites: [],
      receipt: makeErasureReceipt(`erasure-${mark}`),
      trace: makeTrace(`erasure-${mark}`),
    },
  });
}

export interface StoreContents {
  readonly revision: number;
  readonly all: Delta;
  readonly versions: readonly Memory[];
  readonly log: readonly LogEntry[];
  readonly erasures: readonly ErasureReceipt[];
  readonly traces: readonly Trace[];
  readonly backups: readonly BackupNote[];
  readonly receipts: readonly unknown[];
  /** Ids of units that are not of the space of the tests. */
  readonly outside: readonly string[];
}

/** Everything that can be read of a scope. */
export async function readContents(record: MemoryStore, scope: Scope): Promise<StoreContents> {
  return {
    revision: await record.revision(scope),
    all: await record.since(scope, 0),
    versions: await record.versions(scope),
    log: await record.log(scope, { limit: 100 }),
    erasures: await record.erasures(scope),
    traces: await record.traces(scope),
    backups: await record.backups(),
    receipts: await Promise.all(SAMPLE_IDS.map((key) => record.receipt(scope, key))),
    outside: (await record.unitsWithStaleEmbeddings(scope, "test/3", 1000)).units.map(({ id }) => id).sort(),
  };
}
