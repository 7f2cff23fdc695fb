import { invalid } from "../errors.ts";
import type { Kind } from "./memory.ts";

/**
 * The purposes of model calls. `chat` is the conversation that the proxy forwards; it is not Keepsake's own,
 * but it is counted.
 */
export const CALL_PURPOSES = ["understand", "answer", "embed", "rerank", "describe", "chat"] as const;
export type CallPurpose = (typeof CALL_PURPOSES)[number];

/**
 * How a call ended. `aborted`: the caller cancelled it. `over_budget` and `not_tried` (open circuit breaker)
 * never left this machine.
 */
export const CALL_OUTCOMES = [
  "ok",
  "invalid",
  "refused",
  "cut",
  "rate_limited",
  "timeout",
  "unreachable",
  "rejected",
  "failed",
  "aborted",
  "over_budget",
  "not_tried",
] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** Tokens as the server counts them. If it reports none, they are estimated and marked as such. */
export interface TokenUsage {
  /** All input tokens, including cached ones. */
  readonly tokensIn: number;
  /** Of these, tokens from the provider's prompt cache. */
  readonly tokensCached: number;
  readonly tokensOut: number;
  readonly isEstimated?: boolean;
}

/** One request to a model's server, reported by its adapter. It contains no user text. */
export interface CallReport extends TokenUsage {
  /** What the call was for. */
  readonly purpose: CallPurpose;
  /** The model, as its server names it. */
  readonly model: string;
  /** The server's host. */
  readonly host: string;
  /** From the request to the last byte, in ms. */
  readonly ms: number;
  /** How the call ended. */
  readonly outcome: CallOutcome;
  /** The number of texts or turns it covered. */
  readonly units: number;
}

/** A call as the ledger stores it. */
export interface ModelCall extends CallReport {
  /** A UUIDv7. */
  readonly id: string;
  /** The project that pays. */
  readonly project: string;
  /** Absent if it covered several users, or none. */
  readonly user?: string;
  /** ISO 8601. */
  readonly at: string;
  /** US dollars by that day's price table; absent if the model has no price. */
  readonly cost?: number;
}

/** A model's price from a day on, in US dollars per million tokens. */
export interface Price {
  /**
   * The server's name for the model, without a version date. A final "*" matches any rest ("llama3*", "*").
   */
  readonly model: string;
  /** The server's host ("localhost:11434"), if the price applies only there. */
  readonly host?: string;
  /** The first day of the price, "2024-07-18"; unlimited if absent. */
  readonly from?: string;
  /** Price of input. */
  readonly in: number;
  /** Price of cached input; default: `in`. */
  readonly cached?: number;
  /** Absent for a model that only embeds. */
  readonly out?: number;
}

type PriceRow = readonly [
  model: string,
  from: string,
  input: number,
  cached: number | undefined,
  output: number,
];

/**
 * OpenAI's list prices for standard processing, each from its announced day on. Sources:
 * openai.com/api/pricing and the announcements of the models. Prompt caching began on 2024-10-01; cached
 * input then cost half, and less for later models.
 */
const LISTED: readonly PriceRow[] = [
  ["gpt-3.5-turbo", "2024-01-25", 0.5, undefined, 1.5],
  ["gpt-4", "2023-03-14", 30, undefined, 60],
  ["gpt-4-turbo", "2024-04-09", 10, undefined, 30],
  ["gpt-4o", "2024-05-13", 5, undefined, 15],
  ["gpt-4o", "2024-10-02", 2.5, 1.25, 10],
  ["gpt-4o-mini", "2024-07-18", 0.15, undefined, 0.6],
  ["gpt-4o-mini", "2024-10-01", 0.15, 0.075, 0.6],
  ["gpt-4.1", "2025-04-14", 2, 0.5, 8],
  ["gpt-4.1-mini", "2025-04-14", 0.4, 0.1, 1.6],
  ["gpt-4.1-nano", "2025-04-14", 0.1, 0.025, 0.4],
  ["gpt-5", "2025-08-07", 1.25, 0.125, 10],
  ["gpt-5-mini", "2025-08-07", 0.25, 0.025, 2],
  ["gpt-5-nano", "2025-08-07", 0.05, 0.005, 0.4],
  ["gpt-5-chat-latest", "2025-08-07", 1.25, 0.125, 10],
  ["gpt-5.1", "2025-11-13", 1.25, 0.125, 10],
  ["o1", "2024-12-17", 15, 7.5, 60],
  ["o3-mini", "2025-01-31", 1.1, 0.55, 4.4],
  ["o3", "2025-04-16", 10, 2.5, 40],
  ["o3", "2025-06-10", 2, 0.5, 8],
  ["o4-mini", "2025-04-16", 1.1, 0.275, 4.4],
  ["text-embedding-ada-002", "2023-06-13", 0.1, undefined, 0],
  ["text-embedding-3-small", "2024-01-25", 0.02, undefined, 0],
  ["text-embedding-3-large", "2024-01-25", 0.13, undefined, 0],
];

