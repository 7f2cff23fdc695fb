import type { Numbers } from "./columns.ts";

type Bits = Int32Array<ArrayBuffer>;
type Doubles = Float64Array<ArrayBuffer>;
type Small = Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
type Steps = Int8Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

/**
 * A column as the steps from each number to the next, in 8, 16 or 32 bits, where most of them are small; a step that is not stands
 * among the rest, as the number itself. Most columns of a block are numbers of things in the order in which they came. Numbers
 * of 32 bits are taken as integers, whatever they are.
 */
export interface Narrow {
  readonly steps: Steps;
  /** How often each step is taken, one time after the other (run-length encoding); without it, once. */
  readonly times?: Uint16Array<ArrayBuffer> | undefined;
  readonly rest: Bits | Doubles;
}

/** Of the bytes of a column, what its steps may take: below that they are not worth it. */
const WORTH = 0.7;
const KINDS = [Int8Array, Int16Array, Int32Array] as const;
/** A step that is taken more often is written again. */
const MOST_TIMES = 65_535;

/** Nothing where it is not worth it. */
export function narrowed(column: Numbers): Narrow | undefined {
  if (column instanceof Int8Array) return undefined;
  const isSmall = column.BYTES_PER_ELEMENT < 4;
  const numbers = isSmall ? Int32Array.from(column) : (plain(column) as Bits | Doubles);
  const most = column.byteLength * WORTH;
  const [best] = KINDS.flatMap((Kind) => waysOf(numbers, Kind))
    .filter(({ bytes, isRepeated }) => bytes < most && (isRepeated || !isSmall))
    .sort((one, other) => one.bytes - other.bytes);
  if (!best) return undefined;
  const each = stepsOf(numbers, new best.Kind(column.length));
  return best.isRepeated ? repeated(each, best.Kind) : each;
}

/** The column of steps, written into one of the same kind and length. Throws where they are steps of another length. */
export function widen({ steps, times, rest }: Narrow, column: Numbers): void {
  const numbers = plain(column);
  if (times) widenRepeated({ steps, times, rest }, numbers);
  else if (numbers instanceof Int32Array) widenBits(eachOf(steps), rest as Bits, numbers);
  else if (numbers instanceof Float64Array) widenDoubles(eachOf(steps), rest as Doubles, numbers);
  else throw new Error("small numbers are kept with how often each step is taken");
}

interface Each {
  readonly steps: Bits;
  readonly mark: number;
  readonly count: number;
}

// Two loops that are the same, and steps of one kind: a loop that meets arrays of several kinds takes twice as long.
function widenBits({ steps, mark, count }: Each, rest: Bits, column: Bits): void {
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

function widenDoubles({ steps, mark, count }: Each, rest: Doubles, column: Doubles): void {
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

function widenRepeated(
  { steps, times, rest }: Required<Narrow> & { readonly times: Uint16Array },
  column: Bits | Doubles | Small,
): void {
  const mark = markOf(steps.BYTES_PER_ELEMENT);
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
    } else if (column instanceof Int32Array) value = climbBits(column, at, end, { value, step });
    else if (column instanceof Float64Array) value = climbDoubles(column, at, end, { value, step });
    else value = climbSmall(column, at, end, { value, step });
    at = end;
  }
  if (at !== column.length) throw new Error("the steps are of a column of another length");
}

interface Climb {
  readonly value: number;
  readonly step: number;
}

function climbBits(column: Bits, from: number, to: number, { value: first, step }: Climb): number {
  let value = first;
  for (let i = from; i < to; i += 1) {
    value = (value + step) | 0;
    column[i] = value;
  }
  return value;
}

function climbDoubles(column: Doubles, from: number, to: number, { value: first, step }: Climb): number {
  let value = first;
  for (let i = from; i < to; i += 1) {
    value += step;
    column[i] = value;
  }
  return value;
}

function climbSmall(column: Small, from: number, to: number, { value: first, step }: Climb): number {
  let value = first;
  for (let i = from; i < to; i += 1) {
    value += step;
    column[i] = value;
  }
  return value;
}

/** Used again and again: whoever meets a user for the first time has many columns to widen. */
let wider = new Int32Array(0);

/** The steps in 32 bits, and perhaps more after them; valid until the next call. */
function eachOf(steps: Steps): Each {
  const [count, mark] = [steps.length, markOf(steps.BYTES_PER_ELEMENT)];
  if (steps instanceof Int32Array) return { steps, mark, count };
  if (wider.length < count) wider = new Int32Array(2 * count);
  wider.set(steps);
  return { steps: wider, mark, count };
}

function plain(column: Numbers): Bits | Doubles | Small {
  if (column instanceof Float64Array || column instanceof Uint8Array || column instanceof Uint16Array) {
    return column;
  }
  return new Int32Array(column.buffer, column.byteOffset, column.length);
}

/** Stands for a number among the rest: the smallest that the steps can hold. */
function markOf(bytes: number): number {
  return -(2 ** (bytes * 8 - 1));
}

interface Way {
  readonly Kind: (typeof KINDS)[number];
  readonly isRepeated: boolean;
  readonly bytes: number;
}

/** What steps of a kind take, each by itself or with how often it is taken. */
function waysOf(column: Bits | Doubles, Kind: Way["Kind"]): Way[] {
  const most = -markOf(Kind.BYTES_PER_ELEMENT) - 1;
  let [value, last, rest, runs, length] = [0, 0, 0, 0, 0];
  for (let i = 0; i < column.length; i += 1) {
    const next = column[i] as number;
    const isSmall = isStep(value, next, most);
    const step = isSmall ? next - value || 0 : -most - 1;
    if (!isSmall) rest += 1;
    const isSame = length > 0 && step === last && length < MOST_TIMES;
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

function stepsOf(column: Bits | Doubles, steps: Steps): Narrow {
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

function repeated({ steps, rest }: Narrow, Kind: Way["Kind"]): Narrow {
  const [kept, times]: [number[], number[]] = [[], []];
  for (const step of steps) {
    const last = times.length - 1;
    if (last >= 0 && kept[last] === step && (times[last] as number) < MOST_TIMES) {
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
