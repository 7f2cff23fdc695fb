import { isUtf8 } from "node:buffer";
import { createJsonScan, type LongString } from "../../json-scan.ts";
import { refuse, refuseBody, refuseField } from "../../problem.ts";
import { readBodyBytes } from "../../request-body.ts";
import type { RequestContext } from "../../request-context.ts";
import { applyJsonEdits, findValue, type JsonEdit, removeMembers } from "./json-edits.ts";
import { type BodyFields, toFields, tryParseJson } from "./reply-reader.ts";

/** A received request: its text and its fields. */
export interface ProxyRequest extends TrimmedJson {
  readonly body: BodyFields;
}

/** Maximum bytes of one request, which may contain images and documents. */
export const MAX_PROXY_BYTES = 33_554_432;

/** Fields that would choose another server or account: some servers read them from the body. */
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
 * Reads a request of a provider's client: a JSON object that names a model. Refuses another media type, too many bytes, too deep nesting,
 * too many values, and anything that is not such an object. The upstream validates the rest.
 */
export async function readProxyRequest(exchange: RequestContext): Promise<ProxyRequest> {
  const type = exchange.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    const detail = "Send JSON with the header content-type: application/json.";
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

/** Gives the body to forward: the received one with the edits and without forbidden fields. */
export function toUpstreamBody(taken: ProxyRequest, edits: readonly JsonEdit[]): Uint8Array {
  return restoreLongStrings(taken, [...edits, ...removeMembers(taken.json, FORBIDDEN_FIELDS)]);
}

/** Gives a request with edits of its parsed JSON, and the body that they make. */
export function editRequest(
  { json, cuts }: ProxyRequest,
  edits: readonly JsonEdit[],
  body: BodyFields,
): ProxyRequest {
  return {
    json: applyJsonEdits(json, edits),
    cuts: cuts.map((cut) => ({ ...cut, at: cut.at + measureShift(edits, cut.at) })),
    body,
  };
}

/** How far edits before a position move it. */
function measureShift(edits: readonly JsonEdit[], at: number): number {
  let shift = 0;
  for (const { start, end, put } of edits) if (start < at) shift += put.length - (end - start);
  return shift;
}

/** The parsed part of a request: its JSON without the rest of long strings. */
export interface TrimmedJson {
  readonly json: string;
  readonly cuts: readonly TrimmedPart[];
}

/** The removed rest of a string. Its beginning is before `at` in the JSON. */
interface TrimmedPart {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Maximum bytes of a request to parse. Images and documents are long strings, which are forwarded unparsed. */
export const MAX_PARSED_BYTES = 4_194_304;
/** Lengths to which long strings are trimmed until the rest fits: first the maximum message length, then less. */
const HEAD_LENGTHS: readonly number[] = [1_000_000, 262_144, 65_536, 16_384, 4096, 1024];

/**
 * Trims a request for parsing. Up to `MAX_PARSED_BYTES` it is complete; in a longer one, each long string is cut to its
 * beginning. Refuses a request that is still too large.
 */
export function trimLongStrings(bytes: Uint8Array, long: readonly LongString[]): TrimmedJson {
  if (bytes.length <= MAX_PARSED_BYTES) return { json: decodeUtf8(bytes), cuts: [] };
  const left = (head: number): number =>
    long.reduce((sum, { start, end }) => sum - Math.max(0, end - start - head), bytes.length);
  const head = HEAD_LENGTHS.find((one) => left(one) <= MAX_PARSED_BYTES);
  if (head === undefined) {
    const most = MAX_PARSED_BYTES.toLocaleString("en");
    throw refuseBody(`contains too much besides long strings: at most ${most} bytes`);
  }
  const cuts: TrimmedPart[] = [];
  const parts: string[] = [];
  let [from, length] = [0, 0];
  for (const { start, end } of long) {
    if (end - start <= head) continue;
    const at = findBoundary(bytes, start, start + head);
    const part = decodeUtf8(bytes.subarray(from, at));
    parts.push(part);
    length += part.length;
    cuts.push({ at: length, bytes: bytes.subarray(at, end) });
    from = end;
  }
  parts.push(decodeUtf8(bytes.subarray(from)));
  return { json: parts.join(""), cuts };
}

/** Restores the bytes of a request and applies edits, whose positions refer to the trimmed JSON. */
export function restoreLongStrings({ json, cuts }: TrimmedJson, edits: readonly JsonEdit[]): Uint8Array {
  if (edits.length === 0 && cuts.length === 0) return Buffer.from(json);
  const kept = cuts.map(({ at, bytes }) => ({ start: at, end: at, put: bytes }));
  // At the same position, a removed part comes first: it is the end of its string.
  const changes = [...kept, ...edits].toSorted((one, other) => one.start - other.start);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, put } of changes) {
    if (start < from) continue;
    parts.push(Buffer.from(json.slice(from, start)), typeof put === "string" ? Buffer.from(put) : put);
    from = end;
  }
  parts.push(Buffer.from(json.slice(from)));
  return Buffer.concat(parts);
}

/** Where parts of a message have the bytes of images and recordings, as text. */
const FILE_PATHS: readonly (readonly string[])[] = [
  ["image_url", "url"],
  ["image_url"],
  ["input_audio", "data"],
  ["source", "data"],
];

/** Gives the parts of a message with their images and recordings complete. Parsing has cut them in a long request. */
export function readFileParts(
  request: TrimmedJson,
  { content, path }: { readonly content: unknown; readonly path: readonly (string | number)[] },
): unknown {
  if (request.cuts.length === 0 || !Array.isArray(content)) return content;
  const cuts = new Map(request.cuts.map(({ at, bytes }) => [at, bytes]));
  return content.map((part: unknown, i) => {
    // Documents of a request are not stored.
    if (toFields(part).type === "document") return part;
    for (const inner of FILE_PATHS) {
      const place = findValue(request.json, [...path, i, ...inner]);
      const rest = place && request.json[place.start] === '"' ? cuts.get(place.end - 1) : undefined;
      if (!place || !rest) continue;
      // Both halves are parts of one JSON string, cut where no escape is.
      const head = request.json.slice(place.start, place.end - 1);
      return replaceAt(part, inner, JSON.parse(`${head}${decodeUtf8(rest)}"`) as string);
    }
    return part;
  });
}

function replaceAt(value: unknown, [name = "", ...rest]: readonly string[], text: string): unknown {
  const fields = toFields(value);
  return { ...fields, [name]: rest.length === 0 ? text : replaceAt(fields[name], rest, text) };
}

/** Gives the last position up to `at` that splits no character or escape of the string at `start`. */
function findBoundary(bytes: Uint8Array, start: number, at: number): number {
  let place = at;
  while (place > start && isContinuationByte(bytes[place])) place -= 1;
  const slash = bytes.subarray(Math.max(start, place - 5), place).lastIndexOf(SLASH);
  if (slash < 0) return place;
  const last = Math.max(start, place - 5) + slash;
  let first = last;
  while (first > start && bytes[first - 1] === SLASH) first -= 1;
  // Of consecutive backslashes, every second one is escaped.
  return (last - first) % 2 === 0 ? last : place;
}

const SLASH = 0x5c;

/** Whether a byte of UTF-8 continues a character. */
function isContinuationByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: false }).decode(bytes);
}
