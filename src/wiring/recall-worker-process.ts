import { rulesQuestionReader, warmed } from "../adapters/rules/index.ts";
import { readProcessInput, serveInProcess } from "../adapters/shared/worker-channel.ts";
import { openSqliteStore } from "../adapters/sqlite/index.ts";
import type { Scope } from "../domain/scope.ts";
import { executeRecallRequest } from "../engine/recall/recall.ts";
import { createUserStates } from "../engine/user-state/user-state.ts";
import { englishPromptGuard } from "../language/en/prompt-injection/prompt-guard.ts";
import { englishReplies } from "../language/en/replies/replies.ts";
import { englishVocabulary } from "../language/en/vocabulary.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { RecallRequest, RecallResponse } from "../ports/recall-worker.ts";
import type { Meter } from "../ports/telemetry.ts";

/** The start data of a recall process. */
export interface RecallWorkerData {
  readonly path: string;
  readonly embedder: Pick<Embedder, "fingerprint" | "dimensions" | "floor">;
  readonly cacheBytes: number;
  readonly decayDays?: number;
}

export type RecallWorkerMessage =
  /** The first message: opens the database with the key of row digests, or an empty text. */
  { readonly open: string } | "close" | { readonly handed: RecallRequest } | { readonly purgeUser: Scope };

/** The reply. Without `back` the recall failed: the caller then runs it and gets the same error. */
export interface RecallWorkerReply {
  /** A `RecallResponse` as JSON: copying its many small objects would take three times as long. */
  readonly back?: string;
  readonly counts: readonly Parameters<Meter["count"]>[];
}

const { path, embedder, cacheBytes, decayDays } = readProcessInput() as RecallWorkerData;
let counts: Parameters<Meter["count"]>[] = [];
/** Records counts, which the main process adds to its metrics. */
const meter: Meter = { count: (...counted) => void counts.push(counted), observe() {}, set() {} };
let openedPorts: Promise<RecallWorkerPorts> | undefined;

async function openPorts(digestKey: string) {
  const onDamage = (): void => meter.count("memory_damaged_rows_total");
  const store = await openSqliteStore({ path, onDamage, ...(digestKey === "" ? {} : { digestKey }) });
  return {
    store,
    states: createUserStates(store, embedder, {
      phrases: englishVocabulary.phrases,
      bytes: () => cacheBytes,
      meter,
    }),
    // Queries arrive with their vectors.
    embedder: {
      ...embedder,
      local: true,
      embed: () => Promise.reject(new TypeError("nothing is embedded here")),
    },
    questions: warmed(rulesQuestionReader()),
    promptGuard: englishPromptGuard,
    vocabulary: englishVocabulary,
    replies: englishReplies,
    ...(decayDays === undefined ? {} : { decayDays }),
  };
}

type RecallWorkerPorts = Awaited<ReturnType<typeof openPorts>>;

serveInProcess(async (message: RecallWorkerMessage): Promise<RecallWorkerReply> => {
  if (typeof message === "object" && "open" in message) {
    openedPorts ??= openPorts(message.open);
    // Without the database this process is useless: it exits and is restarted later.
    openedPorts.catch((error: unknown) => queueMicrotask(() => Promise.reject(error)));
  }
  const ports = await openedPorts;
  if (!ports) return { counts: [] };
  if (message === "close") await closePorts(ports);
  else if ("purgeUser" in message) await ports.states.purgeUser(message.purgeUser);
  const back =
    message !== "close" && "handed" in message ? await runRecall(ports, message.handed) : undefined;
  const reply = { ...(back ? { back } : {}), counts };
  counts = [];
  return reply;
});

async function runRecall(ports: RecallWorkerPorts, request: RecallRequest): Promise<string | undefined> {
  try {
    return JSON.stringify((await executeRecallRequest(ports, request)) satisfies RecallResponse);
  } catch {
    return undefined;
  }
}

async function closePorts({ states, store }: RecallWorkerPorts): Promise<void> {
  await states.close();
  await store.close();
}
