/** Maximum pieces of work before a yield; sooner if each takes more than some microseconds. */
const SLICE_SIZE = 200;

/** Maximum time between two yields, in ms. A request waits for several turns of the loop, each behind such a slice. */
const SLICE_MS = 2;
/** Pieces of work between two readings of the clock. */
const CLOCK_INTERVAL = 8;

/** Calls `work` for each item, in slices, so that one user's large data does not block others. */
export async function forEachInSlices<One>(
  all: Iterable<One>,
  work: (one: One) => void,
  slice: number = SLICE_SIZE,
): Promise<void> {
  let done = 0;
  let begun = performance.now();
  for (const one of all) {
    const isLate = done % CLOCK_INTERVAL === CLOCK_INTERVAL - 1 && performance.now() - begun > SLICE_MS;
    if (isLate || (done > 0 && done % slice === 0)) {
      await yieldToEventLoop();
      begun = performance.now();
    }
    work(one);
    done += 1;
  }
}

/** Runs work that marks possible pauses with `yield`, and gives its result. Pauses at the first `yield` after some milliseconds. */
export async function runInSlices<Result>(
  work: Generator<void, Result, void>,
  sliceMs: number = SLICE_MS,
): Promise<Result> {
  let begun = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - begun < sliceMs) continue;
    await yieldToEventLoop();
    begun = performance.now();
  }
}

/** Maximum time between two pauses of work that takes its share, in ms. */
const SHARE_MS = 50;

/**
 * The same beside work that may fill the thread: a slice is as long as other work took before it, up to 50 ms, so that short slices
 * do not come to a hundredth of the time.
 */
export async function runInShares<Result>(work: Generator<void, Result, void>): Promise<Result> {
  let begun = performance.now();
  let sliceMs = SLICE_MS;
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    const paused = performance.now();
    if (paused - begun < sliceMs) continue;
    await yieldToEventLoop();
    begun = performance.now();
    sliceMs = Math.min(SHARE_MS, Math.max(SLICE_MS, begun - paused));
  }
}

/** The same without pauses, if no other work waits. */
export function runAtOnce<Result>(work: Generator<void, Result, void>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Gives a function to await between steps of a loop: it yields to other work once some milliseconds have passed. */
export function createPause(): () => Promise<void> | undefined {
  let begun = performance.now();
  return () => {
    if (performance.now() - begun < SLICE_MS) return undefined;
    return yieldToEventLoop().then(() => {
      begun = performance.now();
    });
  };
}

/** Maps items in order. */
export async function mapInSlices<One, Made>(
  all: Iterable<One>,
  make: (one: One) => Made,
  slice: number = SLICE_SIZE,
): Promise<Made[]> {
  const results: Made[] = [];
  await forEachInSlices(all, (one) => void results.push(make(one)), slice);
  return results;
}

/** Maps each item to none, one or several results, in order. */
export async function flatMapInSlices<One, Made>(
  all: Iterable<One>,
  make: (one: One) => Made | readonly Made[],
  slice: number = SLICE_SIZE,
): Promise<Made[]> {
  const results: Made[] = [];
  await forEachInSlices(
    all,
    (one) => {
      const some = make(one);
      if (Array.isArray(some)) for (const each of some) results.push(each);
      else results.push(some as Made);
    },
    slice,
  );
  return results;
}

/** Filters items in order. */
export async function filterInSlices<One>(
  all: Iterable<One>,
  passes: (one: One) => boolean,
  slice: number = SLICE_SIZE,
): Promise<One[]> {
  const passed: One[] = [];
  await forEachInSlices(
    all,
    (one) => {
      if (passes(one)) passed.push(one);
    },
    slice,
  );
  return passed;
}

/** Items that are sorted, or merged, before a possible pause. */
const SORT_RUN = 1000;

/** Sorts a copy of the items: runs of some items at once, then merges, with pauses. Equal items keep their order. */
export async function sortInSlices<One>(
  all: readonly One[],
  compare: (one: One, other: One) => number,
): Promise<One[]> {
  return runInSlices(mergeSort(all, compare));
}

function* mergeSort<One>(
  all: readonly One[],
  compare: (one: One, other: One) => number,
): Generator<void, One[], void> {
  let runs: One[][] = [];
  for (let from = 0; from < all.length; from += SORT_RUN) {
    runs.push(all.slice(from, from + SORT_RUN).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: One[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(yield* mergeRuns(runs[i] ?? [], runs[i + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeRuns<One>(
  one: readonly One[],
  other: readonly One[],
  compare: (one: One, other: One) => number,
): Generator<void, One[], void> {
  const merged: One[] = [];
  let [left, right] = [0, 0];
  while (left < one.length && right < other.length) {
    const isLeft = compare(one[left] as One, other[right] as One) <= 0;
    merged.push((isLeft ? one[left++] : other[right++]) as One);
    if (merged.length % SORT_RUN === 0) yield;
  }
  // Not by `push`, which takes no more than some ten thousand arguments.
  return merged.concat(one.slice(left), other.slice(right));
}

/** Resolves after all work that is already waiting has run, so that long sliced work blocks nothing. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
