import type { RecallReceipt } from "../../domain/recall-receipt.ts";
import { MAX_RECALL_RECEIPTS } from "../../domain/recall-receipt.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { MemoryStore, NewRecallReceipts } from "../../ports/record.ts";
import { yieldToEventLoop } from "../others-turn.ts";

/**
 * Keeps the receipts of recalls. They are written a moment later and many at a time, so that no recall waits for the
 * disk: what a crash cuts off in that moment is lost, and nothing but the explanation of those recalls with it.
 */
export interface RecallReceiptStore {
  keep(scope: Scope, id: string, make: () => RecallReceipt): void;
  /** What becomes known of a recall after it: what an answer used, and which message asked. */
  note(scope: Scope, id: string, more: Partial<RecallReceipt>): void;
  find(scope: Scope, id: string): Promise<RecallReceipt | undefined>;
  /** The newest answer in a session; of any session, where none is named. */
  lastAnswer(scope: Scope, session: string | undefined): Promise<RecallReceipt | undefined>;
  /** Writes what waits. */
  flush(): Promise<void>;
}

/** Written so long after the first that waits, or when so many do. */
const FLUSH_DELAY_MS = 250;
const MAX_WAITING = 100;

/** A receipt that is not worked out yet, and what has been noted of it since. */
interface PendingReceipt {
  readonly id: string;
  readonly create: () => RecallReceipt;
  additions: Partial<RecallReceipt>;
}

export function createRecallReceiptStore(
  record: Pick<MemoryStore, "saveRecallReceipts" | "recallReceipts">,
): RecallReceiptStore {
  const waiting = new Map<string, { readonly scope: Scope; readonly receipts: PendingReceipt[] }>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const batch = [...waiting.values()];
    waiting.clear();
    count = 0;
    if (batch.length === 0) return;
    const kept: NewRecallReceipts[] = [];
    for (const { scope, receipts } of batch) {
      kept.push({ scope, receipts: receipts.map(toReceipt) });
      // Each takes a moment to be worked out, and nothing above waits: others come in between.
      await yieldToEventLoop();
    }
    // A receipt that cannot be written is an explanation less; it is no fault of the recall.
    await record.saveRecallReceipts(kept).catch(() => {});
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  const held = (scope: Scope): readonly PendingReceipt[] => waiting.get(toScopeKey(scope))?.receipts ?? [];
  const wait = (scope: Scope, receipt: PendingReceipt): void => {
    const key = toScopeKey(scope);
    const own = waiting.get(key) ?? { scope, receipts: [] };
    own.receipts.push(receipt);
    waiting.set(key, own);
    count += 1;
    if (count >= MAX_WAITING) void flush();
    else if (!timer) {
      timer = setTimeout(() => void flush(), FLUSH_DELAY_MS);
      timer.unref();
    }
  };
  /** A model takes longer than a receipt waits: what it used becomes known of one that is written. */
  const noteWritten = async (scope: Scope, id: string, more: Partial<RecallReceipt>): Promise<void> => {
    const [kept] = await record.recallReceipts(scope, { id, limit: 1 }).catch(() => []);
    const one = held(scope).findLast((receipt) => receipt.id === id);
    if (one) one.additions = { ...one.additions, ...more };
    else if (kept) wait(scope, { id, create: () => kept, additions: more });
  };

  return {
    keep(scope, id, make) {
      const made = memoize(make);
      // Not kept until it is written: what it is worked out from is larger, and a heap full of that is collected slowly.
      setImmediate(made).unref();
      wait(scope, { id, create: made, additions: {} });
    },
    note(scope, id, more) {
      const one = held(scope).findLast((receipt) => receipt.id === id);
      if (one) one.additions = { ...one.additions, ...more };
      else writing = writing.then(() => noteWritten(scope, id, more));
    },
    async find(scope, id) {
      await writing;
      const fresh = held(scope).findLast((receipt) => receipt.id === id);
      if (fresh) return toReceipt(fresh);
      return (await record.recallReceipts(scope, { id, limit: 1 }))[0];
    },
    async lastAnswer(scope, session) {
      const isMeant = ({ kind, session: own }: Partial<RecallReceipt>): boolean =>
        kind === "answer" && (session === undefined || own === session);
      await writing;
      const fresh = held(scope).findLast((one) => isMeant(toReceipt(one)));
      if (fresh) return toReceipt(fresh);
      return (await record.recallReceipts(scope, { limit: MAX_RECALL_RECEIPTS })).find(isMeant);
    },
    flush,
  };
}

/** Works it out once, and lets go of what it was worked out from. */
function memoize<Value>(work: () => Value): () => Value {
  let rest: (() => Value) | undefined = work;
  let value: Value;
  return () => {
    if (rest) {
      value = rest();
      rest = undefined;
    }
    return value;
  };
}

function toReceipt({ create: make, additions: more }: PendingReceipt): RecallReceipt {
  return { ...make(), ...more };
}
