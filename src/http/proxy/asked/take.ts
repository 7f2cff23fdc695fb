import type { IncomingMessage } from "node:http";
import { type Exchange, wireOf } from "../../app-types.ts";
import { refuse } from "../../problem.ts";
import { wrong } from "../problems.ts";
import { type Fields, parsed } from "../replies/reply.ts";
import { type Edit, edited, withoutMembers } from "./json-places.ts";

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
  const bytes = await bytesOf(exchange);
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

async function bytesOf(exchange: Exchange): Promise<Uint8Array> {
  if (Number(exchange.req.header("content-length") ?? 0) > MOST_PROXY_BYTES) throw tooLong();
  const { incoming } = wireOf(exchange);
  if (incoming) return bytesComing(incoming);
  const bytes = new Uint8Array(await exchange.req.raw.arrayBuffer());
  if (bytes.length > MOST_PROXY_BYTES) throw tooLong();
  return bytes;
}

/** A body, read from its socket: to make a stream of the web's of it takes longer than the reading. */
function bytesComing(incoming: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    incoming.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size <= MOST_PROXY_BYTES) chunks.push(chunk);
      // What comes after it is read and dropped, so that the refusal can be read over there.
      else reject(tooLong());
    });
    incoming.once("end", () => resolve(Buffer.concat(chunks, size)));
    incoming.once("error", () => reject(GONE));
    incoming.once("close", () => reject(GONE));
  });
}

const GONE = new DOMException("The client went away.", "AbortError");

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
