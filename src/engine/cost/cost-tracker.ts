import {
  type BudgetHolder,
  type BudgetState,
  type Budgets,
  type CallOutcome,
  type CallPurpose,
  type CallReport,
  checkBudgets,
  computeCost,
  LIST_PRICES,
  type ModelCall,
  type Price,
  toModelFamily,
} from "../../domain/model-usage.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOwner, Calls, MayCall, OnCall } from "../../ports/language/model-calls.ts";
import type { Clock, Ids } from "../../ports/system.ts";
import { type Meter, NO_METER, NO_TRACER, type Tracer } from "../../ports/telemetry.ts";
import {
  createLedgerWriter,
  createReservations,
  createSpendingTotals,
  findLimitedHolders,
  type SpendingOwner,
  toBudgetStates,
} from "./spending.ts";

/**
 * Tracks the cost of model calls and whether more may be made: the two hooks for adapters, and queries for
 * other callers.
 */
export interface CostTracker {
  readonly onCall: OnCall;
  readonly mayCall: MayCall;
  /** Counts stored messages: costs are reported per 1,000 of them. */
  recordTurns(scope: Scope, turns: number): void;
  /** The state of a project's budgets, and of one of its users'. */
  budgets(whose: SpendingOwner): Promise<BudgetState[]>;
  /** The ledger, after all reported calls are written. */
  ledger(): Promise<Calls>;
  /** Removes a user's name, also from calls that are not written yet. */
  anonymizeUser(scope: Scope): Promise<void>;
  /** Deletes expired calls and gives their number. */
  cleanUp(): Promise<number>;
  /** Writes pending calls, and nothing after that. */
  close(): Promise<void>;
}

/** Prices, budgets and retention of model calls. */
export interface CostOptions {
  /** Prices that override the listed ones. */
  readonly prices?: readonly Price[];
  /** Spending limits; none if absent. */
  readonly budgets?: Budgets;
  /** Retention of calls in days (400). */
  readonly keepDays?: number;
  /** The clock for dates, prices and budgets; the memory's own if absent. */
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
/** The project of a call without an owner. */
const UNOWNED_PROJECT = "";

/** Counts, prices and limits model calls. A failing ledger never fails a call. */
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
      // A call stopped by a budget reserved nothing, and no request left this machine, so it is not in the
      // ledger.
      if (report.outcome === "over_budget") return;
      reserved.settle(report.purpose, scope);
      if (report.outcome === "not_tried") return;
      reserved.learn(call);
      totals.count(call);
      writer.note(call);
    },

    async mayCall(purpose, scope, size) {
      if (purpose === "chat" || holders.length === 0) return;
      const limited = holdersOf(scope).filter(({ of }) => holders.includes(of));
      const read = await Promise.all(limited.map(({ owner: whose }) => totals.read(whose)));
      // No await until the reservation, so that the second of two concurrent calls sees the first one's.
      const now = clock();
      const standing = limited.flatMap(({ of, owner: whose }, i) => {
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
      const wanted = user === undefined ? [toProjectHolder(project)] : holdersOf({ project, user });
      return (await Promise.all(wanted.filter(({ of }) => holders.includes(of)).map(states))).flat();
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

/** A client of the proxy can send any text as the model; only valid names are kept. */
function sanitizeModelName(given: string): string {
  return /^[\w.:/@+-]{1,200}$/.test(given) ? given : "other";
}

/** Field by field, so that nothing else gets through. */
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

/** The error for a caller whose budget is used up. It names no one. */
function createBudgetError({ of, per, unit, limit, until }: BudgetState): MemoryError {
  const amount = unit === "usd" ? `$${limit}` : `${limit.toLocaleString("en")} tokens`;
  return new MemoryError(
    "over_quota",
    `the budget of this ${of} for the ${per} (${amount}) is used up. Models are asked again from ${until} on; ` +
      `KEEPSAKE_BUDGET_${of.toUpperCase()}_${per.toUpperCase()}_${unit.toUpperCase()} sets it.`,
  );
}

const LISTED_MODELS: ReadonlySet<string> = new Set(LIST_PRICES.map(({ model }) => model));

/** Counts a call in the metrics, without the name of a project or user. */
function recordCallMetrics(meter: Meter, call: ModelCall): void {
  const { purpose, outcome, tokensIn, tokensCached, tokensOut, cost } = call;
  const labels = { purpose, model: metricModelOf(call) };
  meter.count("llm_calls_total", { ...labels, outcome });
  if (outcome === "over_budget" || outcome === "not_tried") return;
  meter.observe("llm_call_duration_seconds", call.ms / 1000, labels);
  meter.count("llm_tokens_used_total", { ...labels, type: "input" }, Math.max(0, tokensIn - tokensCached));
  meter.count("llm_tokens_used_total", { ...labels, type: "cached_input" }, tokensCached);
  meter.count("llm_tokens_used_total", { ...labels, type: "output" }, tokensOut);
  if (cost === undefined) meter.count("llm_unpriced_calls_total", labels);
  else meter.count("llm_cost_usd_total", labels, cost);
}

/**
 * The models of our own calls come from the settings. That of a chat comes from a client and is reported only
 * if it is a known one.
 */
function metricModelOf({ purpose, model }: ModelCall): string {
  const family = toModelFamily(model);
  return purpose === "chat" && !LISTED_MODELS.has(family) ? "other" : family;
}

/** Names from the semantic conventions for generative AI. */
const OPERATION_NAMES: { readonly [purpose in CallPurpose]: string } = {
  understand: "chat",
  answer: "chat",
  embed: "embeddings",
  rerank: "rerank",
  describe: "chat",
  chat: "chat",
};
const SUCCESS_OUTCOMES: ReadonlySet<CallOutcome> = new Set(["ok", "refused", "cut"]);

/** Records a span for a finished call, within the span of its caller. */
function traceCall(tracer: Tracer, report: CallReport): void {
  const { purpose, model, host, ms, outcome, tokensIn, tokensOut } = report;
  const operation = OPERATION_NAMES[purpose];
  tracer.over({
    name: `${operation} ${model}`,
    kind: "client",
    attributes: {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": model,
      "gen_ai.usage.input_tokens": tokensIn,
      "gen_ai.usage.output_tokens": tokensOut,
      "server.address": host,
      "keepsake.purpose": purpose,
      "keepsake.outcome": outcome,
    },
    ms,
    ...(SUCCESS_OUTCOMES.has(outcome) ? {} : { error: outcome }),
  });
}
