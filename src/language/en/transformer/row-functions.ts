/** Gain and shift of a layer normalisation. */
export interface Norm {
  readonly gain: Float32Array;
  readonly shift: Float32Array;
}

/** Layer normalisation (Ba, Kiros and Hinton 2016) of the first `count` rows, in place. */
export function normaliseRows(
  { gain, shift }: Norm,
  rows: Float32Array,
  count: number,
  epsilon: number,
): void {
  const width = gain.length;
  for (let at = 0; at < count * width; at += width) {
    let [sum, squares] = [0, 0];
    for (let i = 0; i < width; i += 1) sum += rows[at + i] as number;
    const mean = sum / width;
    for (let i = 0; i < width; i += 1) squares += ((rows[at + i] as number) - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / width + epsilon);
    for (let i = 0; i < width; i += 1)
      rows[at + i] = ((rows[at + i] as number) - mean) * scale * (gain[i] as number) + (shift[i] as number);
  }
}

/** Adds values to rows, in place. */
export function addRows(rows: Float32Array, values: Float32Array): void {
  for (let i = 0; i < rows.length; i += 1) rows[i] = (rows[i] as number) + (values[i] as number);
}

/** Beyond this, GELU is 0 or the value itself. */
const GELU_REACH = 6;
const GELU_STEPS = 512;
let geluTable: Float32Array | undefined;

/** GELU (Hendrycks and Gimpel 2016) of each value, in place, from a table between whose entries lines are drawn: exact to 1e-6. */
export function gelu(values: Float32Array): void {
  geluTable ??= createGeluTable();
  const table = geluTable;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    if (value >= GELU_REACH) continue;
    if (value <= -GELU_REACH) {
      values[i] = 0;
      continue;
    }
    const at = (value + GELU_REACH) * GELU_STEPS;
    // It is positive: this cuts its fraction off in one instruction.
    const below = at | 0;
    const from = table[below] as number;
    values[i] = from + (at - below) * ((table[below + 1] as number) - from);
  }
}

function createGeluTable(): Float32Array {
  return Float32Array.from({ length: 2 * GELU_REACH * GELU_STEPS + 2 }, (_, i) => {
    const x = i / GELU_STEPS - GELU_REACH;
    return 0.5 * x * (1 + errorFunction(x / Math.SQRT2));
  });
}

/** The error function by its series: exact to the last bits of a double up to 5. */
function errorFunction(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < 200; n += 1) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
