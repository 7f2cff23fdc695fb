import { createHash } from "node:crypto";
import type { Scope } from "../../domain/scope.ts";
import { toCanonicalJson } from "../../domain/text/canonical-json.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import {
  type CopyProgress,
  DUMP_PARTS,
  type DumpPart,
  type DumpRow,
  ORDERED_DUMP_PARTS,
  type StoreDump,
} from "../../ports/stores/store-dump.ts";

interface CopyStoreOptions extends CallOptions {
  /** Rows read and written at once (1,000). */
  readonly limit?: number;
  /** Progress over all rows read: once to copy them, and once more on each side to verify them. */
  readonly onProgress?: (done: number, of: number, step: "copying" | "checking") => void;
  /**
   * Called once both stores are known to be equal, before the target opens, to prepare data outside the
   * store.
   */
  readonly beforeEnd?: () => Promise<void>;
}

interface CopyStoreResult {
  /** SHA-256 of the content of both stores, hex. */
  readonly digest: string;
  /** Number of rows in each part. */
  readonly rows: { readonly [Part in DumpPart]?: number };
  /** Rows that an earlier run had written and this one resumed after; 0 if it started over. */
  readonly resumedAt: number;
}

const ROWS = 1000;

/** What a copy needs of a store. */
type CopyableStore = Pick<MemoryStore, "name" | "identity" | "searchIndexes" | "dump">;

/**
 * Copies everything from one store into another, empty one, page by page, and reads both again: their digests
 * must be equal. The source stays unchanged. If interrupted, the next call resumes; until it has ended, the
 * target does not open for anything else.
 *
 * Throws `conflict` if the target has other content, or if the two differ in the end because one was written
 * to meanwhile. Throws `unsupported` if one of them cannot be moved.
 */
export async function copyStore(
  from: CopyableStore,
  to: CopyableStore,
  options: CopyStoreOptions = {},
): Promise<CopyStoreResult> {
  const [source, target] = [requireDump(from), requireDump(to)];
  const identity = await from.identity();
  await refuseUnfinished(source);
  const progress = await target.copyProgress();
  if (progress && progress.from !== identity) throw createForeignCopyError();
  const counts = await source.counts();
  const of = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const missing = source.parts.find((part) => counts[part] > 0 && !target.parts.includes(part));
  if (missing) throw createUnsupportedError(to, missing);
  const start: CopyProgress = { from: identity, part: "users", done: 0, of };
  if (!progress) await target.beginCopy(start);
  const sides: CopySides = { from: { ...from, dump: source }, to, source, target };
  const resumed = progress ? await copyAndVerify(sides, progress, options) : undefined;
  // Rows written to the source between two runs are not in the first copy; then it starts over.
  if (resumed) return resumed;
  if (progress) await target.beginCopy(start);
  const verified = await copyAndVerify(sides, start, options);
  if (!verified) throw createChangedError();
  return verified;
}

interface CopySides {
  readonly from: CopyableStore & { readonly dump: StoreDump };
  readonly to: CopyableStore;
  readonly source: StoreDump;
  readonly target: StoreDump;
}

/** Copies the rest; undefined if the two differ at its end. */
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
      // After the rows: rows written without this note are written again, with the same result.
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

/** One after the other: two readers at once gain nothing on one disk. */
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

function requireDump(store: CopyableStore): StoreDump {
  if (store.dump) return store.dump;
  throw new MemoryError("unsupported", `move: the database "${store.name}" does not support copying.`);
}

async function refuseUnfinished(source: StoreDump): Promise<void> {
  if (!(await source.copyProgress())) return;
  throw new MemoryError("conflict", "move: the source is itself the target of an unfinished move.");
}

function createForeignCopyError(): MemoryError {
  return new MemoryError(
    "conflict",
    "move: the target has an unfinished move from another database. Finish that move, or name an empty database.",
  );
}

function createUnsupportedError(to: CopyableStore, part: DumpPart): MemoryError {
  return new MemoryError("unsupported", `move: the database "${to.name}" cannot store ${part}.`);
}

function createChangedError(): MemoryError {
  return new MemoryError(
    "conflict",
    "move: the two databases differ, because one was written to meanwhile. Stop the programs that use them, and run it again.",
  );
}

/** Digest of a store: equal for two stores with the same content, whatever their adapters. */
interface StoreDigest {
  /** SHA-256 over the digests of the parts, hex. */
  readonly digest: string;
  readonly parts: { readonly [Part in DumpPart]?: PartDigest };
}

interface PartDigest {
  readonly rows: number;
  /**
   * The sum of the rows' SHA-256, modulo 2^256, hex.
   */
  readonly sum: string;
}

