import { refuseField } from "../../problem.ts";
import { getNodeBindings, type RequestContext } from "../../request-context.ts";
import { type BodyFields, toFields, toText } from "./reply-reader.ts";

/** Keepsake's header that names the user. It takes precedence over all other sources. */
export const USER_HEADER = "x-keepsake-user";

/** Headers of other programs that name the user, in order of precedence. */
export const DEFAULT_USER_HEADERS: readonly string[] = ["x-openwebui-user-id", "x-user-id"];

/** An unchecked user id from a request. */
export interface NamedUser {
  readonly id: string;
  /** The header or body field that contains it. */
  readonly from: string;
}

/**
 * Finds the user that a request names, in the first non-empty source: `x-keepsake-user`; the configured headers, in order;
 * `user`, `safety_identifier` and `metadata.user_id` in the body. Headers and body are trusted equally: both name a user of
 * the key's project.
 *
 * `prompt_cache_key` is not used. It names a bucket of the provider's cache, which many users may share.
 */
export function findNamedUser(
  exchange: RequestContext,
  body: BodyFields,
  userHeaders: readonly string[],
): NamedUser | undefined {
  for (const from of [USER_HEADER, ...userHeaders]) {
    const id = readUserHeader(exchange, from);
    if (id) return { id, from };
  }
  const fields: readonly (readonly [string, unknown])[] = [
    ["user", body.user],
    ["safety_identifier", body.safety_identifier],
    ["metadata.user_id", toFields(body.metadata).user_id],
  ];
  for (const [from, value] of fields) {
    const id = toText(value);
    if (id !== "") return { id, from };
  }
  return undefined;
}

/**
 * Reads a header that names a user, as UTF-8. Keepsake's own may be percent-encoded as in an answer. Throws a 400 error for a
 * header that is sent twice.
 */
export function readUserHeader(exchange: RequestContext, name: string): string | undefined {
  const lines = getNodeBindings(exchange).incoming?.headersDistinct[name] ?? [];
  if (lines.length > 1) throw refuseField(name, `${name} is sent ${lines.length} times. Send it once.`);
  const sent = exchange.req.header(name);
  if (sent === undefined) return undefined;
  const text = decodeUtf8(sent);
  return name === USER_HEADER ? decodePercent(text) : text;
}

/** HTTP gives each byte of a header as one character. */
function decodeUtf8(header: string): string {
  const isBytes = /[\u0080-\u00ff]/.test(header) && !/[^\0-\u00ff]/.test(header);
  if (!isBytes) return header;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(header, "latin1"));
  } catch {
    return header;
  }
}

/** Decodes only what encodes to the same again, so that a name with a percent sign can be sent as it is. */
function decodePercent(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    return encodeURIComponent(decoded) === text ? decoded : text;
  } catch {
    return text;
  }
}

/** Creates the error for a chat without a valid user, if the settings require one. */
export function createMissingUserError(userHeaders: readonly string[]): Error {
  const headers = [USER_HEADER, ...userHeaders].join(", ");
  return refuseField(
    "user",
    "Chats on this server must name their user, in at most 512 bytes of plain text. Set user, safety_identifier or " +
      `metadata.user_id in the body, or one of the headers ${headers}; or use a key for one user.`,
  );
}
