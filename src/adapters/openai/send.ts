import { invalid, MemoryError } from "../../errors.ts";
import { retryAfterMs } from "../shared/retry.ts";
import type { Limits } from "./calling.ts";
import type { Server } from "./server.ts";
import { type Failed, type Refused, troubleOf } from "./troubles.ts";

/** Longer answers than this are none: nobody asked for them. */
const MOST_BYTES = 32_000_000;
/** So much of a refusal is read, to find out what it is about. */
const MOST_OF_A_REFUSAL = 20_000;

/**
 * Sends one request. What may pass (no answer, too many requests, a fault of the server) and what will not (a refusal) is
 * given back; an aborted signal is thrown. Nothing says anything of what was sent, the key or the answer.
 */
export async function send(
  server: Server,
  body: object,
  { timeoutMs, signal }: Limits,
  accept = "application/json",
): Promise<{ readonly response: Response } | Failed | Refused> {
  try {
    const response = await server.fetch(server.url, {
      method: "POST",
      redirect: "error",
      headers: { "content-type": "application/json", accept, ...server.headers },
      body: JSON.stringify(body),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    if (response.ok) return { response };
    const said = (await readText(response, MOST_OF_A_REFUSAL, "cut")) ?? "";
    return refusal(server, response, said);
  } catch (error) {
    signal?.throwIfAborted();
    return troubleOf(error, server.place, timeoutMs);
  }
}

/** Sends one request and reads its whole answer. */
export async function sendAndRead(
  server: Server,
  body: object,
  limits: Limits,
): Promise<{ readonly text: string } | Failed | Refused> {
  const sent = await send(server, body, limits);
  if (!("response" in sent)) return sent;
  try {
    const text = await readText(sent.response, MOST_BYTES, "give up");
    return text === undefined ? failing(server, "gave an answer without an end") : { text };
  } catch (error) {
    limits.signal?.throwIfAborted();
    return troubleOf(error, server.place, limits.timeoutMs);
  }
}

/** An answer that is none. */
export function failing({ place }: Pick<Server, "place">, what: string): Failed {
  return { failed: new MemoryError("unavailable", `${place} ${what}. Try again later.`), outcome: "failed" };
}

/** What a status that is no success comes to. */
export function refusal(
  server: Pick<Server, "place">,
  { status, headers }: Pick<Response, "status" | "headers">,
  said: string,
): Failed | Refused {
  const { place } = server;
  if (status === 429 && /insufficient_quota/.test(said)) {
    const credit = `${place} says that the account has no credit left. Look at its billing.`;
    return { refused: new MemoryError("unavailable", credit), said, status };
  }
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500) {
    const after = retryAfterMs(headers);
    return {
      ...failing(server, `answered ${status}`),
      ...(status === 429 ? { outcome: "rate_limited" } : {}),
      ...(status === 408 ? { outcome: "timeout" } : {}),
      ...(after === undefined ? {} : { retryAfterMs: after }),
    };
  }
  return { refused: whyRefused(status, place), said, status };
}

function whyRefused(status: number, place: string): MemoryError {
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
async function readText(
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
