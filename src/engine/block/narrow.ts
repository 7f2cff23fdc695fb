import type { Numbers } from "./columns.ts";

type Bits = Int32Array<ArrayBuffer>;
type Doubles = Float64Array<ArrayBuffer>;

/**
 * A column as the steps from each number to the next, in 8 or 16 bits, where most of them are small; a step that is not stands
 * among the rest, as the number itself. Most columns of a block are numbers of things in the order in which they came. Numbers
 * of 32 bits are taken as integers, whatever they are.
 */
export interface Narrow {
  readonly steps: Int8Array<ArrayBuffer> | Int16Array<ArrayBuffer>;
  readonly rest: Bits | Doubles;
}

/** Of the bytes of a column, what its steps may take: below that they are not worth it. */
const WORTH = 0.7;

/** Nothing where it is not worth it. */
export function narrowed(column: Numbers): Narrow | undefined {
  if (column.BYTES_PER_ELEMENT < 4) return undefined;
  const numbers = plain(column);
  const sizes = [Int8Array, Int16Array].map((Steps) => ({
    Steps,
    bytes: bytesOf(numbers, -markOf(Steps.BYTES_PER_ELEMENT) - 1, Steps.BYTES_PER_ELEMENT),
  }));
  const most = column.byteLength * WORTH;
  const [best] = sizes.filter(({ bytes }) => bytes < most).sort((one, other) => one.bytes - other.bytes);
  return best && stepsOf(numbers, new best.Steps(column.length));
}

/** The column of steps, written into one of the same kind and length. */
export function widen({ steps, rest }: Narrow, column: Numbers): void {
  const numbers = plain(column);
  const mark = markOf(steps.BYTES_PER_ELEMENT);
  // Two loops that are the same, and steps of one kind: a loop that meets arrays of several kinds takes twice as long.
  const [same, count] = [sixteenBits(steps), steps.length];
  if (numbers instanceof Int32Array) widenBits({ steps: same, mark, count }, rest as Bits, numbers);
  else widenDoubles({ steps: same, mark, count }, rest as Doubles, numbers);
}

interface Steps {
  readonly steps: Int16Array<ArrayBuffer>;
  readonly mark: number;
  readonly count: number;
}

function widenBits({ steps, mark, count }: Steps, rest: Bits, column: Bits): void {
  let value = 0;
  let used = 0;
  for (let i = 0; i < count; i += 1) {
    const step = steps[i] as number;
    if (step === mark) {
      value = rest[used] as number;
      used += 1;
    } else value = (value + step) | 0;
    column[i] = value;
  }
}

function widenDoubles({ steps, mark, count }: Steps, rest: Doubles, column: Doubles): void {
  let value = 0;
  let used = 0;
  for (let i = 0; i < count; i += 1) {
    const step = steps[i] as number;
    if (step === mark) {
      value = rest[used] as number;
      used += 1;
    } else value += step;
    column[i] = value;
  }
}

/** Used again and again: whoever meets a user for the first time has many columns to widen. */
let wider = new Int16Array(0);

/** The steps in 16 bits, and perhaps more after them; valid until the next call. */
function sixteenBits(steps: Narrow["steps"]): Int16Array<ArrayBuffer> {
  if (steps instanceof Int16Array) return steps;
  if (wider.length < steps.length) wider = new Int16Array(2 * steps.length);
  wider.set(steps);
  return wider;
}

function plain(column: Numbers): Bits | Doubles {
  if (column instanceof Float64Array) return column;
  return new Int32Array(column.buffer, column.byteOffset, column.length);
}

/** Stands for a number among the rest: the smallest that the steps can hold. */
function markOf(bytes: number): number {
  return -(2 ** (bytes * 8 - 1));
}

function bytesOf(column: Bits | Doubles, most: number, bytesOfStep: number): number {
  let bytes = column.length * bytesOfStep;
  let value = 0;
  for (let i = 0; i < column.length; i += 1) {
    const next = column[i] as number;
    if (!isStep(value, next, most)) bytes += column.BYTES_PER_ELEMENT;
    value = next;
  }
  return bytes;
}

function stepsOf(column: Bits | Doubles, steps: Narrow["steps"]): Narrow {
  const mark = markOf(steps.BYTES_PER_ELEMENT);
  const rest: number[] = [];
  let value = 0;
  for (let i = 0; i < column.length; i += 1) {
    const next = column[i] as number;
    // No number less itself is none, and then a step of 0.
    if (isStep(value, next, -mark - 1)) steps[i] = next - value || 0;
    else {
      steps[i] = mark;
      rest.push(next);
    }
    value = next;
  }
  return { steps, rest: column instanceof Int32Array ? Int32Array.from(rest) : Float64Array.from(rest) };
}

/** Whether a number is found again, bit by bit, from the one before it. */
function isStep(value: number, next: number, most: number): boolean {
  const step = next - value || 0;
  return Number.isInteger(step) && Math.abs(step) <= most && Object.is(value + step, next);
}
