import { isUtf8 } from "node:buffer";
import { createJsonScan, type LongString } from "../../json-scan.ts";
import { refuse, refuseBody, refuseField } from "../../problem.ts";
import { readBodyBytes } from "../../request-body.ts";
import type { RequestContext } from "../../request-context.ts";
import { type JsonEdit, removeMembers } from "./json-edits.ts";
import { type BodyFields, tryParseJson } from "./reply-reader.ts";

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

/** A request as it is read: its JSON, with the middle of long strings taken out. */
export interface TrimmedJson {
  readonly json: string;
  readonly cuts: readonly TrimmedPart[];
}

/** What was taken out: the rest of a string, whose beginning stands before `at` in the JSON. */
interface TrimmedPart {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** So many bytes of a request are read into values. Images and documents travel in strings, and go by as they are. */
export const MAX_PARSED_BYTES = 4_194_304;
/** So much is left of a long string where there would be too much else: first as much as a message may hold, then less. */
const HEAD_LENGTHS: readonly number[] = [1_000_000, 262_144, 65_536, 16_384, 4096, 1024];

/**
 * What is read of a request. Up to `READ_BYTES` that is all of it; of a longer one, each long string as far as its beginning. Refuses
 * what is too much even so.
 */
export function trimLongStrings(bytes: Uint8Array, long: readonly LongString[]): TrimmedJson {
  if (bytes.length <= MAX_PARSED_BYTES) return { json: decodeUtf8(bytes), cuts: [] };
  const left = (head: number): number =>
    long.reduce((sum, { start, end }) => sum - Math.max(0, end - start - head), bytes.length);
  const head = HEAD_LENGTHS.find((one) => left(one) <= MAX_PARSED_BYTES);
  if (head === undefined) {
    const most = MAX_PARSED_BYTES.toLocaleString("en");
    throw refuseBody(`holds too much beside long strings: at most ${most} bytes`);
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

/** The bytes of a request again, with the edits made; the places of these are those of the skeleton. */
export function restoreLongStrings({ json, cuts }: TrimmedJson, edits: readonly JsonEdit[]): Uint8Array {
  if (edits.length === 0 && cuts.length === 0) return Buffer.from(json);
  const kept = cuts.map(({ at, bytes }) => ({ start: at, end: at, put: bytes }));
  // What was taken out comes first where both stand at one place: the end of its string.
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

/** The last place up to `at` that is within no character and no escape of a string that begins at `start`. */
function findBoundary(bytes: Uint8Array, start: number, at: number): number {
  let place = at;
  while (place > start && isContinuationByte(bytes[place])) place -= 1;
  const slash = bytes.subarray(Math.max(start, place - 5), place).lastIndexOf(SLASH);
  if (slash < 0) return place;
  const last = Math.max(start, place - 5) + slash;
  let first = last;
  while (first > start && bytes[first - 1] === SLASH) first -= 1;
  // Of slashes in a row each second one is what the one before it stands for.
  return (last - first) % 2 === 0 ? last : place;
}

const SLASH = 0x5c;

/** Whether a byte of UTF-8 goes on with the character before it. */
function isContinuationByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: false }).decode(bytes);
}
