import type { Receipt, ReceiptLine } from "../domain/receipt.ts";
import { isMemoryError } from "../errors.ts";
import type { Clock } from "../ports/system.ts";
import { type Meter, NO_METER, NO_TRACER, type Tracer, type TraceSpan } from "../ports/telemetry.ts";
import type { Keepsake, ScopedMemory } from "./api.ts";
import type { Ports } from "./ports.ts";

type MemoryVerb = Exclude<keyof ScopedMemory, "revision">;

/** What OpenTelemetry calls them (semantic conventions for generative AI, memory operations); others have our own names. */
const OPERATION_NAMES: { readonly [verb in MemoryVerb]?: string } = {
  recall: "search_memory",
  remember: "upsert_memory",
  import: "upsert_memory",
  add: "create_memory",
  supersede: "update_memory",
  update: "update_memory",
  remove: "delete_memory",
  forget: "delete_memory",
};

/** The same memory, whose verbs are counted and timed, and are spans of traces; as it is, where nobody wants either. */
export function instrumentMemory(
  memory: ScopedMemory,
  { meter = NO_METER, tracer = NO_TRACER }: Pick<Ports, "meter" | "tracer">,
): ScopedMemory {
  if (meter === NO_METER && tracer === NO_TRACER) return memory;
  const eye: Instruments = { meter, tracer };
  const observed = (verb: MemoryVerb): unknown => {
    const run = memory[verb] as (...given: unknown[]) => unknown;
    if (RESULT_KINDS[verb] === "parts") {
      return (...given: unknown[]) => observeStream(eye, verb, run(...given) as AsyncIterable<unknown>);
    }
    if (RESULT_KINDS[verb] === "a promise") {
      return (...given: unknown[]) => observePromise(eye, verb, async () => run(...given));
    }
    return (...given: unknown[]) => {
      meter.count("memory_operations_total", { operation: verb, outcome: "ok" });
      return run(...given);
    };
  };
  const verbs = Object.keys(RESULT_KINDS) as MemoryVerb[];
  const seen = Object.fromEntries(verbs.map((verb) => [verb, observed(verb)])) as unknown as ScopedMemory;
  // One look-up of a number: to watch it would take longer.
  return { ...seen, revision: memory.revision };
}

/** How each gives what it gives. */
const RESULT_KINDS: { readonly [verb in MemoryVerb]: "a promise" | "parts" | "pages" } = {
  remember: "a promise",
  understand: "a promise",
  add: "a promise",
  supersede: "a promise",
  recall: "a promise",
  answer: "a promise",
  answerStream: "parts",
  converse: "a promise",
  converseStream: "parts",
  explain: "a promise",
  forget: "a promise",
  erasures: "a promise",
  get: "a promise",
  list: "pages",
  remove: "a promise",
  update: "a promise",
  history: "a promise",
  undo: "a promise",
  optimize: "a promise",
  profile: "a promise",
  sessions: "a promise",
  session: "a promise",
  stats: "a promise",
  export: "parts",
  import: "parts",
};

interface Instruments {
  readonly meter: Meter;
  readonly tracer: Tracer;
}

async function observePromise<Result>(
  { meter, tracer }: Instruments,
  verb: MemoryVerb,
  run: () => Promise<Result>,
): Promise<Result> {
  const work = async (span?: TraceSpan): Promise<Result> => {
    let outcome = "ok";
    try {
      const result = await run();
      countResult(meter, verb, result);
      return result;
    } catch (error) {
      outcome = outcomeOf(error);
      span?.failed(outcome);
      throw error;
    } finally {
      meter.count("memory_operations_total", { operation: verb, outcome });
    }
  };
  return tracer === NO_TRACER ? work() : tracer.within(spanOptionsOf(verb), work);
}

