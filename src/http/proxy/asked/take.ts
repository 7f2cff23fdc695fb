import { isUtf8 } from "node:buffer";
import type { RequestContext } from "../../app-types.ts";
import { readBodyBytes } from "../../body-bytes.ts";
import { createJsonScan } from "../../json-scan.ts";
import { refuse } from "../../problem.ts";
import { refuseField } from "../problems.ts";
import { type BodyFields, tryParseJson } from "../replies/reply.ts";
import { type JsonEdit, removeMembers } from "./json-places.ts";
import { restoreLongStrings, type TrimmedJson, trimLongStrings } from "./skeleton.ts";

/** A request as it came: its text, and what it says. */
export interface ProxyRequest extends TrimmedJson {
  readonly body: BodyFields;
}

/** Bytes of one request: images and documents travel in it. */
export const MAX_PROXY_BYTES = 33_554_432;

/** They would choose another server or another account; some servers read them from the body. */
export const FORBIDDEN_FIELDS: ReadonlySet<string> = new Set([
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
export async function readProxyRequest(exchange: RequestContext): Promise<ProxyRequest> {
  const type = exchange.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    const detail = "Send JSON, with the header content-type: application/json.";
    throw refuse({ status: 415, code: "invalid_input", detail });
  }
  const scan = createJsonScan();
  const bytes = await readBodyBytes(exchange, { mostBytes: MAX_PROXY_BYTES, onPiece: scan.take });
  if (!isUtf8(bytes)) throw refuseField("body", "The body is not UTF-8.");
  const skeleton = trimLongStrings(bytes, scan.long);
  const body = tryParseJson(skeleton.json);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw refuseField("body", "We could not parse the JSON body of your request: it must be an object.");
  const { model } = body as BodyFields;
  if (typeof model !== "string" || model === "")
    throw refuseField("model", "You must provide a model parameter.");
  return { ...skeleton, body: body as BodyFields };
}

/** What goes on: the request as it came, but for the edits and for what may not be asked for. */
export function toUpstreamBody(taken: ProxyRequest, edits: readonly JsonEdit[]): Uint8Array {
  return restoreLongStrings(taken, [...edits, ...removeMembers(taken.json, FORBIDDEN_FIELDS)]);
}
