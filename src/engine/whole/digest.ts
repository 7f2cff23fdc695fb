import { createHash } from "node:crypto";
import { canonical } from "../../domain/canonical.ts";
import { ORDERED_PARTS, WHOLE_PARTS, type Whole, type WholePart, type WholeRow } from "../../ports/whole.ts";
import { isKept } from "./kept.ts";

/** What a record holds, in short: equal for two records that hold the same, whatever they are kept in. */
export interface WholeDigest {
  /** SHA-256 over the digests of the parts, hex. */
  readonly digest: string;
  readonly parts: { readonly [Part in WholePart]?: PartDigest };
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
export async function digestWhole(
  whole: Whole,
  options: {
    readonly limit: number;
    readonly signal?: AbortSignal;
    readonly onRows?: (rows: number) => void;
  },
): Promise<WholeDigest> {
  const parts: { [Part in WholePart]?: PartDigest } = {};
  for (const part of WHOLE_PARTS) {
    const digest = whole.parts.includes(part) ? await digestPart(whole, part, options) : NO_ROWS;
    parts[part] = digest;
  }
  return { digest: createHash("sha256").update(canonical(parts)).digest("hex"), parts };
}

const NO_ROWS: PartDigest = { rows: 0, sum: "0" };

async function digestPart(
  whole: Whole,
  part: WholePart,
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
  const isOrdered = ORDERED_PARTS.has(part);
  let [rows, sum] = [0, 0n];
  let after: string | undefined;
  do {
    signal?.throwIfAborted();
    const page = await whole.page(part, { limit, ...(after === undefined ? {} : { after }) });
    for (const row of page.rows) {
      if (!isKept(part, row)) continue;
      sum = (sum + BigInt(`0x${digestRow(row, isOrdered ? rows : undefined)}`)) % MODULUS;
      rows += 1;
    }
    onRows?.(page.rows.length);
    after = page.cursor;
  } while (after !== undefined);
  return { rows, sum: sum.toString(16) };
}

/** Bytes of vectors as they are; everything else as JSON. */
function digestRow(row: WholeRow<WholePart>, place: number | undefined): string {
  const hash = createHash("sha256").update(`${place ?? ""}:`);
  if (!("unit" in row)) return hash.update(canonical(row)).digest("hex");
  const { vector, ...unit } = row.unit;
  hash.update(canonical({ ...row, unit }));
  return hash.update(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)).digest("hex");
}

/** The parts in which two records differ. */
export function differences(one: WholeDigest, other: WholeDigest): WholePart[] {
  return WHOLE_PARTS.filter((part) => canonical(one.parts[part]) !== canonical(other.parts[part]));
}
