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
  | "are you there"
  | "close"
  | { readonly handed: HandedRecall }
  | { readonly cleanse: Scope };

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
const record = await openSqliteRecord({ path });
const ports = {
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

answeringInProcess(async (asked: Asked): Promise<Told> => {
  if (asked === "close") await closed();
  else if (typeof asked === "object" && "cleanse" in asked) await ports.states.cleanse(asked.cleanse);
  const back = typeof asked === "object" && "handed" in asked ? await recalled(asked.handed) : undefined;
  const told = { ...(back ? { back } : {}), counts };
  counts = [];
  return told;
});

async function recalled(handed: HandedRecall): Promise<string | undefined> {
  try {
    return JSON.stringify((await recallHanded(ports, handed)) satisfies HandedBack);
  } catch {
    return undefined;
  }
}

async function closed(): Promise<void> {
  await ports.states.close();
  await record.close();
}
