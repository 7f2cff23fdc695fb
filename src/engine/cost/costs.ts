import { type BudgetHolder, type BudgetState, type Budgets, checkBudgets } from "../../domain/budget.ts";
import type { CallReport, ModelCall } from "../../domain/model-call.ts";
import { computeCost, type Price } from "../../domain/prices.ts";
import type { Scope } from "../../domain/scope.ts";
import type { CallOwner, Calls, MayCall, OnCall } from "../../ports/calls.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import { type Meter, NO_METER } from "../../ports/meter.ts";
import { NO_TRACER, type Tracer } from "../../ports/tracer.ts";
import { createBudgetError } from "./exceeded.ts";
import { createLedgerWriter } from "./ledger-writer.ts";
import { recordCallMetrics } from "./measure.ts";
import { createReservations } from "./reservations.ts";
import { findLimitedHolders, toBudgetStates } from "./spending.ts";
import { createSpendingTotals, type SpendingOwner } from "./totals.ts";
import { traceCall } from "./trace.ts";

/** What calls to models cost, and whether another may be made: the two functions for adapters, and what else needs to know. */
export interface CostTracker {
  readonly onCall: OnCall;
  readonly mayCall: MayCall;
  /** Messages that were stored: costs are told by 1,000 of them. */
  recordTurns(scope: Scope, turns: number): void;
  /** How the budgets of a project stand, and of a user of it. */
  budgets(whose: SpendingOwner): Promise<BudgetState[]>;
  /** The ledger, with all in it that was told of. */
  ledger(): Promise<Calls>;
  /** Takes a user's name away, from calls that are not written yet too. */
  anonymizeUser(scope: Scope): Promise<void>;
  /** Removes calls that have been kept for long enough; gives how many. */
  cleanUp(): Promise<number>;
  /** Writes what waits, and nothing more after that. */
  close(): Promise<void>;
}

export interface CostOptions {
  /** Prices that go before the listed ones. */
  readonly prices?: readonly Price[];
  readonly budgets?: Budgets;
  /** How long calls are kept, in days (400). */
  readonly keepDays?: number;
  /** What calls are dated, priced and held to budgets by; the memory's own, where absent. */
  readonly clock?: Clock;
}

interface CostPorts {
  readonly calls: Calls;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
}

const KEPT_DAYS = 400;
/** The project of a call that names nobody. */
const UNOWNED_PROJECT = "";

/** Counts, prices and bounds the calls to models. A ledger that fails never fails a call. */
export function createCostTracker(ports: CostPorts, options: CostOptions = {}): CostTracker {
  const { calls, ids, meter = NO_METER, tracer = NO_TRACER } = ports;
  const { prices = [], keepDays = KEPT_DAYS, clock = ports.clock } = options;
  const budgets = checkBudgets(options.budgets ?? {});
  const holders = findLimitedHolders(budgets);
  const writer = createLedgerWriter(calls, meter);
  const reserved = createReservations(clock, prices);
  const totals = createSpendingTotals(calls, clock, writer);

  const states = async ({ of, owner: whose }: HolderOwner): Promise<BudgetState[]> =>
    toBudgetStates(budgets, of, await totals.read(whose), reserved.sumFor(whose), clock());

  return {
    onCall(report, scope) {
      const at = clock().toISOString();
      const call = toModelCall(report, scope, { id: ids(), at, cost: computeCost(report, at, prices) });
      recordCallMetrics(meter, call);
      traceCall(tracer, call);
      // What a budget stopped had nothing reserved, and what never left this machine has no place in the ledger.
      if (report.outcome === "over_budget") return;
      reserved.settle(report.purpose, scope);
      if (report.outcome === "not_tried") return;
      reserved.learn(call);
      totals.count(call);
      writer.note(call);
    },

    async mayCall(purpose, scope, size) {
      if (purpose === "chat" || holders.length === 0) return;
      const asked = holdersOf(scope).filter(({ of }) => holders.includes(of));
      const read = await Promise.all(asked.map(({ owner: whose }) => totals.read(whose)));
      // One step from here to the reservation: of two calls at once, the second sees what the first has reserved.
      const now = clock();
      const standing = asked.flatMap(({ of, owner: whose }, i) => {
        const spent = totals.peek(whose) ?? read[i];
        return spent ? toBudgetStates(budgets, of, spent, reserved.sumFor(whose), now) : [];
      });
      const gone = standing.find(({ left }) => left <= 0);
      if (!gone) return reserved.add(purpose, scope, size);
      meter.count("memory_budget_stops_total", { of: gone.of, per: gone.per, unit: gone.unit });
      throw createBudgetError(gone);
    },

    recordTurns(scope, turns) {
      meter.count("memory_turns_total", {}, turns);
      if (turns > 0) writer.noteTurns({ ...toOwner(scope), day: clock().toISOString().slice(0, 10), turns });
    },

    async budgets({ project, user }) {
      const asked = user === undefined ? [toProjectHolder(project)] : holdersOf({ project, user });
      return (await Promise.all(asked.filter(({ of }) => holders.includes(of)).map(states))).flat();
    },

    async ledger() {
      await writer.flush();
      return calls;
    },

    async anonymizeUser(scope) {
      await writer.runExclusive(() => calls.unname(toOwner(scope)));
      totals.drop(toOwner(scope));
    },

    cleanUp: () => calls.removeBefore(new Date(clock().getTime() - keepDays * 86_400_000).toISOString()),

    close: writer.close,
  };
}

interface HolderOwner {
  readonly of: BudgetHolder;
  readonly owner: SpendingOwner;
}

function toProjectHolder(project: string): HolderOwner {
  return { of: "project", owner: { project } };
}

function holdersOf(whose: CallOwner = { project: UNOWNED_PROJECT }): HolderOwner[] {
  const { project, user } = whose;
  return [
    toProjectHolder(project),
    ...(user === undefined ? [] : [{ of: "user", owner: { project, user } } as const]),
  ];
}

function toOwner({ project, user }: Scope): { project: string; user: string } {
  return { project, user };
}

/** A client of the proxy can write anything in the place of a model: what is no name goes no further. */
function sanitizeModelName(given: string): string {
  return /^[\w.:/@+-]{1,200}$/.test(given) ? given : "other";
}

/** Field by field: what is no part of a call gets no further. */
function toModelCall(
  { purpose, model, host, ms, outcome, units, tokensIn, tokensCached, tokensOut, isEstimated }: CallReport,
  owner: CallOwner | undefined,
  { id, at, cost }: { id: string; at: string; cost: number | undefined },
): ModelCall {
  const { project, user } = owner ?? { project: UNOWNED_PROJECT };
  const whose = { project, ...(user === undefined ? {} : { user }) };
  const numbers = { ms, units, tokensIn, tokensCached, tokensOut };
  return {
    ...{
      id,
      at,
      ...whose,
      purpose,
      model: sanitizeModelName(model),
      host: sanitizeModelName(host),
      outcome,
      ...numbers,
    },
    ...(isEstimated ? { isEstimated } : {}),
    ...(cost === undefined ? {} : { cost }),
  };
}
