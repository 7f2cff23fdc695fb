import type { Message } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type { Proposal } from "../../ports/extractor.ts";
import { commitChange, runInUserQueue } from "../change.ts";
import { countMemoryChanges } from "../counted.ts";
import type { Ports } from "../ports.ts";
import { selectReworded } from "../remember.ts";
import { createSearchUnits } from "../units.ts";
import { findNextBatch, isWaitingForModel, type ModelBatch } from "./batch.ts";
import { decideModelProposals } from "./decided.ts";
import { holdSweep } from "./sweeps.ts";

/** What a model's reading came to. */
export interface ModelExtractionResult {
  /** How many messages were read. */
  readonly read: number;
  readonly lines: readonly ReceiptLine[];
  /** What hinders the rest, which goes on waiting. */
  readonly problem?: Error;
}

/** So often is a message tried whose answer cannot be used, while this process lives. */
const MAX_TRIES = 3;

/** How often each message was tried in vain, by user and id; what is tried out waits for another start. */
const failedTries = new WeakMap<object, Map<string, number>>();

/**
 * Has a model read what waits for it, a batch at a time. It is asked outside of any change; what it proposes is decided on
 * what is there when it has answered, and on a conflict decided again, without asking again. One reading per user at once.
 * Gives what was read and what hinders the rest; throws the signal's reason alone.
 */
export async function extractPendingByModel(
  ports: Ports,
  scope: Scope,
  signal?: AbortSignal,
): Promise<ModelExtractionResult> {
  const { modelExtractor } = ports;
  if (!modelExtractor) return { read: 0, lines: [] };
  return runInUserQueue(modelExtractor, scope, async () => {
    const lines: ReceiptLine[] = [];
    const unread = new Set<string>();
    let read = 0;
    let place = 0;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const batch = findNextBatch(await ports.states.of(scope), place, findExcluded(ports, scope, unread));
        if (!batch) break;
        place = batch.place;
        const understood = await extractBatch(ports, scope, batch, unread, signal);
        lines.push(...understood.lines);
        read += understood.read;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMemoryError(error)) throw error;
      return { read, lines, problem: error };
    }
    const { messages } = await ports.states.of(scope);
    const waiting = [...findExcluded(ports, scope, unread)].flatMap((id) => messages.get(id) ?? []);
    const left = waiting.filter(isWaitingForModel).length;
    return left === 0 ? { read, lines } : { read, lines, problem: createUnusableError(left) };
  });
}

function createUnusableError(count: number): MemoryError {
  const what = count === 1 ? "1 message" : `${count} messages`;
  return new MemoryError("unsupported", `the model gave no answer that can be used about ${what}; it waits.`);
}

/** The messages that are not tried now: in vain in this run, or too often before. */
function findExcluded({ record }: Ports, scope: Scope, unread: ReadonlySet<string>): Set<string> {
  const prefix = `${toScopeKey(scope)} `;
  const tired = [...(failedTries.get(record) ?? [])].filter(
    ([key, tries]) => tries >= MAX_TRIES && key.startsWith(prefix),
  );
  return new Set([...unread, ...tired.map(([key]) => key.slice(prefix.length))]);
}

function noteFailedTry({ record }: Ports, scope: Scope, id: string): void {
  const tries = failedTries.get(record) ?? new Map<string, number>();
  failedTries.set(record, tries);
  const key = `${toScopeKey(scope)} ${id}`;
  tries.set(key, (tries.get(key) ?? 0) + 1);
}

async function extractBatch(
  ports: Ports,
  scope: Scope,
  batch: ModelBatch,
  unread: Set<string>,
  signal: AbortSignal | undefined,
): Promise<{ read: number; lines: readonly ReceiptLine[] }> {
  const { messages } = batch;
  const call = { scope, ...(signal ? { signal } : {}) };
  const proposals = await ports.modelExtractor?.propose(
    {
      ...batch,
      unread(id, why) {
        ports.meter?.count("memory_understanding_unread_total", { why });
        // What a model refuses it refuses again: the words are kept, and found as they were said.
        if (why === "refused") return;
        unread.add(id);
        noteFailedTry(ports, scope, id);
      },
    },
    call,
  );
  const answered = messages.filter(({ id }) => !unread.has(id));
  if (answered.length === 0) return { read: 0, lines: [] };
  const lines = await commitProposals(ports, scope, { answered, proposals: proposals ?? [] }, signal);
  if (ports.meter) countMemoryChanges(ports.meter, lines);
  return { read: answered.length, lines };
}

interface BatchProposals {
  readonly answered: readonly Message[];
  readonly proposals: readonly Proposal[];
}

async function commitProposals(
  ports: Ports,
  scope: Scope,
  { answered, proposals }: BatchProposals,
  signal: AbortSignal | undefined,
): Promise<readonly ReceiptLine[]> {
  const { result } = await commitChange(ports, scope, async (state, at) => {
    // Somebody else may have read one meanwhile, or taken it back.
    const still = answered.filter(({ id }) => {
      const now = state.messages.get(id);
      return now !== undefined && isWaitingForModel(now);
    });
    if (still.length === 0) return { result: [] };
    const {
      memories,
      liftedTombstones: lifted,
      lines,
      sweeps: sweeping,
    } = decideModelProposals(ports, {
      state,
      at,
      messages: still,
      proposals,
    });
    for (const sweep of sweeping) holdSweep(ports.modelExtractor, scope, sweep);
    return {
      draft: {
        cause: "digest",
        digests: still.map(({ id }) => ({ id, digest: "done" as const })),
        memories,
        units: await createSearchUnits(ports, [], selectReworded(state, memories), signal),
        liftTombstones: lifted,
      },
      result: lines,
    };
  });
  return result;
}
