import type { CallOutcome, CallPurpose, CallReport } from "../../../domain/model-call.ts";
import { estimateTokens } from "../../../domain/tokens.ts";
import type { UpstreamReply } from "../replies/reply.ts";
import type { RelayEnding } from "./relay.ts";

/** What a call to the upstream came to, for the ledger. Tokens are estimated where the server does not count them. */
export function createCallReport(call: {
  readonly purpose: CallPurpose;
  readonly model: string;
  readonly host: string;
  readonly ms: number;
  readonly status: number;
  readonly ending: RelayEnding;
  readonly sent: string;
  readonly reply: UpstreamReply;
}): CallReport {
  const { purpose, host, ms, reply, status, ending } = call;
  const isAnswer = status < 300;
  const usage = reply.usage ?? {
    tokensIn: isAnswer ? estimateTokens(call.sent) : 0,
    tokensCached: 0,
    tokensOut: estimateTokens(reply.text),
    isEstimated: true,
  };
  const outcome = isAnswer ? toOutcome(reply, ending, purpose) : toRefusedOutcome(status);
  return { purpose, model: reply.model ?? call.model, host, ms, outcome, units: 1, ...usage };
}

function toOutcome(
  { isRefusal, isComplete: isWhole }: UpstreamReply,
  ending: RelayEnding,
  purpose: CallPurpose,
): CallOutcome {
  if (ending === "gone") return "aborted";
  if (ending === "cut" || (purpose === "chat" && !isWhole)) return "cut";
  return isRefusal ? "refused" : "ok";
}

export function toRefusedOutcome(status: number): CallOutcome {
  if (status === 429) return "rate_limited";
  return status < 500 ? "rejected" : "failed";
}