const MODULUS = 1n << 256n;

/**
 * Reads a whole store and digests it. The sum is independent of row order, because two databases order texts
 * differently (Bellare and Micciancio, "A new paradigm for collision-free hashing", 1997: AdHash). Where the
 * order matters, a row's position is digested with it. It detects faults, not forgeries.
 */
export async function digestStore(
  whole: StoreDump,
  options: {
    readonly limit: number;
    readonly signal?: AbortSignal;
    readonly onRows?: (rows: number) => void;
  },
): Promise<StoreDigest> {
  const parts: { [Part in DumpPart]?: PartDigest } = {};
  for (const part of DUMP_PARTS) {
    const digest = whole.parts.includes(part) ? await digestPart(whole, part, options) : NO_ROWS;
    parts[part] = digest;
  }
  return { digest: createHash("sha256").update(toCanonicalJson(parts)).digest("hex"), parts };
}

const NO_ROWS: PartDigest = { rows: 0, sum: "0" };

async function digestPart(
  whole: StoreDump,
  part: DumpPart,
  {
    limit,
    signal,
    onRows,
  }: {
    readonly limit: number;
    readonly signal?: AbortSignal;
    readonly onRows?: (rows: number) => void;
  },
): Promise<PartDigest> {
  const isOrdered = ORDERED_DUMP_PARTS.has(part);
  let [rows, sum] = [0, 0n];
  let after: string | undefined;
  do {
    signal?.throwIfAborted();
    const page = await whole.page(part, { limit, ...(after === undefined ? {} : { after }) });
    for (const row of page.rows) {
      if (!isTransferred(part, row)) continue;
      sum = (sum + BigInt(`0x${digestRow(row, isOrdered ? rows : undefined)}`)) % MODULUS;
      rows += 1;
    }
    onRows?.(page.rows.length);
    after = page.cursor;
  } while (after !== undefined);
  return { rows, sum: sum.toString(16) };
}

/** Bytes of vectors and attachments unchanged; everything else as JSON. */
function digestRow(row: DumpRow<DumpPart>, place: number | undefined): string {
  const hash = createHash("sha256").update(`${place ?? ""}:`);
  if ("attachment" in row) {
    const { bytes, ...attachment } = row.attachment;
    return hash
      .update(toCanonicalJson({ ...row, attachment }))
      .update(bytes)
      .digest("hex");
  }
  if (!("unit" in row)) return hash.update(toCanonicalJson(row)).digest("hex");
  const { vector, ...unit } = row.unit;
  hash.update(toCanonicalJson({ ...row, unit }));
  return hash.update(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)).digest("hex");
}

/** The parts in which two stores differ. */
function findDifferences(one: StoreDigest, other: StoreDigest): DumpPart[] {
  return DUMP_PARTS.filter((part) => toCanonicalJson(one.parts[part]) !== toCanonicalJson(other.parts[part]));
}

/**
 * Whether a row is copied. The cursor of a vector index is not: the target may have another index under the
 * same name, which is fed from the beginning.
 */
function isTransferred(_part: DumpPart, row: DumpRow<DumpPart>): boolean {
  return !("visit" in row) || !row.job.startsWith("follow");
}

/**
 * Copies the saved search indexes: a cache without which each user's first search takes as long as reading
 * all data. One that cannot be saved is rebuilt on demand.
 */
async function copySearchIndexes(
  from: CopyableStore & { readonly dump: StoreDump },
  to: Pick<MemoryStore, "searchIndexes">,
  { limit, signal }: { readonly limit: number; readonly signal?: AbortSignal },
): Promise<void> {
  let after: string | undefined;
  do {
    const page = await from.dump.page("users", { limit, ...(after === undefined ? {} : { after }) });
    for (const { project, user } of page.rows) {
      signal?.throwIfAborted();
      const scope: Scope = { project, user };
      const searchIndex = await from.searchIndexes.read(scope);
      if (searchIndex) await to.searchIndexes.save(scope, searchIndex);
    }
    after = page.cursor;
  } while (after !== undefined);
}

/** Throws `unavailable` if a copy into this store has begun and not ended: its content is incomplete. */
export async function refuseUnfinishedCopy({ dump: whole }: Pick<MemoryStore, "dump">): Promise<void> {
  const filling = await whole?.copyProgress();
  if (!filling) return;
  const share = filling.of === 0 ? 100 : Math.min(100, Math.floor((100 * filling.done) / filling.of));
  throw new MemoryError(
    "unavailable",
    `a move into this database is unfinished (${share} % done). Run the same \`keepsake move\` again to resume it.`,
  );
}
