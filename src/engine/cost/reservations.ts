import type { CallPurpose, ModelCall } from "../../domain/model-call.ts";
import { computeCost, type Price } from "../../domain/prices.ts";
import type { CallOwner, CallSize } from "../../ports/calls.ts";
import type { Clock } from "../../ports/clock.ts";
import { addAmounts, amountOf, type SpentAmount } from "./spending.ts";

/** What calls that are on their way will take, as well as it is known: so that many at once do not each see the same room. */
export interface Reservations {
  add(purpose: CallPurpose, scope: CallOwner | undefined, size: CallSize | undefined): void;
  /** A call has ended: what was reserved for one like it, first in, first out, is free. */
  settle(purpose: CallPurpose, scope: CallOwner | undefined): void;
  /** From what a call took, what the next one of its purpose may take. */
  learn(call: ModelCall): void;
  sumFor(whose: { readonly project: string; readonly user?: string }): SpentAmount;
}

interface Reservation extends SpentAmount {
  readonly purpose: CallPurpose;
  readonly project: string;
  readonly user: string | undefined;
  /** In ms. */
  readonly until: number;
}

/** No call takes longer; what is never told of was never made. */
const MAX_CALL_MS = 600_000;
/** Before anything is known: a prompt of a few pages at a small model's price. */
const DEFAULT_ESTIMATE: SpentAmount = { tokens: 4000, usd: 0.001 };
/** What was large once is forgotten slowly. */
const DECAY_FACTOR = 0.9;
const NO_RESERVATION: SpentAmount = { usd: 0, tokens: 0 };

export function createReservations(clock: Clock, prices: readonly Price[]): Reservations {
  let held: readonly Reservation[] = [];
  const typical = new Map<CallPurpose, SpentAmount>();

  const estimate = (purpose: CallPurpose, size: CallSize | undefined): SpentAmount => {
    const before = typical.get(purpose) ?? DEFAULT_ESTIMATE;
    if (!size) return before;
    const usage = { ...size, host: "", tokensCached: 0 };
    const usd = computeCost(usage, clock().toISOString(), prices) ?? 0;
    return { usd, tokens: size.tokensIn + size.tokensOut };
  };

  return {
    add(purpose, scope, size) {
      const now = clock().getTime();
      const own: Reservation = {
        ...estimate(purpose, size),
        purpose,
        project: scope?.project ?? "",
        user: scope?.user,
        until: now + MAX_CALL_MS,
      };
      held = [...held.filter(({ until }) => until > now), own];
    },

    settle(purpose, scope) {
      const project = scope?.project ?? "";
      const at = held.findIndex(
        (one) => one.purpose === purpose && one.project === project && one.user === scope?.user,
      );
      if (at !== -1) held = held.toSpliced(at, 1);
    },

    learn(call) {
      const { usd, tokens } = amountOf(call);
      if (tokens === 0) return;
      const before = typical.get(call.purpose) ?? NO_RESERVATION;
      typical.set(call.purpose, {
        usd: Math.max(usd, before.usd * DECAY_FACTOR),
        tokens: Math.max(tokens, before.tokens * DECAY_FACTOR),
      });
    },

    sumFor({ project, user }) {
      const now = clock().getTime();
      return held
        .filter(
          (one) => one.until > now && one.project === project && (user === undefined || one.user === user),
        )
        .reduce<SpentAmount>(addAmounts, NO_RESERVATION);
    },
  };
}
