import type { ChangeSet, LogEntry } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { BackupNote } from "../../domain/operations/backup.ts";
import type { ErasureReceipt, Trace } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { toCanonicalJson } from "../../domain/text/canonical-json.ts";
import type { Delta, MemoryStore } from "../../ports/memory-store.ts";
import {
  DUMP_PARTS,
  type DumpPart,
  type DumpRow,
  ORDERED_DUMP_PARTS,
  type StoreDump,
} from "../../ports/stores/store-dump.ts";
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

/** One rule of the contract in `ports/memory-store.ts`, tested on a new, empty store. */
type MemoryStoreCase = (store: MemoryStore) => Promise<void>;
export type MemoryStoreCases = { readonly [title: string]: MemoryStoreCase };

export const ANN: Scope = { project: "default", user: "ann" };
export const BOB: Scope = { project: "default", user: "bob" };

/** The result of `since` for a scope that was never written. */
export const EMPTY_DELTA: Delta = {
  revision: 0,
  messages: [],
  memories: [],
  units: [],
  gone: { units: [], memories: [] },
  tombstones: [],
  links: [],
};

/** A change-set that affects every table, with ids that end in the mark. */
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

interface StoreContents {
  readonly revision: number;
  readonly all: Delta;
  readonly versions: readonly Memory[];
  readonly log: readonly LogEntry[];
  readonly erasures: readonly ErasureReceipt[];
  readonly traces: readonly Trace[];
  readonly backups: readonly BackupNote[];
  readonly receipts: readonly unknown[];
  /** Ids of units outside the embedding space of the tests. */
  readonly outside: readonly string[];
}

/** All data that can be read of a scope. */
export async function readContents(store: MemoryStore, scope: Scope): Promise<StoreContents> {
  return {
    revision: await store.revision(scope),
    all: await store.since(scope, 0),
    versions: await store.versions(scope),
    log: await store.log(scope, { limit: 100 }),
    erasures: await store.erasures.list(scope),
    traces: await store.erasures.traces(scope),
    backups: await store.backups.list(),
    receipts: await Promise.all(SAMPLE_IDS.map((key) => store.receipt(scope, key))),
    outside: (await store.staleEmbeddings.units(scope, "test/3", 1000)).units.map(({ id }) => id).sort(),
  };
}

type RowsByPart = { readonly [part: string]: readonly unknown[] };

/** All rows of a store, part by part. Rows without a defined order are sorted. */
export async function readAllRows(dump: StoreDump, limit = 1000): Promise<RowsByPart> {
  const all: { [part: string]: readonly unknown[] } = {};
  for (const part of DUMP_PARTS) {
    const rows: unknown[] = [];
    for await (const page of iteratePages(dump, part, limit)) rows.push(...page.map(toPlainRow));
    all[part] = ORDERED_DUMP_PARTS.has(part) ? rows : rows.map(toCanonicalJson).toSorted();
  }
  return all;
}

/** Copies everything from one store into another, in pages of `limit` rows. */
export async function copyAll(from: StoreDump, to: StoreDump, limit = 1000): Promise<void> {
  await to.beginCopy({ from: "there", part: "users", done: 0, of: 0 });
  for (const part of DUMP_PARTS) {
    for await (const page of iteratePages(from, part, limit)) await to.putRows(part, page);
  }
  await to.finishCopy();
}

/** A capability of the store. Throws if the store lacks it. */
export function requireCapability<
  Name extends "dump" | "maintenance" | "usage" | "sharing" | "attachments" | "webhooks" | "embedders",
>(store: MemoryStore, name: Name): NonNullable<MemoryStore[Name]> {
  const capability = store[name];
  if (!capability) throw new Error(`the store "${store.name}" lacks the capability "${name}"`);
  return capability;
}

/** The store's full dump. Throws if it has none. */
export function requireStoreDump(store: MemoryStore): StoreDump {
  return requireCapability(store, "dump");
}

async function* iteratePages<Part extends DumpPart>(
  dump: StoreDump,
  part: Part,
  limit: number,
): AsyncIterable<readonly DumpRow<Part>[]> {
  if (!dump.parts.includes(part)) return;
  let after: string | undefined;
  do {
    const page = await dump.page(part, { limit, ...(after === undefined ? {} : { after }) });
    if (page.rows.length > 0) yield page.rows;
    after = page.cursor;
  } while (after !== undefined);
}

/** As JSON, with the numbers of a vector. */
function toPlainRow(row: object): unknown {
  if (!("unit" in row)) return JSON.parse(JSON.stringify(row));
  const { unit, ...rest } = row as DumpRow<"units">;
  return { ...rest, unit: { ...unit, vector: [...unit.vector] } };
}
