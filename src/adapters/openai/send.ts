import { invalid, MemoryError } from "../../errors.ts";
import { parseRetryAfter } from "../shared/retry.ts";
import type { RequestLimits } from "./calling.ts";
import type { ModelServer } from "./server.ts";
import { type RequestRefusal, type TransientFailure, toTransientFailure } from "./troubles.ts";

/** Longer answers than this are none: nobody asked for them. */
const MOST_BYTES = 32_000_000;
/** So much of a refusal is read, to find out what it is about. */
const MOST_OF_A_REFUSAL = 20_000;

/**
 * Sends one request. What may pass (no answer, too many requests, a fault of the server) and what will not (a refusal) is
 * given back; an aborted signal is thrown. Nothing says anything of what was sent, the key or the answer.
 */
export async function sendRequest(
  server: ModelServer,
  body: object,
  { timeoutMs, signal }: RequestLimits,
  accept = "application/json",
): Promise<{ readonly response: Response } | TransientFailure | RequestRefusal> {
  try {
    const response = await server.fetch(server.url, {
      method: "POST",
      redirect: "error",
      headers: { "content-type": "application/json", accept, ...server.headers },
      body: JSON.stringify(body),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    if (response.ok) return { response };
    const said = (await readResponseText(response, MOST_OF_A_REFUSAL, "cut")) ?? "";
    return toStatusFailure(server, response, said);
  } catch (error) {
    signal?.throwIfAborted();
    return toTransientFailure(error, server.place, timeoutMs);
  }
}

/** Sends one request and reads its whole answer. */
export async function sendAndReadText(
  server: ModelServer,
  body: object,
  limits: RequestLimits,
): Promise<{ readonly text: string } | TransientFailure | RequestRefusal> {
  const sent = await sendRequest(server, body, limits);
  if (!("response" in sent)) return sent;
  try {
    const text = await readResponseText(sent.response, MOST_BYTES, "give up");
    return text === undefined ? createFailure(server, "gave an answer without an end") : { text };
  } catch (error) {
    limits.signal?.throwIfAborted();
    return toTransientFailure(error, server.place, limits.timeoutMs);
  }
}

/** An answer that is none. */
export function createFailure({ place }: Pick<ModelServer, "place">, what: string): TransientFailure {
  return { failed: new MemoryError("unavailable", `${place} ${what}. Try again later.`), outcome: "failed" };
}

/** What a status that is no success comes to. */
export function toStatusFailure(
  server: Pick<ModelServer, "place">,
  { status, headers }: Pick<Response, "status" | "headers">,
  said: string,
): TransientFailure | RequestRefusal {
  const { place } = server;
  if (status === 429 && /insufficient_quota/.test(said)) {
    const credit = `${place} says that the account has no credit left. Look at its billing.`;
    return { refused: new MemoryError("unavailable", credit), said, status };
  }
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500) {
    const after = parseRetryAfter(headers);
    return {
      ...createFailure(server, `answered ${status}`),
      ...(status === 429 ? { outcome: "rate_limited" } : {}),
      ...(status === 408 ? { outcome: "timeout" } : {}),
      ...(after === undefined ? {} : { retryAfterMs: after }),
    };
  }
  return { refused: toRefusalError(status, place), said, status };
}

function toRefusalError(status: number, place: string): MemoryError {
  if (status === 401 || status === 403) {
    return new MemoryError("unavailable", `${place} refuses the key. Check OPENAI_API_KEY.`);
  }
  if (status === 400 || status === 413 || status === 422) {
    return invalid(`${place} refuses what it was sent (${status}). Are the model and its settings right?`);
  }
  return new MemoryError(
    "unavailable",
    `${place} answers ${status}. Check its address and the model's name.`,
  );
}

/** The text of an answer; of a longer one its beginning, or nothing. */
async function readResponseText(
  response: Response,
  most: number,
  longer: "cut" | "give up",
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > most && longer === "give up") return undefined;
    text += decoder.decode(piece, { stream: true });
    if (bytes > most) return text;
  }
  return text + decoder.decode();
}
