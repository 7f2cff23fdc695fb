import type { ModelCall } from "../../domain/model-call.ts";
import type { Calls, StoredTurns } from "../../ports/calls.ts";
import type { Meter } from "../../ports/meter.ts";

/** Writes to the ledger many at a time and a moment later, so that no call waits for the disk. */
export interface LedgerWriter {
  note(call: ModelCall): void;
  noteTurns(turns: StoredTurns): void;
  /** Runs work while nothing is written, after all that was noted before; `waiting` gives what has been noted since. */
  runExclusive<Result>(work: (waiting: () => readonly ModelCall[]) => Promise<Result>): Promise<Result>;
  flush(): Promise<void>;
  /** Writes what waits; what is noted after that is lost. */
  close(): Promise<void>;
}

/** Written after so long, or when so many wait. */
const FLUSH_DELAY_MS = 1000;
const MAX_BATCH = 200;
/** While the ledger cannot be written, so many are kept for it; then the oldest are lost, and counted. */
const MAX_WAITING = 10_000;

export function createLedgerWriter(calls: Pick<Calls, "note">, meter: Meter): LedgerWriter {
  let waiting: ModelCall[] = [];
  let turns = new Map<string, StoredTurns>();
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const write = async (): Promise<void> => {
    const [batch, stored] = [waiting, turns];
    if (batch.length === 0 && stored.size === 0) return;
    waiting = [];
    turns = new Map();
    try {
      await calls.note(batch, [...stored.values()]);
    } catch {
      // A ledger that cannot be written fails no call. Its next write takes these along.
      meter.count("memory_ledger_failures_total");
      const all = [...batch, ...waiting];
      const lost = Math.max(0, all.length - MAX_WAITING);
      if (lost > 0) meter.count("memory_ledger_lost_total", {}, lost);
      waiting = all.slice(lost);
      for (const one of stored.values()) addTurns(turns, one);
      if (!isClosed) later();
    }
  };
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return inTurn(write);
  };
  const later = (): void => {
    if (isClosed || timer) return;
    timer = setTimeout(() => void flush(), FLUSH_DELAY_MS);
    timer.unref();
  };

  return {
    note(call) {
      waiting.push(call);
      if (waiting.length === MAX_BATCH) void flush();
      else later();
    },
    noteTurns(one) {
      addTurns(turns, one);
      later();
    },
    runExclusive: (work) =>
      inTurn(async () => {
        await write();
        return work(() => waiting);
      }),
    flush,
    async close() {
      isClosed = true;
      await flush();
    },
  };
}

function addTurns(turns: Map<string, StoredTurns>, one: StoredTurns): void {
  const key = JSON.stringify([one.project, one.user, one.day]);
  turns.set(key, { ...one, turns: one.turns + (turns.get(key)?.turns ?? 0) });
}
