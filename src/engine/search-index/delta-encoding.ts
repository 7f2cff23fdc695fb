import type { NumberArray } from "./columns.ts";

type IntColumn = Int32Array<ArrayBuffer>;
type DoubleColumn = Float64Array<ArrayBuffer>;
type SmallIntColumn = Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
type StepColumn = Int8Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

/**
 * A column as deltas between consecutive numbers, in 8, 16 or 32 bits, if most deltas are small. A larger
 * delta is marked, and its number is stored in the rest. Most columns of an index are numbers of things in
 * order of arrival. 32-bit values are treated as integers, whatever they are.
 */
export interface DeltaColumn {
  readonly steps: StepColumn;
  /** Repeat count of each delta (run-length encoding); once each if absent. */
  readonly times?: Uint16Array<ArrayBuffer> | undefined;
  readonly rest: IntColumn | DoubleColumn;
}

/** Maximum size of the deltas as a share of the column's bytes; above it they are not worthwhile. */
const MAX_SIZE_RATIO = 0.7;
const STEP_TYPES = [Int8Array, Int16Array, Int32Array] as const;
/** A delta with more repeats is written again. */
const MAX_REPEATS = 65_535;

/** Undefined if it is not worthwhile. */
export function encodeDeltas(column: NumberArray): DeltaColumn | undefined {
  if (column instanceof Int8Array) return undefined;
  const isSmall = column.BYTES_PER_ELEMENT < 4;
  const numbers = isSmall ? Int32Array.from(column) : (toPlainColumn(column) as IntColumn | DoubleColumn);
  const most = column.byteLength * MAX_SIZE_RATIO;
  const [best] = STEP_TYPES.flatMap((Kind) => listEncodings(numbers, Kind))
    .filter(({ bytes, isRepeated }) => bytes < most && (isRepeated || !isSmall))
    .sort((one, other) => one.bytes - other.bytes);
  if (!best) return undefined;
  const each = toSteps(numbers, new best.Kind(column.length));
  return best.isRepeated ? toRepeatedSteps(each, best.Kind) : each;
}

/** Decodes deltas into a column of the same kind and length. Throws if the lengths differ. */
export function decodeDeltas({ steps, times, rest }: DeltaColumn, column: NumberArray): void {
  const numbers = toPlainColumn(column);
  if (times) decodeRepeated({ steps, times, rest }, numbers);
  else if (numbers instanceof Int32Array) decodeInts(toWideSteps(steps), rest as IntColumn, numbers);
  else if (numbers instanceof Float64Array) decodeDoubles(toWideSteps(steps), rest as DoubleColumn, numbers);
  else throw new Error("run-length encoding supports 8-bit deltas only");
}

interface WidenedSteps {
  readonly steps: IntColumn;
  readonly mark: number;
  readonly count: number;
}

