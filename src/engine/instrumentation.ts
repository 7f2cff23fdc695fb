import type { Receipt, ReceiptLine } from "../domain/receipt.ts";
import { isMemoryError } from "../errors.ts";
import type { Clock } from "../ports/system.ts";
import { type Meter, NO_METER, NO_TRACER, type Tracer, type TraceSpan } from "../ports/telemetry.ts";
import type { Keepsake } from "./api/keepsake.ts";
import type { Listing } from "./api/listing-types.ts";
import type { ScopedMemory } from "./api/scoped-memory.ts";
import type { Ports } from "./ports.ts";

type MemoryVerb = Exclude<keyof ScopedMemory, "revision">;

/**
 * Names from OpenTelemetry's semantic conventions for generative AI (memory operations); other methods have
 * our own names.
 */
const OPERATION_NAMES: { readonly [verb in MemoryVerb]?: string } = {
  recall: "search_memory",
  context: "search_memory",
  remember: "upsert_memory",
  import: "upsert_memory",
  add: "create_memory",
  supersede: "update_memory",
  update: "update_memory",
  remove: "delete_memory",
  forget: "delete_memory",
};

/**
 * Counts and times the methods of a memory and traces them as spans. Gives the memory itself if neither is
 * configured.
 */
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
  const instrumented = Object.fromEntries(
    verbs.map((verb) => [verb, observed(verb)]),
  ) as unknown as ScopedMemory;
  // Looking up one number: measuring it would take longer.
  return { ...instrumented, revision: memory.revision };
}

/**
 * The memory of a user whose ports are looked up at each call: `find` gives the memory as it is then. What streams is found when
 * it is first read.
 */
export function createRoutedMemory(find: () => Promise<ScopedMemory>): ScopedMemory {
  const call = async (verb: keyof ScopedMemory, given: unknown[]): Promise<unknown> =>
    ((await find())[verb] as (...given: unknown[]) => unknown)(...given);
  const stream = async function* (verb: MemoryVerb, given: unknown[]): AsyncGenerator<unknown, unknown> {
    const memory = await find();
    return yield* (memory[verb] as unknown as (...given: unknown[]) => AsyncGenerator<unknown, unknown>)(
      ...given,
    );
  };
  const route = (verb: MemoryVerb): unknown => {
    const kind = RESULT_KINDS[verb];
    if (kind === "a promise") return (...given: unknown[]) => call(verb, given);
    if (kind === "parts") return (...given: unknown[]) => stream(verb, given);
    return (...given: Parameters<ScopedMemory["list"]>): Listing => ({
      // biome-ignore lint/suspicious/noThenProperty: a listing is awaited for its first page.
      then: (onPage, onError) =>
        find()
          .then((memory) => memory.list(...given))
          .then(onPage, onError),
      async *[Symbol.asyncIterator]() {
        yield* (await find()).list(...given);
      },
    });
  };
  const verbs = Object.keys(RESULT_KINDS) as MemoryVerb[];
  const routed = Object.fromEntries(verbs.map((verb) => [verb, route(verb)])) as unknown as ScopedMemory;
  return { ...routed, revision: async (options) => (await find()).revision(options) };
}

/** The kind of result of each method. */
const RESULT_KINDS: { readonly [verb in MemoryVerb]: "a promise" | "parts" | "pages" } = {
  remember: "a promise",
  understand: "a promise",
  add: "a promise",
  supersede: "a promise",
  recall: "a promise",
  context: "a promise",
  answer: "a promise",
  answerStream: "parts",
  converse: "a promise",
  converseStream: "parts",
  explain: "a promise",
  forget: "a promise",
  erasures: "a promise",
  get: "a promise",
  list: "pages",
  facets: "a promise",
  remove: "a promise",
  update: "a promise",
  link: "a promise",
  unlink: "a promise",
  links: "a promise",
  related: "a promise",
  clusters: "a promise",
  reflect: "a promise",
  replay: "a promise",
  compareExtractors: "a promise",
  share: "a promise",
  withdraw: "a promise",
  decline: "a promise",
  accept: "a promise",
  grants: "a promise",
  shared: "a promise",
  saveGroup: "a promise",
  deleteGroup: "a promise",
  groups: "a promise",
  history: "a promise",
  undo: "a promise",
  optimize: "a promise",
  profile: "a promise",
  sessions: "a promise",
  session: "a promise",
  message: "a promise",
  findMessages: "a promise",
  attachments: "a promise",
  attachment: "a promise",
  startSession: "a promise",
  sessionState: "a promise",
  updateSession: "a promise",
  endSession: "a promise",
  stats: "a promise",
  export: "parts",
  exportFiles: "parts",
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
  // A caller that stops early leaves only through `finally`.
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

/** Manual edits; decisions on proposals are counted where they are made. */
const MANUAL_VERBS: ReadonlySet<MemoryVerb> = new Set(["add", "supersede", "remove", "update", "undo"]);

function countResult(meter: Meter, verb: MemoryVerb, result: unknown): void {
  if (MANUAL_VERBS.has(verb)) countMemoryChanges(meter, (result as Receipt).memories);
}

/** The reason for refusing a proposal whose quote is not in the message. */
export const QUOTE_NOT_FOUND = "the quote is not in the message";

/** Counts changes of memories, and proposals. */
export function countMemoryChanges(
  meter: Meter,
  lines: readonly Pick<ReceiptLine, "action" | "why">[],
): void {
  for (const { action, why } of lines) {
    meter.count("memory_changes_total", { action });
    if (why === QUOTE_NOT_FOUND) meter.count("memory_quotes_refused_total");
  }
}

/** Reports the current backlog and job states to a meter. A value that cannot be read stays as it was. */
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

/** The same clock. Counts jumps relative to the time that passes in this process. */
export function watchClock(clock: Clock, meter: Meter): Clock {
  let time = clock().getTime();
  let passed = performance.now();
  return () => {
    const now = clock();
    const by = now.getTime() - time - (performance.now() - passed);
    // A stopped clock is stopped on purpose.
    if (Math.abs(by) > CLOCK_JUMP_MS && now.getTime() !== time)
      meter.count("memory_clock_jumps_total", { to: by > 0 ? "ahead" : "back" });
    time = now.getTime();
    passed = performance.now();
    return now;
  };
}

/** Counts damaged rows: those read here, and those reported by this process's workers. */
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
