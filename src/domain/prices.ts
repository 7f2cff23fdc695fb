import type { TokenUsage } from "./model-call.ts";

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
