import { isUtf8 } from "node:buffer";
import type { Exchange } from "../../app-types.ts";
import { bodyBytes } from "../../body-bytes.ts";
import { jsonScan } from "../../json-scan.ts";
import { refuse } from "../../problem.ts";
import { wrong } from "../problems.ts";
import { type Fields, parsed } from "../replies/reply.ts";
import { type Edit, withoutMembers } from "./json-places.ts";
import { rejoined, type Skeleton, skeletonOf } from "./skeleton.ts";

/** A request as it came: its text, and what it says. */
export interface Taken extends Skeleton {
  readonly body: Fields;
}

/** Bytes of one request: images and documents travel in it. */
export const MOST_PROXY_BYTES = 33_554_432;

/** They would choose another server or another account; some servers read them from the body. */
export const NOT_ASKED: ReadonlySet<string> = new Set([
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
 * what is nested too deep or holds too many values, and what is no such object; the rest is the upstream's to judge.
 */
export async function taken(exchange: Exchange): Promise<Taken> {
  const type = exchange.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    const detail = "Send JSON, with the header content-type: application/json.";
    throw refuse({ status: 415, code: "invalid_input", detail });
  }
  const scan = jsonScan();
  const bytes = await bodyBytes(exchange, { mostBytes: MOST_PROXY_BYTES, onPiece: scan.take });
  if (!isUtf8(bytes)) throw wrong("body", "The body is not UTF-8.");
  const skeleton = skeletonOf(bytes, scan.long);
  const body = parsed(skeleton.json);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw wrong("body", "We could not parse the JSON body of your request: it must be an object.");
  const { model } = body as Fields;
  if (typeof model !== "string" || model === "") throw wrong("model", "You must provide a model parameter.");
  return { ...skeleton, body: body as Fields };
}

/** What goes on: the request as it came, but for the edits and for what may not be asked for. */
export function passedOn(taken: Taken, edits: readonly Edit[]): Uint8Array {
  return rejoined(taken, [...edits, ...withoutMembers(taken.json, NOT_ASKED)]);
}
