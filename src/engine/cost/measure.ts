import type { ModelCall } from "../../domain/model-call.ts";
import { LIST_PRICES, toModelFamily } from "../../domain/prices.ts";
import type { Meter } from "../../ports/meter.ts";

const LISTED_MODELS: ReadonlySet<string> = new Set(LIST_PRICES.map(({ model }) => model));

/** Counts a call in the metrics. No name of a project or user goes there. */
export function recordCallMetrics(meter: Meter, call: ModelCall): void {
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

/** The models of our own calls stand in the settings; that of a chat is what a client wrote, and is told where it is a known one. */
function metricModelOf({ purpose, model }: ModelCall): string {
  const family = toModelFamily(model);
  return purpose === "chat" && !LISTED_MODELS.has(family) ? "other" : family;
}