/** The built-in list prices. Any other model has no cost until a price is configured. */
export const LIST_PRICES: readonly Price[] = LISTED.map(([model, from, input, cached, out]) => ({
  model,
  from,
  in: input,
  ...(cached === undefined ? {} : { cached }),
  out,
}));

/** The part of a call that determines its price. */
export interface PricedCall extends TokenUsage {
  readonly model: string;
  readonly host: string;
}

/**
 * The cost of a call on a day (ISO 8601), in US dollars; undefined if no price is known.
 *
 * The caller's prices take precedence over list prices. Then a price for one host precedes one for all hosts,
 * the longest name precedes others, and the newest precedes older ones.
 */
export function computeCost(
  call: PricedCall,
  at: string,
  ownPrices: readonly Price[] = [],
): number | undefined {
  const price = findPrice(call, at, ownPrices) ?? findPrice(call, at, LIST_PRICES);
  if (!price) return undefined;
  const cached = Math.min(call.tokensCached, call.tokensIn);
  const fresh = call.tokensIn - cached;
  return (fresh * price.in + cached * (price.cached ?? price.in) + call.tokensOut * (price.out ?? 0)) / 1e6;
}

function findPrice(
  { model, host }: Pick<PricedCall, "model" | "host">,
  at: string,
  prices: readonly Price[],
): Price | undefined {
  const names = [model, toModelFamily(model)];
  const fitting = prices
    .filter((price) => price.host === undefined || price.host === host)
    .filter((price) => price.from === undefined || price.from <= at.slice(0, 10))
    .filter((price) => names.some((name) => matchesModel(price.model, name)));
  return fitting.toSorted(compareFit)[0];
}

function compareFit(one: Price, other: Price): number {
  return (
    Number(other.host !== undefined) - Number(one.host !== undefined) ||
    Number(one.model.endsWith("*")) - Number(other.model.endsWith("*")) ||
    other.model.length - one.model.length ||
    ((other.from ?? "") > (one.from ?? "") ? 1 : -1)
  );
}

function matchesModel(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Removes the version: "gpt-4o-mini-2024-07-18" becomes "gpt-4o-mini", "gpt-4-0613" becomes "gpt-4". */
export function toModelFamily(model: string): string {
  return model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{4})$/, "");
}

/** A spending limit for a period. The first limit reached applies. */
export interface Limit {
  /** US dollars, of the calls that have a price. */
  readonly usd?: number;
  /** Input and output tokens. */
  readonly tokens?: number;
}

export const BUDGET_PERIODS = ["day", "month"] as const;
/** Calendar periods, in UTC. */
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

export type BudgetLimits = { readonly [period in BudgetPeriod]?: Limit };

/**
 * Budgets for Keepsake's own calls: understanding, answers and embeddings. The chat that a proxy forwards is
 * not included.
 */
export interface Budgets {
  /** For each project. */
  readonly project?: BudgetLimits;
  /** For each user. */
  readonly user?: BudgetLimits;
}

export const BUDGET_HOLDERS = ["project", "user"] as const;
export type BudgetHolder = (typeof BUDGET_HOLDERS)[number];

/** The state of a budget. */
export interface BudgetState {
  /** Whether the budget is a project's or a user's. */
  readonly of: BudgetHolder;
  /** The period: a calendar day or month, in UTC. */
  readonly per: BudgetPeriod;
  /** What is counted: "usd" or "tokens". */
  readonly unit: keyof Limit;
  /** The limit for the period, in `unit`. */
  readonly limit: number;
  /** What was spent in the current period, in `unit`. */
  readonly spent: number;
  /** Never below 0. */
  readonly left: number;
  /** When the next period begins, ISO 8601. */
  readonly until: string;
}

