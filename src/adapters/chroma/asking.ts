import { isMemoryError, MemoryError } from "../../errors.ts";
import { type RetryPolicy, retryWithBackoff } from "../shared/retry.ts";
import { withTimeout } from "../shared/within.ts";

/** How Chroma is asked: what is asked, and whoever breaks it off. */
export interface ChromaRequester {
  /** Asks for something; gives nothing where what was asked about is not there. */
  request<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value | undefined>;
  /**
   * As `ask`, for what writes to a collection, and for what looks whether something is gone from it. Chroma's client cannot be
   * told to stop: a write that took too long may still arrive, and must not arrive behind a later one. So the next waits for it.
   */
  requestInOrder<Value>(
    name: string,
    work: () => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value | undefined>;
}

/** Every request has `timeoutMs`; only one that was one too many (429) is tried again, until `deadlineMs`. */
export function createChromaRequester(patience: RetryPolicy): ChromaRequester {
  /** What is under way, and may go on when nobody waits for it any more, by collection. */
  const late = new Map<string, Promise<unknown>>();

  const ask = <Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value | undefined> =>
    retryWithBackoff<Value | undefined>(patience, signal, async (timeoutMs) => {
      try {
        return { value: await withTimeout(work(), timeoutMs, () => createTimeoutError(timeoutMs), signal) };
      } catch (error) {
        signal?.throwIfAborted();
        if (isMemoryError(error)) throw error;
        if (getErrorName(error) === "ChromaNotFoundError") return { value: undefined };
        if (getErrorName(error) === "ChromaRateLimitError") return { failed: createRateLimitError() };
        throw toChromaError(error);
      }
    });

  const remembered = <Value>(name: string, work: () => Promise<Value>) => {
    const begun = work();
    const settled = Promise.allSettled([begun, late.get(name)]);
    late.set(name, settled);
    void settled.then(() => late.get(name) === settled && late.delete(name));
    return begun;
  };

  return {
    request: ask,
    async requestInOrder(name, work, signal) {
      const before = late.get(name);
      if (before)
        await withTimeout(before, patience.timeoutMs, () => createTimeoutError(patience.timeoutMs), signal);
      return ask(() => remembered(name, work), signal);
    },
  };
}

function createTimeoutError(timeoutMs: number): MemoryError {
  return new MemoryError("unavailable", `Chroma did not answer within ${timeoutMs} ms.`);
}

function createRateLimitError(): MemoryError {
  return new MemoryError("unavailable", "Chroma has too many requests. Try again later.");
}

function getErrorName(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** By name: the client's package is not ours to import. What its messages say is left out, for they repeat what was sent. */
function toChromaError(error: unknown): MemoryError {
  const name = getErrorName(error);
  if (/^Chroma(Auth|Unauthorized|Forbidden)Error$/.test(name)) {
    return new MemoryError("forbidden", "Chroma refuses the credentials. Check its token.", { cause: name });
  }
  if (/^(Chroma(Client|Value|Unique)|Invalid(Collection|Argument))Error$/.test(name)) {
    return new MemoryError("invalid_input", `Chroma refuses the request (${name}).`, { cause: name });
  }
  return new MemoryError("unavailable", "Chroma is not to be reached now. Is its server running?", {
    cause: name,
  });
}
