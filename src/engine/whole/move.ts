import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { Record } from "../../ports/record.ts";
import { type Filling, WHOLE_PARTS, type Whole, type WholePart } from "../../ports/whole.ts";
import { copyBlocks } from "./blocks.ts";
import { differences, digestWhole, type WholeDigest } from "./digest.ts";
import { isKept } from "./kept.ts";

export interface MoveOptions extends CallOptions {
  /** How many rows are read and written at once (1,000). */
  readonly limit?: number;
  /** Of all rows that are read: once to be copied, and once more on each side to be checked. */
  readonly onProgress?: (done: number, of: number, step: "copying" | "checking") => void;
  /** What belongs beside the record is to be there before it opens: called once both are known to hold the same. */
  readonly beforeEnd?: () => Promise<void>;
}

export interface Moved {
  /** SHA-256 of what both records hold, hex. */
  readonly digest: string;
  /** How many rows of each part. */
  readonly rows: { readonly [Part in WholePart]?: number };
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
export async function moveWhole(from: Record, to: Record, options: MoveOptions = {}): Promise<Moved> {
  const [source, target] = [wholeOf(from), wholeOf(to)];
  const identity = await from.identity();
  await refuseUnfinished(source);
  const held = await target.filling();
  if (held && held.from !== identity) throw ofAnother();
  const counts = await source.counts();
  const of = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const missing = source.parts.find((part) => counts[part] > 0 && !target.parts.includes(part));
  if (missing) throw cannotKeep(to, missing);
  const start: Filling = { from: identity, part: "users", done: 0, of };
  if (!held) await target.fill(start);
  const sides: Sides = { from: { ...from, whole: source }, to, source, target };
  const resumed = held ? await moved(sides, held, options) : undefined;
  // What was written to the source between two runs is not in what the first one copied: then it is copied anew.
  if (resumed) return resumed;
  if (held) await target.fill(start);
  const whole = await moved(sides, start, options);
  if (!whole) throw changed();
  return whole;
}

interface Sides {
  readonly from: Record & { readonly whole: Whole };
  readonly to: Record;
  readonly source: Whole;
  readonly target: Whole;
}

/** The rest of the way; nothing where the two differ at its end. */
async function moved(
  { from, to, source, target }: Sides,
  filling: Filling,
  options: MoveOptions,
): Promise<Moved | undefined> {
  await copy(source, target, filling, options);
  const [one, other] = await bothDigests(source, target, filling.of, options);
  if (differences(one, other).length > 0) return undefined;
  const { limit = ROWS, signal } = options;
  await copyBlocks(from, to, { limit, ...(signal ? { signal } : {}) });
  await options.beforeEnd?.();
  await target.filled();
  const rows = Object.entries(one.parts).map(([part, { rows: count }]) => [part, count]);
  return { digest: one.digest, rows: Object.fromEntries(rows), resumedAt: filling.done };
}

async function copy(source: Whole, target: Whole, filling: Filling, options: MoveOptions): Promise<void> {
  const { limit = ROWS, signal, onProgress } = options;
  const { from, of } = filling;
  let { done } = filling;
  let after = filling.after;
  for (const part of partsFrom(source, filling)) {
    do {
      signal?.throwIfAborted();
      const page = await source.page(part, { limit, ...(after === undefined ? {} : { after }) });
      const rows = page.rows.filter((row) => isKept(part, row));
      if (rows.length > 0) await target.put(part, rows);
      done += page.rows.length;
      after = page.cursor;
      // After the rows: what was written and not noted is written again, and stays as it is.
      const place = after === undefined ? { part: partAfter(part) } : { part, after };
      await target.noteFilling({ from, ...place, done, of });
      onProgress?.(done, 3 * of, "copying");
    } while (after !== undefined);
  }
}

function partsFrom(source: Whole, { part: next }: Filling): WholePart[] {
  const start = next === "checking" ? WHOLE_PARTS.length : WHOLE_PARTS.indexOf(next);
  return WHOLE_PARTS.slice(start).filter((part) => source.parts.includes(part));
}

function partAfter(part: WholePart): Filling["part"] {
  return WHOLE_PARTS[WHOLE_PARTS.indexOf(part) + 1] ?? "checking";
}

/** One after the other: on one disk two readers at once gain nothing. */
async function bothDigests(
  source: Whole,
  target: Whole,
  of: number,
  { limit = ROWS, signal, onProgress }: MoveOptions,
): Promise<[WholeDigest, WholeDigest]> {
  let done = of;
  const reading = {
    limit,
    ...(signal ? { signal } : {}),
    onRows: (rows: number) => {
      done += rows;
      onProgress?.(done, 3 * of, "checking");
    },
  };
  return [await digestWhole(source, reading), await digestWhole(target, reading)];
}

function wholeOf(record: Record): Whole {
  if (record.whole) return record.whole;
  throw new MemoryError("unsupported", `move: the record "${record.name}" cannot be read or written whole.`);
}

async function refuseUnfinished(source: Whole): Promise<void> {
  if (!(await source.filling())) return;
  throw new MemoryError(
    "conflict",
    "move: the database to move is itself the target of a move that has not ended.",
  );
}

function ofAnother(): MemoryError {
  return new MemoryError(
    "conflict",
    "move: another database is being moved into that one, and has not ended. End that move, or name an empty database.",
  );
}

function cannotKeep(to: Record, part: WholePart): MemoryError {
  return new MemoryError("unsupported", `move: the record "${to.name}" does not keep ${part}.`);
}

function changed(): MemoryError {
  return new MemoryError(
    "conflict",
    "move: the two databases differ, so somebody wrote to one of them meanwhile. Stop what uses them, and run it again.",
  );
}