async function* observeStream(
  { meter, tracer }: Instruments,
  verb: MemoryVerb,
  values: AsyncIterable<unknown>,
): AsyncGenerator<unknown, unknown, void> {
  const operation = verb.replace(/Stream$/, "");
  const from = performance.now();
  const generator = values[Symbol.asyncIterator]() as AsyncGenerator<unknown, unknown, void>;
  // What breaks off early leaves by `finally` alone.
  let outcome = "aborted";
  try {
    const result = yield* { [Symbol.asyncIterator]: () => generator };
    outcome = "ok";
    return result;
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    meter.count("memory_operations_total", { operation, outcome });
    tracer.over({
      ...spanOptionsOf(verb),
      ms: performance.now() - from,
      ...(outcome === "ok" ? {} : { error: outcome }),
    });
  }
}

function spanOptionsOf(verb: MemoryVerb): Parameters<Tracer["within"]>[0] {
  const operation = OPERATION_NAMES[verb];
  return {
    name: operation ?? `keepsake.${verb}`,
    attributes: {
      "keepsake.operation": verb,
      ...(operation === undefined
        ? {}
        : { "gen_ai.operation.name": operation, "gen_ai.provider.name": "keepsake" }),
    },
  };
}

function outcomeOf(error: unknown): string {
  if (isMemoryError(error)) return error.code;
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError")
    ? "aborted"
    : "failed";
}

/** What is done by hand; what is decided on proposals is counted there. */
const MANUAL_VERBS: ReadonlySet<MemoryVerb> = new Set(["add", "supersede", "remove", "update", "undo"]);

function countResult(meter: Meter, verb: MemoryVerb, result: unknown): void {
  if (MANUAL_VERBS.has(verb)) countMemoryChanges(meter, (result as Receipt).memories);
}

/** Why a proposal is refused that names words which nobody said there. */
export const QUOTE_NOT_FOUND = "the quote is not in the message";

/** Counts what became of memories, and of what was proposed for them. */
export function countMemoryChanges(
  meter: Meter,
  lines: readonly Pick<ReceiptLine, "action" | "why">[],
): void {
  for (const { action, why } of lines) {
    meter.count("memory_changes_total", { action });
    if (why === QUOTE_NOT_FOUND) meter.count("memory_quotes_refused_total");
  }
}

/** Tells a meter how it stands now: what waits, and how the jobs do. What cannot be read now keeps the value it had. */
export async function recordJobMetrics(keepsake: Pick<Keepsake, "jobs">, meter: Meter): Promise<void> {
  const jobs = await keepsake.jobs().catch(() => []);
  for (const { name, state, left, attempts, setAside = 0, lastRun } of jobs) {
    const labels = { job: name };
    meter.set("memory_job_running", state === "running" ? 1 : 0, labels);
    meter.set("memory_job_failures", attempts, labels);
    meter.set("memory_job_set_aside", setAside, labels);
    if (left !== undefined) meter.set("memory_job_left", left, labels);
    if (lastRun !== undefined) {
      meter.set("memory_job_last_run_timestamp_seconds", Date.parse(lastRun) / 1000, labels);
    }
  }
}

const CLOCK_JUMP_MS = 60_000;

/** The same clock; where it moves otherwise than the time that passes in this process, that is counted. */
export function watchClock(clock: Clock, meter: Meter): Clock {
  let time = clock().getTime();
  let passed = performance.now();
  return () => {
    const now = clock();
    const by = now.getTime() - time - (performance.now() - passed);
    // One that is held still is held on purpose.
    if (Math.abs(by) > CLOCK_JUMP_MS && now.getTime() !== time)
      meter.count("memory_clock_jumps_total", { to: by > 0 ? "ahead" : "back" });
    time = now.getTime();
    passed = performance.now();
    return now;
  };
}

/** Counts rows that were not as they were written: those read here, and those that processes of this one report. */
export function createDamageCounter(meter: Meter = NO_METER): {
  readonly rows: () => number;
  readonly count: () => void;
  readonly meter: Meter;
} {
  const name = "memory_damaged_rows_total";
  let rows = 0;
  const watching: Meter = {
    count(counted, labels, by) {
      if (counted === name) rows += by ?? 1;
      meter.count(counted, labels, by);
    },
    observe: (observed, value, labels) => meter.observe(observed, value, labels),
    set: (gauge, value, labels) => meter.set(gauge, value, labels),
  };
  return { rows: () => rows, count: () => watching.count(name), meter: watching };
}
