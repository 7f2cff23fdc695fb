import type { BackupNote } from "../domain/backup.ts";
import type { ChangeSet, LogEntry } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { ErasureReceipt } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import type { Trace } from "../domain/trace.ts";
import type { Delta, Record } from "../ports/record.ts";
import { AT, changes, erasure, IDS, memory, message, trace, unit } from "./change-sets.ts";

/** One sentence of the contract in `ports/record.ts`, tried on a new, empty record. */
export type RecordCase = (record: Record) => Promise<void>;
export type RecordCases = { readonly [title: string]: RecordCase };

export const ANN: Scope = { project: "default", user: "ann" };
export const BOB: Scope = { project: "default", user: "bob" };

/** What `since` gives of a scope that was never written. */
export const EMPTY: Delta = {
  revision: 0,
  messages: [],
  memories: [],
  units: [],
  gone: { units: [], memories: [] },
  tombstones: [],
  links: [],
};

/** A change-set that touches every table, with ids that end in the mark. */
export function full(mark: string): ChangeSet {
  return changes({
    messages: [message(`message-${mark}`)],
    memories: [memory(`memory-${mark}`), memory(`other-${mark}`)],
    links: [{ from: `memory-${mark}`, type: "extends", to: `other-${mark}`, strength: 0.5 }],
    units: [
      unit(`memory-${mark}`, "memory", `memory-${mark}`),
      unit(`other-${mark}`, "memory", `other-${mark}`),
      unit(`message-${mark}#0`, "passage", `message-${mark}`),
    ],
    tombstones: [{ hash: `tombstone-${mark}`, of: "words", at: AT }],
    receipt: { key: `key-${mark}`, body: "b", messages: [], memories: [], pending: 0 },
    erase: {
      messages: [],
      memories: [],
      rewrites: [],
      receipt: erasure(`erasure-${mark}`),
      trace: trace(`erasure-${mark}`),
    },
  });
}

export interface Dump {
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
export async function dump(record: Record, scope: Scope): Promise<Dump> {
  return {
    revision: await record.revision(scope),
    all: await record.since(scope, 0),
    versions: await record.versions(scope),
    log: await record.log(scope, { limit: 100 }),
    erasures: await record.erasures(scope),
    traces: await record.traces(scope),
    backups: await record.backups(),
    receipts: await Promise.all(IDS.map((key) => record.receipt(scope, key))),
    outside: (await record.unitsOutside(scope, "test/3", 1000)).units.map(({ id }) => id).sort(),
  };
}
