import type { CallOutcome, CallPurpose, TokenUsage } from "../../domain/model-call.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call.ts";
import { retryWithBackoff } from "../shared/retry.ts";
import type { ModelServer } from "./server.ts";
import type { RequestRefusal, TransientFailure } from "./troubles.ts";

/** What is asked of a server, as the ledger wants to know it. */
export interface ServerCall {
  readonly purpose: CallPurpose;
  readonly model: string;
  readonly units: number;
  /** Tokens of what is sent, estimated, and of the answer at most. */
  readonly tokensIn: number;
  readonly tokensOut: number;
}

/** An answer, and how it is to be set down: one in no usable form is an answer too. */
export interface ServerAnswer<Value> {
  readonly value: Value;
  readonly outcome: Extract<CallOutcome, "ok" | "invalid" | "refused" | "cut">;
  readonly usage: TokenUsage;
}

export type CallAttempt<Value> = ServerAnswer<Value> | TransientFailure | RequestRefusal;

/** How long a request may take, and the signal that ends it. */
export interface RequestLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const NO_TOKENS: TokenUsage = { tokensIn: 0, tokensCached: 0, tokensOut: 0 };

/**
 * Asks a server, and again where a trouble may pass, until the deadline: within the budget, past the circuit, and with a
 * report of each request. Throws the last trouble, or the reason of the signal.
 */
export async function callServer<Value>(
  server: ModelServer,
  call: ServerCall,
  options: CallOptions,
  once: (limits: RequestLimits) => Promise<CallAttempt<Value>>,
): Promise<Value> {
  await checkBudget(server, call, options);
  return retryWithBackoff(server, options.signal, async (timeoutMs) => {
    const running = beginCall(server, call, options);
    let tried: CallAttempt<Value>;
    try {
      tried = await once({ timeoutMs, signal: options.signal });
    } catch (error) {
      running.end(options.signal?.aborted ? "aborted" : "failed");
      throw error;
    }
    if ("refused" in tried) {
      running.end("rejected");
      throw tried.refused;
    }
    if ("failed" in tried) running.end(tried.outcome);
    else running.end(tried.outcome, tried.usage);
    return tried;
  });
}

/** Throws `over_quota` where a budget is used up. */
export async function checkBudget(
  server: ModelServer,
  call: ServerCall,
  options: CallOptions,
): Promise<void> {
  options.signal?.throwIfAborted();
  try {
    const { purpose, model, tokensIn, tokensOut } = call;
    await server.mayCall?.(purpose, options.scope, { model, tokensIn, tokensOut });
  } catch (error) {
    if (isMemoryError(error) && error.code === "over_quota")
      reportCall(server, call, options, "over_budget", 0);
    throw error;
  }
}

/** A request that is on its way. */
export interface RunningCall {
  end(outcome: CallOutcome, usage?: TokenUsage): void;
}

/** Lets a request out; throws `unavailable` where the circuit is open. */
export function beginCall(server: ModelServer, call: ServerCall, options: CallOptions): RunningCall {
  try {
    server.circuit.enter();
  } catch (error) {
    reportCall(server, call, options, "not_tried", 0);
    throw error;
  }
  const begun = performance.now();
  let isOver = false;
  return {
    end(outcome, usage) {
      if (isOver) return;
      isOver = true;
      server.circuit.recordOutcome(CIRCUIT_OUTCOMES[outcome] ?? "well");
      reportCall(server, call, options, outcome, performance.now() - begun, usage);
    },
  };
}

/** A server that answers is there, whatever it answers; but for the troubles that mean it cannot answer now. */
const CIRCUIT_OUTCOMES: { readonly [outcome in CallOutcome]?: "badly" | "unknown" } = {
  failed: "badly",
  timeout: "badly",
  unreachable: "badly",
  rate_limited: "badly",
  aborted: "unknown",
};

function reportCall(
  server: ModelServer,
  { purpose, model, units }: ServerCall,
  { scope }: CallOptions,
  outcome: CallOutcome,
  ms: number,
  usage: TokenUsage = NO_TOKENS,
): void {
  server.onCall?.({ purpose, model, units, ...usage, host: server.url.host, ms, outcome }, scope);
}
