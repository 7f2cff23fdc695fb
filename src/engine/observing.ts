import type { Receipt } from "../domain/receipt.ts";
import { isMemoryError } from "../errors.ts";
import { type Meter, NO_METER } from "../ports/meter.ts";
import { NO_TRACER, type Span, type Tracer } from "../ports/tracer.ts";
import { countLines } from "./counted.ts";
import type { Ports } from "./ports.ts";
import type { ScopedMemory } from "./surface.ts";

type Verb = Exclude<keyof ScopedMemory, "revision">;

/** What OpenTelemetry calls them (semantic conventions for generative AI, memory operations); others have our own names. */
const OPERATION: { readonly [verb in Verb]?: string } = {
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
export function observing(
  memory: ScopedMemory,
  { meter = NO_METER, tracer = NO_TRACER }: Pick<Ports, "meter" | "tracer">,
): ScopedMemory {
  if (meter === NO_METER && tracer === NO_TRACER) return memory;
  const eye: Eye = { meter, tracer };
  const observed = (verb: Verb): unknown => {
    const run = memory[verb] as (...given: unknown[]) => unknown;
    if (GIVES[verb] === "parts") {
      return (...given: unknown[]) => streamed(eye, verb, run(...given) as AsyncIterable<unknown>);
    }
    if (GIVES[verb] === "a promise") {
      return (...given: unknown[]) => watched(eye, verb, async () => run(...given));
    }
    return (...given: unknown[]) => {
      meter.count("memory_operations_total", { operation: verb, outcome: "ok" });
      return run(...given);
    };
  };
  const verbs = Object.keys(GIVES) as Verb[];
  const seen = Object.fromEntries(verbs.map((verb) => [verb, observed(verb)])) as unknown as ScopedMemory;
  // One look-up of a number: to watch it would take longer.
  return { ...seen, revision: memory.revision };
}

/** How each gives what it gives. */
const GIVES: { readonly [verb in Verb]: "a promise" | "parts" | "pages" } = {
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

interface Eye {
  readonly meter: Meter;
  readonly tracer: Tracer;
}

async function watched<Result>(
  { meter, tracer }: Eye,
  verb: Verb,
  run: () => Promise<Result>,
): Promise<Result> {
  const work = async (span?: Span): Promise<Result> => {
    let outcome = "ok";
    try {
      const result = await run();
      counted(meter, verb, result);
      return result;
    } catch (error) {
      outcome = outcomeOf(error);
      span?.failed(outcome);
      throw error;
    } finally {
      meter.count("memory_operations_total", { operation: verb, outcome });
    }
  };
  return tracer === NO_TRACER ? work() : tracer.within(spanOf(verb), work);
}

async function* streamed(
  { meter, tracer }: Eye,
  verb: Verb,
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
      ...spanOf(verb),
      ms: performance.now() - from,
      ...(outcome === "ok" ? {} : { error: outcome }),
    });
  }
}

function spanOf(verb: Verb): Parameters<Tracer["within"]>[0] {
  const operation = OPERATION[verb];
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
const BY_HAND: ReadonlySet<Verb> = new Set(["add", "supersede", "remove", "update", "undo"]);

function counted(meter: Meter, verb: Verb, result: unknown): void {
  if (BY_HAND.has(verb)) countLines(meter, (result as Receipt).memories);
}
