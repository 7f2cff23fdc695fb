import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { toLocalTime } from "../../domain/time.ts";
import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { Extractor } from "../../ports/language/extractor.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { ReplayOptions } from "../api/replay-types.ts";
import type { InputMessage } from "../api/writing-types.ts";
import { isDelayed } from "../erase/delayed-erasures.ts";
import { extractPending } from "../ingest/extract-pending.ts";
import { remember } from "../ingest/remember.ts";
import type { Ports } from "../ports.ts";
import { createUserStates } from "../user-state/user-state.ts";
import { type ComparedMemory, listCompared } from "./compare-facts.ts";
import { createRecordedChanges } from "./recorded-changes.ts";
import type { ReplayStep } from "./replay-steps.ts";

/** This many waiting messages are read by a model without waiting for a pause. */
const MODEL_BATCH = 12;

/** The extractors of a replay. Without `modelExtractor`, no model is asked. */
export type ReplayExtractors = Pick<Ports, "extractor" | "modelExtractor">;

interface ReplayInput {
  /** An empty store. It is closed at the end. */
  readonly store: MemoryStore;
  readonly steps: readonly ReplayStep[];
  readonly extractors: ReplayExtractors;
  /** Memories that expired by then are left out (ISO 8601). */
  readonly now: string;
  readonly recorded: Parameters<typeof createRecordedChanges>[2];
}

/** Takes the steps on an empty store, and gives the resulting memories. */
export async function repeatInMemory(
  ports: Ports,
  scope: Scope,
  { store, steps, extractors, now, recorded }: ReplayInput,
  options: ReplayOptions,
): Promise<ComparedMemory[]> {
  const time = { now: new Date(0) };
  const ids = createCountedIds();
  const own = createReplayPorts(ports, { store, extractors, clock: () => time.now, ids: ids.next });
  try {
    const changes = createRecordedChanges(own, scope, recorded);
    const takeStep = async (step: ReplayStep): Promise<void> => {
      time.now = timeOf(step);
      if (step.type === "take") return changes.take(step);
      const before = ids.count();
      await tellWrite(own, scope, step, options.signal);
      await changes.note(ids.since(before));
    };
    const readByModel = async (): Promise<void> => {
      const before = ids.count();
      await extractPending(own, scope, options.signal);
      await changes.note(ids.since(before));
    };
    await takeSteps(steps, { takeStep, readByModel, model: own.modelExtractor }, options);
    return await listCompared((await own.states.of(scope)).memories.values(), now, changes.takenIds);
  } finally {
    await own.states.close();
    await own.store.close();
  }
}

interface StepActions {
  readonly takeStep: (step: ReplayStep) => Promise<void>;
  readonly readByModel: () => Promise<void>;
  readonly model: Extractor | undefined;
}

/** Takes each step at its time. A model reads after a pause, or when some messages wait. */
async function takeSteps(
  steps: readonly ReplayStep[],
  { takeStep, readByModel, model }: StepActions,
  { signal, onProgress }: ReplayOptions,
): Promise<void> {
  const all = steps.reduce((sum, step) => sum + (step.type === "tell" ? step.messages.length : 0), 0);
  const { lingerMs = 0 } = model ?? {};
  let done = 0;
  let waiting = 0;
  for (const [i, step] of steps.entries()) {
    signal?.throwIfAborted();
    await takeStep(step);
    const count = step.type === "tell" ? step.messages.length : 0;
    done += count;
    waiting += count;
    const next = steps[i + 1];
    const hasPause = !next || timeOf(next).getTime() - timeOf(step).getTime() >= lingerMs;
    if (model && waiting > 0 && (hasPause || waiting >= MODEL_BATCH)) {
      await readByModel();
      waiting = 0;
    }
    if (count > 0) onProgress?.(done, all);
    await yieldToEventLoop();
  }
}

function timeOf(step: ReplayStep): Date {
  return new Date(step.type === "tell" ? (step.messages[0]?.storedAt ?? 0) : step.entry.at);
}

async function tellWrite(
  own: Ports,
  { project, user }: Scope,
  { messages, isUnread }: ReplayStep & { readonly type: "tell" },
  signal: AbortSignal | undefined,
): Promise<void> {
  const [first] = messages;
  if (!first) return;
  await remember(
    own,
    { project, user, ...(first.agent === undefined ? {} : { agent: first.agent }) },
    messages.map(toInput),
    {
      ...(isUnread ? { extract: "never" as const } : {}),
      ...(first.origin === "import" ? { origin: "import" as const } : {}),
      ...(first.mayErase === false ? { mayErase: false } : {}),
      ...(signal ? { signal } : {}),
    },
  );
}

function toInput({ id, role, content, name, session, at, zone, metadata }: Message): InputMessage {
  return {
    id,
    role,
    content,
    at: toLocalTime(at, zone),
    ...(name === undefined ? {} : { name }),
    ...(session === undefined ? {} : { session }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Ports on an empty store. They share no place with those of the user: nothing is embedded, counted, or sent anywhere. */
function createReplayPorts(
  ports: Ports,
  {
    store,
    extractors: { extractor, modelExtractor },
    clock,
    ids,
  }: {
    readonly store: MemoryStore;
    readonly extractors: ReplayExtractors;
    readonly clock: () => Date;
    readonly ids: () => string;
  },
): Ports {
  const { questions, answerer, outdated, needs, replies, profileWriter, forgetRequests } = ports;
  const { promptGuard, vocabulary, secret, redact, expiry, agents } = ports;
  const embedder = { ...ports.embedder, local: false };
  return {
    store,
    embedder,
    states: createUserStates(store, embedder, {
      phrases: vocabulary.phrases,
      bytes: () => Number.POSITIVE_INFINITY,
    }),
    extractor: withoutErasures(extractor),
    ...(modelExtractor ? { modelExtractor: withoutErasures(modelExtractor) } : {}),
    questions,
    answerer,
    outdated,
    needs,
    replies,
    profileWriter,
    forgetRequests,
    promptGuard,
    vocabulary,
    secret,
    ...(redact === undefined ? {} : { redact }),
    ...(expiry === undefined ? {} : { expiry }),
    ...(agents === undefined ? {} : { agents }),
    clock,
    ids,
  };
}

/** Ids that are counted, so that two replays are equal to the last id. */
function createCountedIds() {
  let count = 0;
  const toId = (number: number): string => `replay-${String(number).padStart(9, "0")}`;
  return {
    next() {
      count += 1;
      return toId(count);
    },
    count: () => count,
    /** The ids that were given after the first `before`. */
    since: (before: number) => Array.from({ length: count - before }, (_, i) => toId(before + i + 1)),
  };
}

/**
 * An extractor that executes no requests to forget. What was erased is in no stored message, and the words that are left
 * of a request may mean something else. A request for later is stored as a commitment.
 */
function withoutErasures(extractor: Extractor): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const proposals = await extractor.propose(reading, options);
      return proposals.filter((one) => one.propose !== "erase" || isDelayed(one));
    },
  };
}
