/**
 * Columns of zeros to work in. The same memory serves again at the next recall under the same name: fresh memory costs
 * more than the work that is done in it.
 */
export interface Scratch {
  column(name: string, length: number): Float32Array;
  /** The same with whatever was in it, for one who writes every place. */
  raw(name: string, length: number): Float32Array;
}

interface PooledScratch extends Scratch {
  readonly columns: Map<string, Float32Array>;
}

/** Those that no recall works in now. Two recalls that wait for something at once have one each. */
const freeScratches: PooledScratch[] = [];
const MAX_FREE = 4;
/** Floats; what a very large memory needed is not held on to. */
const MAX_POOLED_LENGTH = 4_000_000;

/** Lends a scratch for the time of some work. */
export async function withScratch<Result>(work: (scratch: Scratch) => Promise<Result>): Promise<Result> {
  const scratch = freeScratches.pop() ?? createScratch();
  try {
    return await work(scratch);
  } finally {
    let floats = 0;
    for (const { length } of scratch.columns.values()) floats += length;
    if (freeScratches.length < MAX_FREE && floats <= MAX_POOLED_LENGTH) freeScratches.push(scratch);
  }
}

function createScratch(): PooledScratch {
  const columns = new Map<string, Float32Array>();
  const raw = (name: string, length: number): Float32Array => {
    let column = columns.get(name);
    if (!column || column.length < length) {
      column = new Float32Array(Math.ceil(length * 1.5));
      columns.set(name, column);
    }
    return column.subarray(0, length);
  };
  return { columns, raw, column: (name, length) => raw(name, length).fill(0) };
}
