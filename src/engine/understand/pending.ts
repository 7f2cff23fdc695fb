import type { Message } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import { type Scope, scopeKey } from "../../domain/scope.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type { Proposal } from "../../ports/extractor.ts";
import { change, inTurn } from "../change.ts";
import { countLines } from "../counted.ts";
import type { Ports } from "../ports.ts";
import { reworded } from "../remember.ts";
import { unitsOf } from "../units.ts";
import { type Batch, nextBatch, waitsForModel } from "./batch.ts";
import { decided } from "./decided.ts";
import { keepSweep } from "./sweeps.ts";

/** What a model's reading came to. */
export interface Read {
  /** How many messages were read. */
  readonly read: number;
  readonly lines: readonly ReceiptLine[];
  /** What hinders the rest, which goes on waiting. */
  readonly problem?: Error;
}

/** So often is a message tried whose answer cannot be used, while this process lives. */
const TRIES = 3;

/** How often each message was tried in vain, by user and id; what is tried out waits for another start. */
const inVain = new WeakMap<object, Map<string, number>>();

/**
 * Has a model read what waits for it, a batch at a time. It is asked outside of any change; what it proposes is decided on
 * what is there when it has answered, and on a conflict decided again, without asking again. One reading per user at once.
 * Gives what was read and what hinders the rest; throws the signal's reason alone.
 */
export async function understandPending(ports: Ports, scope: Scope, signal?: AbortSignal): Promise<Read> {
  const { modelExtractor } = ports;
  if (!modelExtractor) return { read: 0, lines: [] };
  return inTurn(modelExtractor, scope, async () => {
    const lines: ReceiptLine[] = [];
    const unread = new Set<string>();
    let read = 0;
    let place = 0;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const batch = nextBatch(await ports.states.of(scope), place, leftOut(ports, scope, unread));
        if (!batch) break;
        place = batch.place;
        const understood = await readBatch(ports, scope, batch, unread, signal);
        lines.push(...understood.lines);
        read += understood.read;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMemoryError(error)) throw error;
      return { read, lines, problem: error };
    }
    const { messages } = await ports.states.of(scope);
    const waiting = [...leftOut(ports, scope, unread)].flatMap((id) => messages.get(id) ?? []);
    const left = waiting.filter(waitsForModel).length;
    return left === 0 ? { read, lines } : { read, lines, problem: unusable(left) };
  });
}

function unusable(count: number): MemoryError {
  const what = count === 1 ? "1 message" : `${count} messages`;
  return new MemoryError("unsupported", `the model gave no answer that can be used about ${what}; it waits.`);
}

/** The messages that are not tried now: in vain in this run, or too often before. */
function leftOut({ record }: Ports, scope: Scope, unread: ReadonlySet<string>): Set<string> {
  const prefix = `${scopeKey(scope)} `;
  const tired = [...(inVain.get(record) ?? [])].filter(
    ([key, tries]) => tries >= TRIES && key.startsWith(prefix),
  );
  return new Set([...unread, ...tired.map(([key]) => key.slice(prefix.length))]);
}

function noteInVain({ record }: Ports, scope: Scope, id: string): void {
  const tries = inVain.get(record) ?? new Map<string, number>();
  inVain.set(record, tries);
  const key = `${scopeKey(scope)} ${id}`;
  tries.set(key, (tries.get(key) ?? 0) + 1);
}

async function readBatch(
  ports: Ports,
  scope: Scope,
  batch: Batch,
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
        noteInVain(ports, scope, id);
      },
    },
    call,
  );
  const answered = messages.filter(({ id }) => !unread.has(id));
  if (answered.length === 0) return { read: 0, lines: [] };
  const lines = await commit(ports, scope, { answered, proposals: proposals ?? [] }, signal);
  if (ports.meter) countLines(ports.meter, lines);
  return { read: answered.length, lines };
}

interface Understood {
  readonly answered: readonly Message[];
  readonly proposals: readonly Proposal[];
}

async function commit(
  ports: Ports,
  scope: Scope,
  { answered, proposals }: Understood,
  signal: AbortSignal | undefined,
): Promise<readonly ReceiptLine[]> {
  const { result } = await change(ports, scope, async (state, at) => {
    // Somebody else may have read one meanwhile, or taken it back.
    const still = answered.filter(({ id }) => {
      const now = state.messages.get(id);
      return now !== undefined && waitsForModel(now);
    });
    if (still.length === 0) return { result: [] };
    const { memories, lifted, lines, sweeping } = decided(ports, {
      state,
      at,
      messages: still,
      proposals,
    });
    for (const sweep of sweeping) keepSweep(ports.modelExtractor, scope, sweep);
    return {
      draft: {
        cause: "digest",
        digests: still.map(({ id }) => ({ id, digest: "done" as const })),
        memories,
        units: await unitsOf(ports, [], reworded(state, memories), signal),
        liftTombstones: lifted,
      },
      result: lines,
    };
  });
  return result;
}
