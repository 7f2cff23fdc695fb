import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { UpstreamAccount } from "./account.ts";

/** RFC 9110, 7.6.1: they speak of one connection alone. */
const CONNECTION_HEADERS: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** What is between the client and us: who it is, what its browser says of itself, how long its body was before it changed. */
const CLIENT_HEADERS: readonly string[] = [
  "host",
  "content-length",
  "expect",
  "accept-encoding",
  "cookie",
  "origin",
  "referer",
  "forwarded",
  "via",
  "x-real-ip",
  // Some servers take their path or their method from these.
  "x-original-url",
  "x-rewrite-url",
  "x-original-method",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
];
const PRIVATE_HEADER_FAMILIES = /^(?:x-keepsake-|x-forwarded-|x-openwebui-|sec-)/;
/** They choose an account; with the server's key, that is the server's to choose. */
const ACCOUNT_HEADERS: readonly string[] = [
  "authorization",
  "api-key",
  "openai-organization",
  "openai-project",
];

/**
 * The headers that go on to the upstream. With the server's key those that name an account are the server's own, else they
 * are the client's. Those that name the user stay here. The answer is asked for uncompressed: it is read on its way back.
 */
export function toUpstreamHeaders(
  headers: Headers,
  account: UpstreamAccount,
  userHeaders: readonly string[] = [],
): OutgoingHttpHeaders {
  const own = account.isClientAccount ? [] : ACCOUNT_HEADERS;
  const left = new Set([...CONNECTION_HEADERS, ...CLIENT_HEADERS, ...userHeaders, ...own]);
  for (const name of (headers.get("connection") ?? "").split(",")) left.add(name.trim().toLowerCase());
  const on: OutgoingHttpHeaders = {};
  for (const [name, value] of headers) {
    if (!left.has(name) && !PRIVATE_HEADER_FAMILIES.test(name)) on[name] = value;
  }
  // Never as it came: it may hold a key of this server.
  delete on.authorization;
  if (account.authorization !== undefined) on.authorization = account.authorization;
  on["accept-encoding"] = "identity";
  return on;
}

/** The headers of the upstream's answer, as they go to the client: without those of the connection, cookies, and names of ours. */
export function toClientHeaders(headers: IncomingHttpHeaders): Headers {
  const left = new Set([...CONNECTION_HEADERS, "set-cookie", "alt-svc", "strict-transport-security"]);
  for (const name of (headers.connection ?? "").split(",")) left.add(name.trim().toLowerCase());
  const back = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || left.has(name) || PRIVATE_HEADER_FAMILIES.test(name)) continue;
    for (const one of Array.isArray(value) ? value : [value]) back.append(name, one);
  }
  return back;
}
