import type { Numbers } from "./columns.ts";

/**
 * A column as the steps from each number to the next, in 8 or 16 bits, where most of them are small; a step that is not stands
 * among the rest, as the number itself. Most columns of a block are numbers of things in the order in which they came.
 */
export interface Narrow {
  readonly steps: Int8Array<ArrayBuffer> | Int16Array<ArrayBuffer>;
  readonly rest: Numbers;
}

/** Of the bytes of a column, what its steps may take: below that they are not worth it. */
const WORTH = 0.7;

/** Nothing where it is not worth it. */
export function narrowed(column: Numbers): Narrow | undefined {
  if (column.BYTES_PER_ELEMENT < 4) return undefined;
  const most = column.byteLength * WORTH;
  const sizes = [Int8Array, Int16Array].map((Steps) => ({
    Steps,
    bytes: bytesOf(column, 2 ** (Steps.BYTES_PER_ELEMENT * 8 - 1) - 1, Steps.BYTES_PER_ELEMENT),
  }));
  const [best] = sizes.filter(({ bytes }) => bytes < most).sort((one, other) => one.bytes - other.bytes);
  return best && stepsOf(column, new best.Steps(column.length));
}

/** The column of steps, into a new one of the given kind. */
export function widened<Column extends Numbers>({ steps, rest }: Narrow, column: Column): Column {
  const mark = markOf(steps.BYTES_PER_ELEMENT);
  let value = 0;
  let used = 0;
  for (let i = 0; i < steps.length; i += 1) {
    const step = steps[i] as number;
    if (step === mark) {
      value = rest[used] as number;
      used += 1;
    } else value += step;
    column[i] = value;
  }
  return column;
}

/** Stands for a number among the rest: the smallest that the steps can hold. */
function markOf(bytes: number): number {
  return -(2 ** (bytes * 8 - 1));
}

function bytesOf(column: Numbers, most: number, bytesOfStep: number): number {
  let bytes = column.length * bytesOfStep;
  let value = 0;
  for (let i = 0; i < column.length; i += 1) {
    const next = column[i] as number;
    if (!isStep(value, next, most)) bytes += column.BYTES_PER_ELEMENT;
    value = next;
  }
  return bytes;
}

function stepsOf(column: Numbers, steps: Narrow["steps"]): Narrow {
  const mark = markOf(steps.BYTES_PER_ELEMENT);
  const Kind = column.constructor as new (numbers: number[]) => Numbers;
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
  return { steps, rest: new Kind(rest) };
}

/** Whether a number is found again, bit by bit, from the one before it. */
function isStep(value: number, next: number, most: number): boolean {
  const step = next - value || 0;
  return Number.isInteger(step) && Math.abs(step) <= most && Object.is(value + step, next);
}
