import { invalid } from "../errors.ts";
import type { Kind } from "./memory.ts";

/** What a model is asked for. `chat` is the conversation that a proxy passes on; it is not ours, but it is seen and counted. */
export const CALL_PURPOSES = ["understand", "answer", "embed", "chat"] as const;
export type CallPurpose = (typeof CALL_PURPOSES)[number];

/**
 * How a call ended. `aborted`: whoever asked no longer wanted it. `over_budget` and `not_tried` (the circuit was open)
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

/** Tokens as the server counted them; estimated, and marked so, where it does not say. */
export interface TokenUsage {
  /** All that was sent, with what came from the provider's cache. */
  readonly tokensIn: number;
  /** Of these, from the provider's prompt cache. */
  readonly tokensCached: number;
  readonly tokensOut: number;
  readonly isEstimated?: boolean;
}

/** One request to a model's server, as the adapter that made it tells of it. No text of anybody's is in it. */
export interface CallReport extends TokenUsage {
  readonly purpose: CallPurpose;
  readonly model: string;
  /** The server's host. */
  readonly host: string;
  /** From the request to the last byte, in ms. */
  readonly ms: number;
  readonly outcome: CallOutcome;
  /** How many texts or turns it was for. */
  readonly units: number;
}

/** A call as the ledger keeps it. */
export interface ModelCall extends CallReport {
  readonly id: string;
  readonly project: string;
  /** Absent where it was for several users, or for nobody's. */
  readonly user?: string;
  /** ISO 8601. */
  readonly at: string;
  /** US dollars by the price table of that day; absent where the model is not in it. */
  readonly cost?: number;
}

/** What a model costs from a day on, in US dollars per million tokens. */
export interface Price {
  /** As its server names it, without the date of a version; "*" at its end stands for any rest ("llama3*", "*"). */
  readonly model: string;
  /** The server's host ("localhost:11434"), where the price is not everybody's. */
  readonly host?: string;
  /** The first day it holds, "2024-07-18"; always, where absent. */
  readonly from?: string;
  readonly in: number;
  /** What comes from the provider's prompt cache; `in`, where absent. */
  readonly cached?: number;
  /** None, for a model that only embeds. */
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
 * OpenAI's list prices for standard processing, each from the day on that it was announced for: openai.com/api/pricing and
 * the announcements of the models. Prompt caching began on 2024-10-01; cached input cost half then, less for later models.
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

/** The list prices that are known here. A model that is not among them has no cost until somebody says what it costs. */
export const LIST_PRICES: readonly Price[] = LISTED.map(([model, from, input, cached, out]) => ({
  model,
  from,
  in: input,
  ...(cached === undefined ? {} : { cached }),
  out,
}));

/** What a call is priced by. */
export interface PricedCall extends TokenUsage {
  readonly model: string;
  readonly host: string;
}

/**
 * What a call cost on a day (ISO 8601), in US dollars; nothing where no price is known. The caller's own prices go before
 * those that are listed, a price for one host before one for all, the longest name before others, then the newest.
 */
export function computeCost(call: PricedCall, at: string, own: readonly Price[] = []): number | undefined {
  const price = findPrice(call, at, own) ?? findPrice(call, at, LIST_PRICES);
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

/** "gpt-4o-mini-2024-07-18" is a "gpt-4o-mini", and so is "gpt-4-0613" a "gpt-4". */
export function toModelFamily(model: string): string {
  return model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{4})$/, "");
}

/** What may be spent in a time; what is reached first stops. */
export interface Limit {
  /** US dollars, of the calls that have a price. */
  readonly usd?: number;
  /** Tokens, in and out. */
  readonly tokens?: number;
}

export const BUDGET_PERIODS = ["day", "month"] as const;
/** Of the calendar, in UTC. */
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

export type BudgetLimits = { readonly [period in BudgetPeriod]?: Limit };

/** What Keepsake itself may spend: on understanding, answers and embeddings. The chat that a proxy passes on is not in it. */
export interface Budgets {
  /** Of each project. */
  readonly project?: BudgetLimits;
  /** Of each user. */
  readonly user?: BudgetLimits;
}

export const BUDGET_HOLDERS = ["project", "user"] as const;
export type BudgetHolder = (typeof BUDGET_HOLDERS)[number];

/** How a budget stands. */
export interface BudgetState {
  readonly of: BudgetHolder;
  readonly per: BudgetPeriod;
  readonly unit: keyof Limit;
  readonly limit: number;
  readonly spent: number;
  /** Never below 0. */
  readonly left: number;
  /** When it begins anew, ISO 8601. */
  readonly until: string;
}

/** The beginnings of the day and of the month that a time is in, and of those that follow, in UTC, ISO 8601. */
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

/** `invalid_input` for a limit that is no number, or below 0. */
export function checkBudgets(budgets: Budgets): Budgets {
  for (const holder of BUDGET_HOLDERS) {
    for (const period of BUDGET_PERIODS) {
      for (const [unit, limit] of Object.entries(budgets[holder]?.[period] ?? {})) {
        const isFine = typeof limit === "number" && limit >= 0 && Number.isFinite(limit);
        if (!isFine || (unit !== "usd" && unit !== "tokens")) {
          throw invalid(`budgets: ${holder}.${period} takes usd and tokens, numbers that are not below 0.`);
        }
      }
    }
  }
  return budgets;
}

/** What a number of calls to models came to. */
export interface CallTotals {
  readonly calls: number;
  /** Of these, those that ended otherwise than `ok`. */
  readonly failed: number;
  readonly tokensIn: number;
  /** Of these, from the provider's prompt cache. */
  readonly tokensCached: number;
  readonly tokensOut: number;
  /** US dollars, of the calls that have a price. */
  readonly cost: number;
  /** Calls without one: their model is in no price table. */
  readonly unpriced: number;
}

/** A line of a table: what it is of, by what was asked for. */
export interface UsageRow extends CallTotals {
  readonly purpose?: CallPurpose;
  readonly model?: string;
  /** UTC. */
  readonly day?: string;
}

export const USAGE_BY = ["purpose", "model", "day"] as const;
export type UsageBy = (typeof USAGE_BY)[number];

/** What calls to models came to in a time. `chat`, what a proxy passed on, is apart: it is not Keepsake's own. */
export interface Usage extends CallTotals {
  /** ISO 8601; from the beginning, where absent. */
  readonly since?: string;
  readonly until: string;
  /** Messages that were stored meanwhile. */
  readonly turns: number;
  /** US dollars for 1,000 of them; absent where there were none. */
  readonly costPerThousandTurns?: number;
  readonly chat: CallTotals;
  /** The dearest first; with those of the chat. */
  readonly rows: readonly UsageRow[];
  readonly failures: readonly {
    readonly purpose: CallPurpose;
    readonly model: string;
    readonly outcome: CallOutcome;
    readonly calls: number;
  }[];
  /** As they stand now. */
  readonly budgets: readonly BudgetState[];
}

/** A project: how many users it has, and what they cost. */
export interface ProjectStats {
  readonly users: number;
  readonly usage: Usage;
}

/** A user: what is known, and what it cost. */
export interface UserStats {
  readonly total: number;
  readonly current: number;
  readonly superseded: number;
  readonly retracted: number;
  /** Of those that are current. */
  readonly kinds: { readonly [kind in Kind]: number };
  readonly messages: number;
  /** Of these, how many wait to be understood. */
  readonly pending: number;
  readonly revision: number;
  /** When anything changed last, ISO 8601. */
  readonly changedAt?: string;
  readonly usage: Usage;
}
