import type { NumberArray } from "./columns.ts";

type IntColumn = Int32Array<ArrayBuffer>;
type DoubleColumn = Float64Array<ArrayBuffer>;
type SmallIntColumn = Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
type StepColumn = Int8Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

/**
 * A column as the steps from each number to the next, in 8, 16 or 32 bits, where most of them are small; a step that is not stands
 * among the rest, as the number itself. Most columns of a block are numbers of things in the order in which they came. Numbers
 * of 32 bits are taken as integers, whatever they are.
 */
export interface DeltaColumn {
  readonly steps: StepColumn;
  /** How often each step is taken, one time after the other (run-length encoding); without it, once. */
  readonly times?: Uint16Array<ArrayBuffer> | undefined;
  readonly rest: IntColumn | DoubleColumn;
}

/** Of the bytes of a column, what its steps may take: below that they are not worth it. */
const MAX_SIZE_RATIO = 0.7;
const STEP_TYPES = [Int8Array, Int16Array, Int32Array] as const;
/** A step that is taken more often is written again. */
const MAX_REPEATS = 65_535;

/** Nothing where it is not worth it. */
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

/** The column of steps, written into one of the same kind and length. Throws where they are steps of another length. */
export function decodeDeltas({ steps, times, rest }: DeltaColumn, column: NumberArray): void {
  const numbers = toPlainColumn(column);
  if (times) decodeRepeated({ steps, times, rest }, numbers);
  else if (numbers instanceof Int32Array) decodeInts(toWideSteps(steps), rest as IntColumn, numbers);
  else if (numbers instanceof Float64Array) decodeDoubles(toWideSteps(steps), rest as DoubleColumn, numbers);
  else throw new Error("small numbers are kept with how often each step is taken");
}

interface WidenedSteps {
  readonly steps: IntColumn;
  readonly mark: number;
  readonly count: number;
}

// Two loops that are the same, and steps of one kind: a loop that meets arrays of several kinds takes twice as long.
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
      // To the zero that is less than none, it makes the one that is not.
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
  if (at !== column.length) throw new Error("the steps are of a column of another length");
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

/** Used again and again: whoever meets a user for the first time has many columns to widen. */
let wideBuffer = new Int32Array(0);

/** The steps in 32 bits, and perhaps more after them; valid until the next call. */
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

/** Stands for a number among the rest: the smallest that the steps can hold. */
function escapeMarkOf(bytes: number): number {
  return -(2 ** (bytes * 8 - 1));
}

interface DeltaEncoding {
  readonly Kind: (typeof STEP_TYPES)[number];
  readonly isRepeated: boolean;
  readonly bytes: number;
}

/** What steps of a kind take, each by itself or with how often it is taken. */
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

function toRepeatedSteps({ steps, rest }: DeltaColumn, Kind: DeltaEncoding["Kind"]): DeltaColumn {
  const [kept, times]: [number[], number[]] = [[], []];
  for (const step of steps) {
    const last = times.length - 1;
    if (last >= 0 && kept[last] === step && (times[last] as number) < MAX_REPEATS) {
      times[last] = (times[last] as number) + 1;
    } else {
      kept.push(step);
      times.push(1);
    }
  }
  return { steps: Kind.from(kept), times: Uint16Array.from(times), rest };
}

/** Whether a number is found again, bit by bit, from the one before it. */
function isStep(value: number, next: number, most: number): boolean {
  const step = next - value || 0;
  return Number.isInteger(step) && Math.abs(step) <= most && Object.is(value + step, next);
}
