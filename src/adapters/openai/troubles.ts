import type { CallOutcome } from "../../domain/model-call.ts";
import { MemoryError } from "../../errors.ts";
import { isJsonObject } from "./json.ts";

/** A trouble that may pass. */
export interface TransientFailure {
  readonly failed: MemoryError;
  readonly outcome: Extract<CallOutcome, "failed" | "rate_limited" | "timeout" | "unreachable">;
  /** When the server wants to be asked again, where it says so. */
  readonly retryAfterMs?: number;
}

/** A refusal: the same request would meet it again. */
export interface RequestRefusal {
  readonly refused: MemoryError;
  readonly status: number;
  /** What the server said, to find out what it is about; never shown, for it may quote what was sent. */
  readonly said: string;
}

/** What a request that got no answer failed of, in the system's own word where there is one: `fetch` says nothing. */
export function toTransientFailure(error: unknown, place: string, timeoutMs: number): TransientFailure {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return {
      failed: new MemoryError(
        "unavailable",
        `${place} gave no answer within ${timeoutMs} ms. Try again later.`,
      ),
      outcome: "timeout",
    };
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const code = isJsonObject(cause) ? cause.code : undefined;
  const word = typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : "";
  return {
    failed: new MemoryError("unavailable", `${place} cannot be reached${word}. Try again later.`),
    outcome: "unreachable",
  };
}
