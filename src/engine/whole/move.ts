import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { MemoryStore } from "../../ports/record.ts";
import { type CopyProgress, DUMP_PARTS, type DumpPart, type StoreDump } from "../../ports/whole.ts";
import { copySearchIndexes } from "./blocks.ts";
import { digestStore, findDifferences, type StoreDigest } from "./digest.ts";
import { isTransferred } from "./kept.ts";

export interface CopyStoreOptions extends CallOptions {
  /** How many rows are read and written at once (1,000). */
  readonly limit?: number;
  /** Of all rows that are read: once to be copied, and once more on each side to be checked. */
  readonly onProgress?: (done: number, of: number, step: "copying" | "checking") => void;
  /** What belongs beside the record is to be there before it opens: called once both are known to hold the same. */
  readonly beforeEnd?: () => Promise<void>;
}

export interface CopyStoreResult {
  /** SHA-256 of what both records hold, hex. */
  readonly digest: string;
  /** How many rows of each part. */
  readonly rows: { readonly [Part in DumpPart]?: number };
  /** Rows that an earlier run had written, from which this one went on; 0 where it began. */
  readonly resumedAt: number;
}

const ROWS = 1000;

/**
 * Copies everything in one record into another, empty one, page by page, and reads both again: they must hold the same, by
 * digest. The record that is copied stays as it is. Broken off at any point, it goes on where it was when it is called again;
 * until it has ended, the other record opens for nothing else.
 *
 * `conflict` where the other record holds something of its own, or where the two differ in the end, because somebody wrote to
 * one of them meanwhile; `unsupported` where one of them cannot be moved.
 */
export async function copyStore(
  from: MemoryStore,
  to: MemoryStore,
  options: CopyStoreOptions = {},
): Promise<CopyStoreResult> {
  const [source, target] = [requireDump(from), requireDump(to)];
  const identity = await from.identity();
  await refuseUnfinished(source);
  const held = await target.copyProgress();
  if (held && held.from !== identity) throw createForeignCopyError();
  const counts = await source.counts();
  const of = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const missing = source.parts.find((part) => counts[part] > 0 && !target.parts.includes(part));
  if (missing) throw createUnsupportedError(to, missing);
  const start: CopyProgress = { from: identity, part: "users", done: 0, of };
  if (!held) await target.beginCopy(start);
  const sides: CopySides = { from: { ...from, dump: source }, to, source, target };
  const resumed = held ? await copyAndVerify(sides, held, options) : undefined;
  // What was written to the source between two runs is not in what the first one copied: then it is copied anew.
  if (resumed) return resumed;
  if (held) await target.beginCopy(start);
  const whole = await copyAndVerify(sides, start, options);
  if (!whole) throw createChangedError();
  return whole;
}

interface CopySides {
  readonly from: MemoryStore & { readonly dump: StoreDump };
  readonly to: MemoryStore;
  readonly source: StoreDump;
  readonly target: StoreDump;
}

/** The rest of the way; nothing where the two differ at its end. */
async function copyAndVerify(
  { from, to, source, target }: CopySides,
  filling: CopyProgress,
  options: CopyStoreOptions,
): Promise<CopyStoreResult | undefined> {
  await copyRows(source, target, filling, options);
  const [one, other] = await digestBoth(source, target, filling.of, options);
  if (findDifferences(one, other).length > 0) return undefined;
  const { limit = ROWS, signal } = options;
  await copySearchIndexes(from, to, { limit, ...(signal ? { signal } : {}) });
  await options.beforeEnd?.();
  await target.finishCopy();
  const rows = Object.entries(one.parts).map(([part, { rows: count }]) => [part, count]);
  return { digest: one.digest, rows: Object.fromEntries(rows), resumedAt: filling.done };
}

async function copyRows(
  source: StoreDump,
  target: StoreDump,
  filling: CopyProgress,
  options: CopyStoreOptions,
): Promise<void> {
  const { limit = ROWS, signal, onProgress } = options;
  const { from, of } = filling;
  let { done } = filling;
  let after = filling.after;
  for (const part of listRemainingParts(source, filling)) {
    do {
      signal?.throwIfAborted();
      const page = await source.page(part, { limit, ...(after === undefined ? {} : { after }) });
      const rows = page.rows.filter((row) => isTransferred(part, row));
      if (rows.length > 0) await target.putRows(part, rows);
      done += page.rows.length;
      after = page.cursor;
      // After the rows: what was written and not noted is written again, and stays as it is.
      const place = after === undefined ? { part: getNextPart(part) } : { part, after };
      await target.saveCopyProgress({ from, ...place, done, of });
      onProgress?.(done, 3 * of, "copying");
    } while (after !== undefined);
  }
}

function listRemainingParts(source: StoreDump, { part: next }: CopyProgress): DumpPart[] {
  const start = next === "checking" ? DUMP_PARTS.length : DUMP_PARTS.indexOf(next);
  return DUMP_PARTS.slice(start).filter((part) => source.parts.includes(part));
}

function getNextPart(part: DumpPart): CopyProgress["part"] {
  return DUMP_PARTS[DUMP_PARTS.indexOf(part) + 1] ?? "checking";
}

/** One after the other: on one disk two readers at once gain nothing. */
async function digestBoth(
  source: StoreDump,
  target: StoreDump,
  of: number,
  { limit = ROWS, signal, onProgress }: CopyStoreOptions,
): Promise<[StoreDigest, StoreDigest]> {
  let done = of;
  const reading = {
    limit,
    ...(signal ? { signal } : {}),
    onRows: (rows: number) => {
      done += rows;
      onProgress?.(done, 3 * of, "checking");
    },
  };
  return [await digestStore(source, reading), await digestStore(target, reading)];
}

function requireDump(record: MemoryStore): StoreDump {
  if (record.dump) return record.dump;
  throw new MemoryError("unsupported", `move: the record "${record.name}" cannot be read or written whole.`);
}

async function refuseUnfinished(source: StoreDump): Promise<void> {
  if (!(await source.copyProgress())) return;
  throw new MemoryError(
    "conflict",
    "move: the database to move is itself the target of a move that has not ended.",
  );
}

function createForeignCopyError(): MemoryError {
  return new MemoryError(
    "conflict",
    "move: another database is being moved into that one, and has not ended. End that move, or name an empty database.",
  );
}

function createUnsupportedError(to: MemoryStore, part: DumpPart): MemoryError {
  return new MemoryError("unsupported", `move: the record "${to.name}" does not keep ${part}.`);
}

function createChangedError(): MemoryError {
  return new MemoryError(
    "conflict",
    "move: the two databases differ, so somebody wrote to one of them meanwhile. Stop what uses them, and run it again.",
  );
}