// Two equal loops and one kind of delta array: a loop over several kinds of array takes twice as long.
function decodeInts({ steps, mark, count }: WidenedSteps, rest: IntColumn, column: IntColumn): void {
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

function decodeDoubles({ steps, mark, count }: WidenedSteps, rest: DoubleColumn, column: DoubleColumn): void {
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

function decodeRepeated(
  { steps, times, rest }: Required<DeltaColumn> & { readonly times: Uint16Array },
  column: IntColumn | DoubleColumn | SmallIntColumn,
): void {
  const mark = escapeMarkOf(steps.BYTES_PER_ELEMENT);
  let [value, used, at] = [0, 0, 0];
  for (let i = 0; i < steps.length; i += 1) {
    const step = steps[i] as number;
    const end = at + (times[i] as number);
    if (step === 0) {
      // Turns negative zero into zero.
      value += step;
      column.fill(value, at, end);
    } else if (step === mark) {
      for (let place = at; place < end; place += 1, used += 1) {
        value = rest[used] as number;
        column[place] = value;
      }
    } else if (column instanceof Int32Array) value = fillInts(column, at, end, { value, step });
    else if (column instanceof Float64Array) value = fillDoubles(column, at, end, { value, step });
    else value = fillSmallInts(column, at, end, { value, step });
    at = end;
  }
  if (at !== column.length) throw new Error("the deltas belong to a column of another length");
}

interface Progression {
  readonly value: number;
  readonly step: number;
}

function fillInts(column: IntColumn, from: number, to: number, { value: first, step }: Progression): number {
  let value = first;
  for (let i = from; i < to; i += 1) {
    value = (value + step) | 0;
    column[i] = value;
  }
  return value;
}

function fillDoubles(
  column: DoubleColumn,
  from: number,
  to: number,
  { value: first, step }: Progression,
): number {
  let value = first;
  for (let i = from; i < to; i += 1) {
    value += step;
    column[i] = value;
  }
  return value;
}

function fillSmallInts(
  column: SmallIntColumn,
  from: number,
  to: number,
  { value: first, step }: Progression,
): number {
  let value = first;
  for (let i = from; i < to; i += 1) {
    value += step;
    column[i] = value;
  }
  return value;
}

/** Reused, because the first request of a user widens many columns. */
let wideBuffer = new Int32Array(0);

/** The deltas in 32 bits, possibly with extra values after them; valid until the next call. */
function toWideSteps(steps: StepColumn): WidenedSteps {
  const [count, mark] = [steps.length, escapeMarkOf(steps.BYTES_PER_ELEMENT)];
  if (steps instanceof Int32Array) return { steps, mark, count };
  if (wideBuffer.length < count) wideBuffer = new Int32Array(2 * count);
  wideBuffer.set(steps);
  return { steps: wideBuffer, mark, count };
}

function toPlainColumn(column: NumberArray): IntColumn | DoubleColumn | SmallIntColumn {
  if (column instanceof Float64Array || column instanceof Uint8Array || column instanceof Uint16Array) {
    return column;
  }
  return new Int32Array(column.buffer, column.byteOffset, column.length);
}

/** Marks a number stored in the rest: the smallest value that the deltas can hold. */
function escapeMarkOf(bytes: number): number {
  return -(2 ** (bytes * 8 - 1));
}

interface DeltaEncoding {
  readonly Kind: (typeof STEP_TYPES)[number];
  readonly isRepeated: boolean;
  readonly bytes: number;
}

/** The size of deltas of a kind, plain and run-length encoded. */
function listEncodings(column: IntColumn | DoubleColumn, Kind: DeltaEncoding["Kind"]): DeltaEncoding[] {
  const most = -escapeMarkOf(Kind.BYTES_PER_ELEMENT) - 1;
  let [value, last, rest, runs, length] = [0, 0, 0, 0, 0];
  for (let i = 0; i < column.length; i += 1) {
    const next = column[i] as number;
    const isSmall = isStep(value, next, most);
    const step = isSmall ? next - value || 0 : -most - 1;
    if (!isSmall) rest += 1;
    const isSame = length > 0 && step === last && length < MAX_REPEATS;
    if (!isSame) runs += 1;
    length = isSame ? length + 1 : 1;
    last = step;
    value = next;
  }
  const restBytes = rest * column.BYTES_PER_ELEMENT;
  const timesBytes = Uint16Array.BYTES_PER_ELEMENT;
  return [
    { Kind, isRepeated: false, bytes: column.length * Kind.BYTES_PER_ELEMENT + restBytes },
    { Kind, isRepeated: true, bytes: runs * (Kind.BYTES_PER_ELEMENT + timesBytes) + restBytes },
  ];
}

function toSteps(column: IntColumn | DoubleColumn, steps: StepColumn): DeltaColumn {
  const mark = escapeMarkOf(steps.BYTES_PER_ELEMENT);
  const rest: number[] = [];
  let value = 0;
  for (let i = 0; i < column.length; i += 1) {
    const next = column[i] as number;
    // NaN minus itself is NaN, which counts as a delta of 0.
    if (isStep(value, next, -mark - 1)) steps[i] = next - value || 0;
    else {
      steps[i] = mark;
      rest.push(next);
    }
    value = next;
  }
  return { steps, rest: column instanceof Int32Array ? Int32Array.from(rest) : Float64Array.from(rest) };
}

function toRepeatedSteps({ steps, rest }: DeltaColumn, Kind: DeltaEncoding["Kind"]): DeltaColumn {
  const [distinctSteps, times]: [number[], number[]] = [[], []];
  for (const step of steps) {
    const last = times.length - 1;
    if (last >= 0 && distinctSteps[last] === step && (times[last] as number) < MAX_REPEATS) {
      times[last] = (times[last] as number) + 1;
    } else {
      distinctSteps.push(step);
      times.push(1);
    }
  }
  return { steps: Kind.from(distinctSteps), times: Uint16Array.from(times), rest };
}

/** Whether a number can be restored exactly, bit by bit, from the previous one. */
function isStep(value: number, next: number, most: number): boolean {
  const step = next - value || 0;
  return Number.isInteger(step) && Math.abs(step) <= most && Object.is(value + step, next);
}
