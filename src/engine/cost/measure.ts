import type { ModelCall } from "../../domain/model-call.ts";
import type { Meter } from "../../ports/meter.ts";

/** Counts a call in the metrics. No name of a project or user goes there. */
export function measure(meter: Meter, call: ModelCall): void {
  const { purpose, model, outcome, tokensIn, tokensCached, tokensOut, cost } = call;
  const labels = { purpose, model };
  meter.count("llm_calls_total", { ...labels, outcome });
  if (outcome === "over_budget" || outcome === "not_tried") return;
  meter.observe("llm_call_duration_seconds", call.ms / 1000, { ...labels, outcome });
  meter.count("llm_tokens_used_total", { ...labels, type: "input" }, tokensIn - tokensCached);
  meter.count("llm_tokens_used_total", { ...labels, type: "cached_input" }, tokensCached);
  meter.count("llm_tokens_used_total", { ...labels, type: "output" }, tokensOut);
  if (cost === undefined) meter.count("llm_unpriced_calls_total", labels);
  else meter.count("llm_cost_usd_total", labels, cost);
}
