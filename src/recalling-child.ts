import { rulesQuestionReader, warmed } from "./adapters/rules/index.ts";
import { answeringInProcess, givenToProcess } from "./adapters/shared/process-line.ts";
import { openSqliteRecord } from "./adapters/sqlite/index.ts";
import type { Scope } from "./domain/scope.ts";
import { recallHanded } from "./engine/recall.ts";
import { userStates } from "./engine/user-state.ts";
import type { Embedder } from "./ports/embedder.ts";
import type { Meter } from "./ports/meter.ts";
import type { HandedBack, HandedRecall } from "./ports/recaller.ts";

/** What a process for recalls is begun with. */
export interface Begun {
  readonly path: string;
  readonly embedder: Pick<Embedder, "fingerprint" | "dimensions" | "floor">;
  readonly cacheBytes: number;
  readonly decayDays?: number;
}

export type Asked =
  /** First: opens the database, with the key for digests of rows, or an empty text. */
  { readonly open: string } | "close" | { readonly handed: HandedRecall } | { readonly cleanse: Scope };

/** What came of it; no `back` where it failed: whoever asked does it then, and meets with the same. */
export interface Told {
  /** A `HandedBack` as JSON: a recall is many small objects, and to copy these one by one takes three times as long. */
  readonly back?: string;
  readonly counts: readonly Parameters<Meter["count"]>[];
}

const { path, embedder, cacheBytes, decayDays } = givenToProcess() as Begun;
let counts: Parameters<Meter["count"]>[] = [];
/** Counted where the others are. */
const meter: Meter = { count: (...counted) => void counts.push(counted), observe() {}, set() {} };
let isOpen: Promise<RecallingPorts> | undefined;

async function portsWith(digestKey: string) {
  const onDamage = (): void => meter.count("memory_damaged_rows_total");
  const record = await openSqliteRecord({ path, onDamage, ...(digestKey === "" ? {} : { digestKey }) });
  return {
    record,
    states: userStates(record, embedder, { bytes: () => cacheBytes, meter }),
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

type RecallingPorts = Awaited<ReturnType<typeof portsWith>>;

answeringInProcess(async (asked: Asked): Promise<Told> => {
  if (typeof asked === "object" && "open" in asked) {
    isOpen ??= portsWith(asked.open);
    // Without its database it can do nothing: it ends, and is begun again later.
    isOpen.catch((error: unknown) => queueMicrotask(() => Promise.reject(error)));
  }
  const ports = await isOpen;
  if (!ports) return { counts: [] };
  if (asked === "close") await closed(ports);
  else if ("cleanse" in asked) await ports.states.cleanse(asked.cleanse);
  const back = asked !== "close" && "handed" in asked ? await recalled(ports, asked.handed) : undefined;
  const told = { ...(back ? { back } : {}), counts };
  counts = [];
  return told;
});

async function recalled(ports: RecallingPorts, handed: HandedRecall): Promise<string | undefined> {
  try {
    return JSON.stringify((await recallHanded(ports, handed)) satisfies HandedBack);
  } catch {
    return undefined;
  }
}

async function closed({ states, record }: RecallingPorts): Promise<void> {
  await states.close();
  await record.close();
}
