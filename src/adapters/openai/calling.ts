import type { Outcome, Purpose, TokenUsage } from "../../domain/model-call.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call.ts";
import { patiently } from "../shared/retry.ts";
import type { Server } from "./server.ts";
import type { Failed, Refused } from "./troubles.ts";

/** What is asked of a server, as the ledger wants to know it. */
export interface Call {
  readonly purpose: Purpose;
  readonly model: string;
  readonly units: number;
  /** Tokens of what is sent, estimated, and of the answer at most. */
  readonly tokensIn: number;
  readonly tokensOut: number;
}

/** An answer, and how it is to be set down: one in no usable form is an answer too. */
export interface Answered<Value> {
  readonly value: Value;
  readonly outcome: Extract<Outcome, "ok" | "invalid" | "refused" | "cut">;
  readonly usage: TokenUsage;
}

export type Tried<Value> = Answered<Value> | Failed | Refused;

/** How long a request may take, and the signal that ends it. */
export interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const NO_TOKENS: TokenUsage = { tokensIn: 0, tokensCached: 0, tokensOut: 0 };

/**
 * Asks a server, and again where a trouble may pass, until the deadline: within the budget, past the circuit, and with a
 * report of each request. Throws the last trouble, or the reason of the signal.
 */
export async function called<Value>(
  server: Server,
  call: Call,
  options: CallOptions,
  once: (limits: Limits) => Promise<Tried<Value>>,
): Promise<Value> {
  await admitted(server, call, options);
  return patiently(server, options.signal, async (timeoutMs) => {
    const running = begin(server, call, options);
    let tried: Tried<Value>;
    try {
      tried = await once({ timeoutMs, signal: options.signal });
    } catch (error) {
      running.ended(options.signal?.aborted ? "aborted" : "failed");
      throw error;
    }
    if ("refused" in tried) {
      running.ended("rejected");
      throw tried.refused;
    }
    if ("failed" in tried) running.ended(tried.outcome);
    else running.ended(tried.outcome, tried.usage);
    return tried;
  });
}

/** Throws `over_quota` where a budget is used up. */
export async function admitted(server: Server, call: Call, options: CallOptions): Promise<void> {
  options.signal?.throwIfAborted();
  try {
    const { purpose, model, tokensIn, tokensOut } = call;
    await server.mayCall?.(purpose, options.scope, { model, tokensIn, tokensOut });
  } catch (error) {
    if (isMemoryError(error) && error.code === "over_quota") report(server, call, options, "over_budget", 0);
    throw error;
  }
}

/** A request that is on its way. */
export interface Running {
  ended(outcome: Outcome, usage?: TokenUsage): void;
}

/** Lets a request out; throws `unavailable` where the circuit is open. */
export function begin(server: Server, call: Call, options: CallOptions): Running {
  try {
    server.circuit.enter();
  } catch (error) {
    report(server, call, options, "not_tried", 0);
    throw error;
  }
  const begun = performance.now();
  let isOver = false;
  return {
    ended(outcome, usage) {
      if (isOver) return;
      isOver = true;
      server.circuit.left(HOW_IT_WENT[outcome] ?? "well");
      report(server, call, options, outcome, performance.now() - begun, usage);
    },
  };
}

/** A server that answers is there, whatever it answers; but for the troubles that mean it cannot answer now. */
const HOW_IT_WENT: { readonly [outcome in Outcome]?: "badly" | "unknown" } = {
  failed: "badly",
  timeout: "badly",
  unreachable: "badly",
  rate_limited: "badly",
  aborted: "unknown",
};

function report(
  server: Server,
  { purpose, model, units }: Call,
  { scope }: CallOptions,
  outcome: Outcome,
  ms: number,
  usage: TokenUsage = NO_TOKENS,
): void {
  server.onCall?.({ purpose, model, units, ...usage, host: server.url.host, ms, outcome }, scope);
}
