import { rulesQuestionReader, warmed } from "../adapters/rules/index.ts";
import { readProcessInput, serveInProcess } from "../adapters/shared/worker-channel.ts";
import { openSqliteStore } from "../adapters/sqlite/index.ts";
import type { Scope } from "../domain/scope.ts";
import { executeRecallRequest } from "../engine/recall/recall.ts";
import { createUserStates } from "../engine/user-state/user-state.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { RecallRequest, RecallResponse } from "../ports/recall-worker.ts";
import type { Meter } from "../ports/telemetry.ts";

/** What a process for recalls is begun with. */
export interface RecallWorkerData {
  readonly path: string;
  readonly embedder: Pick<Embedder, "fingerprint" | "dimensions" | "floor">;
  readonly cacheBytes: number;
  readonly decayDays?: number;
}

export type RecallWorkerMessage =
  /** First: opens the database, with the key for digests of rows, or an empty text. */
  { readonly open: string } | "close" | { readonly handed: RecallRequest } | { readonly cleanse: Scope };

/** What came of it; no `back` where it failed: whoever asked does it then, and meets with the same. */
export interface RecallWorkerReply {
  /** A `HandedBack` as JSON: a recall is many small objects, and to copy these one by one takes three times as long. */
  readonly back?: string;
  readonly counts: readonly Parameters<Meter["count"]>[];
}

const { path, embedder, cacheBytes, decayDays } = readProcessInput() as RecallWorkerData;
let counts: Parameters<Meter["count"]>[] = [];
/** Counted where the others are. */
const meter: Meter = { count: (...counted) => void counts.push(counted), observe() {}, set() {} };
let openedPorts: Promise<RecallWorkerPorts> | undefined;

async function openPorts(digestKey: string) {
  const onDamage = (): void => meter.count("memory_damaged_rows_total");
  const record = await openSqliteStore({ path, onDamage, ...(digestKey === "" ? {} : { digestKey }) });
  return {
    record,
    states: createUserStates(record, embedder, { bytes: () => cacheBytes, meter }),
    // Queries come with their vectors.
    embedder: {
      ...embedder,
      local: true,
      embed: () => Promise.reject(new TypeError("nothing is embedded here")),
    },
    questions: warmed(rulesQuestionReader()),
    ...(decayDays === undefined ? {} : { decayDays }),
  };
}

type RecallWorkerPorts = Awaited<ReturnType<typeof openPorts>>;

serveInProcess(async (asked: RecallWorkerMessage): Promise<RecallWorkerReply> => {
  if (typeof asked === "object" && "open" in asked) {
    openedPorts ??= openPorts(asked.open);
    // Without its database it can do nothing: it ends, and is begun again later.
    openedPorts.catch((error: unknown) => queueMicrotask(() => Promise.reject(error)));
  }
  const ports = await openedPorts;
  if (!ports) return { counts: [] };
  if (asked === "close") await closePorts(ports);
  else if ("cleanse" in asked) await ports.states.purgeUser(asked.cleanse);
  const back = asked !== "close" && "handed" in asked ? await runRecall(ports, asked.handed) : undefined;
  const told = { ...(back ? { back } : {}), counts };
  counts = [];
  return told;
});

async function runRecall(ports: RecallWorkerPorts, handed: RecallRequest): Promise<string | undefined> {
  try {
    return JSON.stringify((await executeRecallRequest(ports, handed)) satisfies RecallResponse);
  } catch {
    return undefined;
  }
}

async function closePorts({ states, record }: RecallWorkerPorts): Promise<void> {
  await states.close();
  await record.close();
}