/** The starts of the current day and month, and of the next ones, in UTC, ISO 8601. */
export function computePeriods(at: Date): {
  readonly [period in BudgetPeriod]: { readonly from: string; readonly to: string };
} {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const start = (...parts: [number, number, number]): string => new Date(Date.UTC(...parts)).toISOString();
  return {
    day: { from: start(year, month, day), to: start(year, month, day + 1) },
    month: { from: start(year, month, 1), to: start(year, month + 1, 1) },
  };
}

/** Returns the budgets. Throws `invalid_input` for a limit that is not a number or is below 0. */
export function checkBudgets(budgets: Budgets): Budgets {
  for (const holder of BUDGET_HOLDERS) {
    for (const period of BUDGET_PERIODS) {
      for (const [unit, limit] of Object.entries(budgets[holder]?.[period] ?? {})) {
        const isFine = typeof limit === "number" && limit >= 0 && Number.isFinite(limit);
        if (!isFine || (unit !== "usd" && unit !== "tokens")) {
          throw invalid(`budgets: ${holder}.${period} accepts usd and tokens: numbers of at least 0.`);
        }
      }
    }
  }
  return budgets;
}

/** Totals over model calls. */
export interface CallTotals {
  /** The number of calls. */
  readonly calls: number;
  /** Of these, calls whose outcome is not `ok`. */
  readonly failed: number;
  /** Input tokens, including cached ones. */
  readonly tokensIn: number;
  /** Of these, tokens from the provider's prompt cache. */
  readonly tokensCached: number;
  /** Output tokens. */
  readonly tokensOut: number;
  /** US dollars, of the calls that have a price. */
  readonly cost: number;
  /** Calls without a price: their model is in no price table. */
  readonly unpriced: number;
}

/** A row of a usage table, with the columns that it is grouped by. */
export interface UsageRow extends CallTotals {
  /** What the calls were for. */
  readonly purpose?: CallPurpose;
  /** The model, as its server names it. */
  readonly model?: string;
  /** UTC. */
  readonly day?: string;
}

export const USAGE_BY = ["purpose", "model", "day"] as const;
/** How usage is grouped. */
export type UsageBy = (typeof USAGE_BY)[number];

/** Usage of models in a period. `chat`, which a proxy forwarded, is separate: it is not Keepsake's own. */
export interface Usage extends CallTotals {
  /** ISO 8601; from the beginning if absent. */
  readonly since?: string;
  /** The end of the period, exclusive (ISO 8601). */
  readonly until: string;
  /** Messages stored in the period. */
  readonly turns: number;
  /** US dollars per 1,000 messages; absent if there were none. */
  readonly costPerThousandTurns?: number;
  /** The chat that a proxy forwarded. */
  readonly chat: CallTotals;
  /** The most expensive first, including the chat. */
  readonly rows: readonly UsageRow[];
  /** Calls that failed, by purpose, model and outcome. */
  readonly failures: readonly {
    readonly purpose: CallPurpose;
    readonly model: string;
    readonly outcome: CallOutcome;
    readonly calls: number;
  }[];
  /** The current budgets. */
  readonly budgets: readonly BudgetState[];
}

/** A project: number of users, and cost. */
export interface ProjectStats {
  /** The number of users. */
  readonly users: number;
  /** Usage of models by the whole project. */
  readonly usage: Usage;
}

/** A user: stored memories, and cost. */
export interface UserStats {
  /** All memories. */
  readonly total: number;
  /** Memories that are current. */
  readonly current: number;
  /** Memories that were replaced or ended. */
  readonly superseded: number;
  /** Memories that were never true, or were removed. */
  readonly retracted: number;
  /** Of current memories. */
  readonly kinds: { readonly [kind in Kind]: number };
  /** Current memories that wait for a review, because something that they depend on has changed. */
  readonly review: number;
  /** Stored associations between memories. */
  readonly links: number;
  /** Stored messages. */
  readonly messages: number;
  /** Of these, messages that wait to be understood. */
  readonly pending: number;
  /** The user's revision. */
  readonly revision: number;
  /** Time of the last change, ISO 8601. */
  readonly changedAt?: string;
  /** Usage of models for this user. */
  readonly usage: Usage;
}
