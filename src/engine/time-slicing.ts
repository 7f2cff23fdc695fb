/** After so many pieces of work at the most, others have their turn; sooner where they take longer than some microseconds each. */
const SLICE_SIZE = 200;

/** So long may one step after another go on before others have their turn, in ms. */
const SLICE_MS = 5;
/** The clock is looked at after so many pieces of work. */
const CLOCK_INTERVAL = 8;

/** Does work for each of many, in slices: what one user has may be much, and nobody else waits for it. */
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

/** Carries out work that says with each `yield` where others may have their turn, and gives what it came to. */
export async function runInSlices<Result>(work: Generator<void, Result, void>): Promise<Result> {
  let begun = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - begun < SLICE_MS) continue;
    await yieldToEventLoop();
    begun = performance.now();
  }
}

/** The same at once, where nobody else waits. */
export function runAtOnce<Result>(work: Generator<void, Result, void>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** What is made of each, in order. */
export async function mapInSlices<One, Made>(
  all: Iterable<One>,
  make: (one: One) => Made,
  slice: number = SLICE_SIZE,
): Promise<Made[]> {
  const made: Made[] = [];
  await forEachInSlices(all, (one) => void made.push(make(one)), slice);
  return made;
}

/** What is made of each, none, one or several, in order. */
export async function flatMapInSlices<One, Made>(
  all: Iterable<One>,
  make: (one: One) => Made | readonly Made[],
  slice: number = SLICE_SIZE,
): Promise<Made[]> {
  const made: Made[] = [];
  await forEachInSlices(
    all,
    (one) => {
      const some = make(one);
      if (Array.isArray(some)) for (const each of some) made.push(each);
      else made.push(some as Made);
    },
    slice,
  );
  return made;
}

/** Those that pass, in order. */
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

/** Goes on when all that waits already has had its turn: long work in slices holds nobody up. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
