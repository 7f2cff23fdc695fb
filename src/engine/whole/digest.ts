import { createHash } from "node:crypto";
import { toCanonicalJson } from "../../domain/canonical.ts";
import {
  DUMP_PARTS,
  type DumpPart,
  type DumpRow,
  ORDERED_DUMP_PARTS,
  type StoreDump,
} from "../../ports/whole.ts";
import { isTransferred } from "./kept.ts";

/** What a record holds, in short: equal for two records that hold the same, whatever they are kept in. */
export interface StoreDigest {
  /** SHA-256 over the digests of the parts, hex. */
  readonly digest: string;
  readonly parts: { readonly [Part in DumpPart]?: PartDigest };
}

export interface PartDigest {
  readonly rows: number;
  /** The sum of the rows' SHA-256, modulo 2^256, hex. */
  readonly sum: string;
}

const MODULUS = 1n << 256n;

/**
 * Reads a record as a whole and digests it. A sum tells two sets apart whatever order they are read in, for two databases
 * put texts in different order (Bellare and Micciancio, "A new paradigm for collision-free hashing", 1997: AdHash); where the
 * order of rows says something, a row's place is digested with it. It finds faults, not forgeries.
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

/** Bytes of vectors as they are; everything else as JSON. */
function digestRow(row: DumpRow<DumpPart>, place: number | undefined): string {
  const hash = createHash("sha256").update(`${place ?? ""}:`);
  if (!("unit" in row)) return hash.update(toCanonicalJson(row)).digest("hex");
  const { vector, ...unit } = row.unit;
  hash.update(toCanonicalJson({ ...row, unit }));
  return hash.update(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)).digest("hex");
}

/** The parts in which two records differ. */
export function findDifferences(one: StoreDigest, other: StoreDigest): DumpPart[] {
  return DUMP_PARTS.filter((part) => toCanonicalJson(one.parts[part]) !== toCanonicalJson(other.parts[part]));
}
