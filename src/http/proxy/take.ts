import type { Exchange } from "../app-types.ts";
import { refuse } from "../problem.ts";
import { type Edit, edited, withoutMembers } from "./json-places.ts";
import { wrong } from "./problems.ts";
import { type Fields, parsed } from "./reply.ts";

/** A request as it came: its text, and what it says. */
export interface Taken {
  readonly json: string;
  readonly body: Fields;
}

/** Bytes of one request: images and documents travel in it. */
export const MOST_PROXY_BYTES = 33_554_432;

/** They would choose another server or another account; some servers read them from the body. */
const NOT_ASKED: ReadonlySet<string> = new Set([
  "api_base",
  "api_key",
  "api_type",
  "api_version",
  "azure_endpoint",
  "base_url",
  "extra_body",
  "extra_headers",
  "extra_query",
  "headers",
  "organization",
]);

/**
 * Reads a request of OpenAI's protocol: a JSON object with the name of a model. Refuses another media type, too many bytes,
 * and what is no such object; the rest is the upstream's to judge.
 */
export async function taken(exchange: Exchange): Promise<Taken> {
  const type = exchange.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    const detail = "Send JSON, with the header content-type: application/json.";
    throw refuse({ status: 415, code: "invalid_input", detail });
  }
  const bytes = await bytesOf(exchange.req.raw);
  const json = textOf(bytes);
  const body = parsed(json);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw wrong("body", "We could not parse the JSON body of your request: it must be an object.");
  const { model } = body as Fields;
  if (typeof model !== "string" || model === "") throw wrong("model", "You must provide a model parameter.");
  return { json, body: body as Fields };
}

/** What goes on: the request as it came, but for the edits and for what may not be asked for. */
export function passedOn({ json }: Taken, edits: readonly Edit[]): Uint8Array {
  return Buffer.from(strippedOf(edited(json, edits)));
}

function strippedOf(json: string): string {
  return edited(json, withoutMembers(json, NOT_ASKED));
}

export async function bytesOf(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > MOST_PROXY_BYTES) throw tooLong();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MOST_PROXY_BYTES) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw wrong("body", "The body is not UTF-8.");
  }
}

function tooLong(): Error {
  const detail = `The request is too long: at most ${MOST_PROXY_BYTES.toLocaleString("en")} bytes.`;
  return refuse({ status: 413, code: "invalid_input", detail, headers: { connection: "close" } });
}
