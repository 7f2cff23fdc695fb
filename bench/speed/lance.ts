import type { Ask } from "./peers.ts";
import type { Vectors } from "./vectors.ts";

/** As much of LanceDB as is used here. */
interface Lance {
  connect(path: string): Promise<{ createTable(name: string, rows: readonly Row[]): Promise<Table> }>;
}
interface Table {
  add(rows: readonly Row[]): Promise<unknown>;
  vectorSearch(query: Float32Array): {
    select(columns: readonly string[]): { limit(count: number): { toArray(): Promise<unknown[]> } };
  };
}
interface Row {
  readonly row: number;
  readonly vector: readonly number[];
}

const BATCH = 10_000;

/** LanceDB where somebody has installed it: at 150 MB it is no dependency, not even for this. */
export async function lanceDb(path: string, vectors: Vectors): Promise<Ask | undefined> {
  // A name in a variable, so that the compiler does not ask for the package.
  const name = "@lancedb/lancedb";
  let lance: Lance;
  try {
    lance = (await import(name)) as Lance;
  } catch {
    console.error("LanceDB is not installed; it is left out.");
    return undefined;
  }
  const table = await (await lance.connect(path)).createTable("vectors", rowsOf(vectors, 0));
  for (let from = BATCH; from < vectors.count; from += BATCH) await table.add(rowsOf(vectors, from));
  return (query) => table.vectorSearch(query).select(["row", "_distance"]).limit(10).toArray();
}

function rowsOf({ dimensions, count, all }: Vectors, from: number): Row[] {
  return Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => ({
    row: from + i,
    vector: Array.from(all.subarray((from + i) * dimensions, (from + i + 1) * dimensions)),
  }));
}
