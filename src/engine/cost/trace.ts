import type { CallOutcome, CallPurpose, CallReport } from "../../domain/model-call.ts";
import type { Tracer } from "../../ports/tracer.ts";

/** What the semantic conventions for generative AI call it. */
const OPERATION_NAMES: { readonly [purpose in CallPurpose]: string } = {
  understand: "chat",
  answer: "chat",
  embed: "embeddings",
  chat: "chat",
};
const SUCCESS_OUTCOMES: ReadonlySet<CallOutcome> = new Set(["ok", "refused", "cut"]);

/** A span of a call that is over, within what asked for it. */
export function traceCall(tracer: Tracer, report: CallReport): void {
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
