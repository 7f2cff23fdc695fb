import type { CallReport, Outcome, Purpose } from "../../../domain/model-call.ts";
import { estimateTokens } from "../../../domain/tokens.ts";
import type { Reply } from "../replies/reply.ts";
import type { Ending } from "./relay.ts";

/** What a call to the upstream came to, for the ledger. Tokens are estimated where the server does not count them. */
export function reportOf(call: {
  readonly purpose: Purpose;
  readonly model: string;
  readonly host: string;
  readonly ms: number;
  readonly status: number;
  readonly ending: Ending;
  readonly sent: string;
  readonly reply: Reply;
}): CallReport {
  const { purpose, host, ms, reply, status, ending } = call;
  const isAnswer = status < 300;
  const usage = reply.usage ?? {
    tokensIn: isAnswer ? estimateTokens(call.sent) : 0,
    tokensCached: 0,
    tokensOut: estimateTokens(reply.text),
    isEstimated: true,
  };
  const outcome = isAnswer ? outcomeOf(reply, ending, purpose) : refusedAs(status);
  return { purpose, model: reply.model ?? call.model, host, ms, outcome, units: 1, ...usage };
}

function outcomeOf({ isRefusal, isWhole }: Reply, ending: Ending, purpose: Purpose): Outcome {
  if (ending === "gone") return "aborted";
  if (ending === "cut" || (purpose === "chat" && !isWhole)) return "cut";
  return isRefusal ? "refused" : "ok";
}

export function refusedAs(status: number): Outcome {
  if (status === 429) return "rate_limited";
  return status < 500 ? "rejected" : "failed";
}
