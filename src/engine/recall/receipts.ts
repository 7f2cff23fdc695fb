import type { RecallReceipt } from "../../domain/recall-receipt.ts";
import { MOST_RECALLS } from "../../domain/recall-receipt.ts";
import { type Scope, scopeKey } from "../../domain/scope.ts";
import type { NewRecalls, Record } from "../../ports/record.ts";
import { othersTurn } from "../others-turn.ts";

/**
 * Keeps the receipts of recalls. They are written a moment later and many at a time, so that no recall waits for the
 * disk: what a crash cuts off in that moment is lost, and nothing but the explanation of those recalls with it.
 */
export interface RecallKeeper {
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
const REST_MS = 250;
const MOST_WAITING = 100;

/** A receipt that is not worked out yet, and what has been noted of it since. */
interface Waiting {
  readonly id: string;
  readonly make: () => RecallReceipt;
  more: Partial<RecallReceipt>;
}

export function recallKeeper(record: Pick<Record, "keepRecalls" | "recalls">): RecallKeeper {
  const waiting = new Map<string, { readonly scope: Scope; readonly receipts: Waiting[] }>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const batch = [...waiting.values()];
    waiting.clear();
    count = 0;
    if (batch.length === 0) return;
    const kept: NewRecalls[] = [];
    for (const { scope, receipts } of batch) {
      kept.push({ scope, receipts: receipts.map(whole) });
      // Each takes a moment to be worked out, and nothing above waits: others come in between.
      await othersTurn();
    }
    // A receipt that cannot be written is an explanation less; it is no fault of the recall.
    await record.keepRecalls(kept).catch(() => {});
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  const held = (scope: Scope): readonly Waiting[] => waiting.get(scopeKey(scope))?.receipts ?? [];
  const wait = (scope: Scope, receipt: Waiting): void => {
    const key = scopeKey(scope);
    const own = waiting.get(key) ?? { scope, receipts: [] };
    own.receipts.push(receipt);
    waiting.set(key, own);
    count += 1;
    if (count >= MOST_WAITING) void flush();
    else if (!timer) {
      timer = setTimeout(() => void flush(), REST_MS);
      timer.unref();
    }
  };
  /** A model takes longer than a receipt waits: what it used becomes known of one that is written. */
  const noteWritten = async (scope: Scope, id: string, more: Partial<RecallReceipt>): Promise<void> => {
    const [kept] = await record.recalls(scope, { id, limit: 1 }).catch(() => []);
    const one = held(scope).findLast((receipt) => receipt.id === id);
    if (one) one.more = { ...one.more, ...more };
    else if (kept) wait(scope, { id, make: () => kept, more });
  };

  return {
    keep(scope, id, make) {
      const made = once(make);
      // Not kept until it is written: what it is worked out from is larger, and a heap full of that is collected slowly.
      setImmediate(made).unref();
      wait(scope, { id, make: made, more: {} });
    },
    note(scope, id, more) {
      const one = held(scope).findLast((receipt) => receipt.id === id);
      if (one) one.more = { ...one.more, ...more };
      else writing = writing.then(() => noteWritten(scope, id, more));
    },
    async find(scope, id) {
      await writing;
      const fresh = held(scope).findLast((receipt) => receipt.id === id);
      if (fresh) return whole(fresh);
      return (await record.recalls(scope, { id, limit: 1 }))[0];
    },
    async lastAnswer(scope, session) {
      const isMeant = ({ kind, session: own }: Partial<RecallReceipt>): boolean =>
        kind === "answer" && (session === undefined || own === session);
      await writing;
      const fresh = held(scope).findLast((one) => isMeant(whole(one)));
      if (fresh) return whole(fresh);
      return (await record.recalls(scope, { limit: MOST_RECALLS })).find(isMeant);
    },
    flush,
  };
}

/** Works it out once, and lets go of what it was worked out from. */
function once<Value>(work: () => Value): () => Value {
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

function whole({ make, more }: Waiting): RecallReceipt {
  return { ...make(), ...more };
}
