import { MemoryError } from "../../errors.ts";
import type { LeaseResult, Leases } from "../../ports/leases.ts";

/** A lease that is renewed for as long as it is held. */
export interface HeldLease {
  /** Aborted with the caller's own signal, and where the lease was lost: somebody else may be at it then. */
  readonly signal: AbortSignal;
  isLost(): boolean;
  /** Gives it back, to rest for so long (ms). Never throws: what cannot be given back runs out. */
  giveBack(restMs?: number): Promise<void>;
}

export type LeaseRefusal = Exclude<LeaseResult, { readonly token: string }>;

/** After a kill, somebody else goes on so much later at most. */
const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3;

/** Takes a lease and holds it; or says why it is not to be had. Throws what the record throws. */
export async function acquireLease(
  record: Leases,
  name: string,
  { isUrgent = false, signal }: { readonly isUrgent?: boolean; readonly signal: AbortSignal },
): Promise<HeldLease | LeaseRefusal> {
  const answer = await record.takeLease(name, { forMs: LEASE_MS, isUrgent });
  if (answer.token === undefined) return answer;
  const { token } = answer;
  const lost = new AbortController();
  let heldUntil = performance.now() + LEASE_MS;
  const lose = (): void => {
    clearInterval(timer);
    lost.abort(new MemoryError("unavailable", "another process took this over."));
  };
  const renew = async (): Promise<void> => {
    const until = performance.now() + LEASE_MS;
    const isOurs = await record.renewLease(name, token, LEASE_MS).catch(() => undefined);
    if (isOurs) heldUntil = until;
    // A record that cannot be asked may be asked again, as long as the lease lasts.
    else if (isOurs === false || performance.now() >= heldUntil) lose();
  };
  const timer = setInterval(() => void renew(), RENEW_MS);
  timer.unref();
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    isLost: () => lost.signal.aborted,
    async giveBack(restMs = 0) {
      clearInterval(timer);
      if (!lost.signal.aborted) await record.releaseLease(name, token, restMs).catch(() => false);
    },
  };
}

export function isHeldLease(one: HeldLease | LeaseRefusal): one is HeldLease {
  return "giveBack" in one;
}
