import type { ErasureSelection } from "../../domain/erasure-selection.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Trace } from "../../domain/receipt.ts";
import type { TextCut } from "../../domain/text/cut-text.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { ErasureSummary, MemoryStore } from "../../ports/memory-store.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { executeErasure } from "./execute-erasure.ts";

/** The result of comparing the store with the ledger. */
export interface LedgerReplay {
  /** Erasures repeated because the store had been restored to an earlier state. */
  readonly replayedCount: number;
  /** Spans of messages that could not be found again because the message has changed. */
  readonly unplacedCount: number;
  /** Entries added to the ledger because it lacked them. */
  readonly addedCount: number;
  /** Whether there was no ledger although something had been erased. */
  readonly wasLost: boolean;
}

/**
 * Repeats the erasures in the ledger that the store lacks, and adds missing entries to the ledger. Runs
 * before any request is served. Safe to interrupt and to repeat.
 */
export async function replayLedger(
  ports: Ports,
  tell: (done: number, of: number) => void = () => {},
): Promise<LedgerReplay> {
  const { ledger, store } = ports;
  const nothing = { replayedCount: 0, unplacedCount: 0, addedCount: 0, wasLost: false };
  if (!ledger || (await isLedgerCurrent(ledger, store))) return nothing;
  const [read, held, marks] = [
    await ledger.read(),
    await store.erasures.traces(),
    await store.erasures.summaries(),
  ];
  const known = new Set(
    marks.flatMap(({ receipt, replays }) => (replays === undefined ? [receipt] : [receipt, replays])),
  );
  const missing = withoutRepetitions(read?.traces ?? []).filter((trace) => !isKnownTrace(trace, known));
  let [again, unplaced] = [0, 0];
  for (const [done, trace] of missing.entries()) {
    tell(done, missing.length);
    if (await wasErasedHere(ports, trace)) continue;
    unplaced += await eraseAgain(ports, trace);
    again += 1;
  }
  const written = new Set(read?.traces.map(({ receipt }) => receipt));
  const lacking = held.filter((trace) => !isKnownTrace(trace, written));
  await ledger.append(lacking);
  return {
    replayedCount: again,
    unplacedCount: unplaced,
    addedCount: lacking.length,
    wasLost: read === undefined && isLedgerLost(marks),
  };
}

/** Nearly always true; then nothing has to be read in full. */
async function isLedgerCurrent(ledger: Ledger, store: MemoryStore): Promise<boolean> {
  const written = await ledger.receipts();
  const marks = (await store.erasures.summaries()).filter(({ hasTrace }) => hasTrace);
  if (!written) return marks.length === 0;
  const known = new Set(marks.flatMap(({ receipt, replays }) => [receipt, replays]));
  const isWritten = marks.every(({ receipt, replays }) => written.has(receipt) || written.has(replays ?? ""));
  return isWritten && [...written].every((receipt) => known.has(receipt));
}

/** A verified erasure was in the ledger before; an erasure interrupted by a crash may not have been. */
function isLedgerLost(marks: readonly ErasureSummary[]): boolean {
  return marks.some(({ hasTrace, isVerified }) => hasTrace && isVerified);
}

/**
 * Leaves out repetitions of erasures that are listed themselves. The first erasure is enough for any backup, and each
 * repetition of a repetition would be one more.
 */
export function withoutRepetitions(traces: readonly Trace[]): Trace[] {
  const receipts = new Set(traces.map(({ receipt }) => receipt));
  return traces.filter(({ replays }) => replays === undefined || !receipts.has(replays));
}

function isKnownTrace({ receipt, replays }: Trace, known: ReadonlySet<string>): boolean {
  return known.has(receipt) || (replays !== undefined && known.has(replays));
}

/**
 * Whether the log says that it was erased here: then only its receipt was removed, which the audit reports.
 */
async function wasErasedHere({ store }: Ports, { project, user, revision, at }: Trace): Promise<boolean> {
  const [entry] = await store.log({ project, user }, { before: revision + 1, limit: 1 });
  return entry?.revision === revision && entry.cause === "forget" && entry.at === at;
}

async function eraseAgain(ports: Ports, trace: Trace): Promise<number> {
  let unplaced = 0;
  const choose = (state: UserState): ErasureSelection => {
    const chosen = selectByTrace(trace, state);
    unplaced = chosen.unplaced;
    return chosen;
  };
  const elsewhere = { bare: trace.bare ?? [], versions: trace.versions ?? [] };
  const again = { receipt: trace.receipt, tombstones: trace.tombstones, elsewhere };
  await executeErasure(ports, { project: trace.project, user: trace.user }, choose, { replayOf: again });
  return unplaced;
}

function selectByTrace(trace: Trace, state: UserState): ErasureSelection & { unplaced: number } {
  const memories = new Set<Memory>(trace.memories.flatMap((id) => state.memories.get(id) ?? []));
  const cuts = new Map<string, readonly TextCut[]>();
  const attachments = new Map<string, ReadonlySet<number>>();
  let unplaced = 0;
  for (const { id, length, cuts: places, attachments: numbers } of trace.messages) {
    const message = state.messages.get(id);
    if (message?.content.length === length) {
      cuts.set(id, places);
      if (numbers) attachments.set(id, new Set(numbers));
    } else if (message && message.content !== "") unplaced += places.length;
  }
  return { memories, cuts, attachments, unplaced };
}
