import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { OperationRequest } from "../../operation.ts";
import { isAnthropicPath, refuseField } from "../../problem.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Provider } from "../proxy.ts";
import type { ProviderName } from "../request/dialects.ts";

/** The upstream account of a request. */
interface UpstreamAccount {
  /** Whether the client sent its own upstream key. Otherwise the server's key is used, which all callers share. */
  readonly isClientAccount: boolean;
  /** The headers with its key, by name. */
  readonly credentials: { readonly [header: string]: string };
}

/** The header of the client's own upstream key, while `authorization` contains Keepsake's. */
export const UPSTREAM_KEY_HEADER = "x-keepsake-upstream-key";

/** The pattern of a Keepsake key, which must never be forwarded. */
const KEEPSAKE_KEY_PATTERN = /\bks[ar]?_[0-9a-f]{12}_/;

/** The headers in which clients of a provider send its key. The first one is also used for the server's key. */
const KEY_HEADERS: { readonly [name in ProviderName]: readonly [string, ...string[]] } = {
  openai: ["authorization"],
  anthropic: ["x-api-key", "authorization"],
};

/**
 * Gives the provider of a request. Under `/v1/messages` it is Anthropic. Elsewhere it is OpenAI, unless a client of Anthropic
 * sends its own key, which must not reach another provider.
 */
export function findProvider(
  { exchange }: Pick<OperationRequest, "exchange">,
  providers: { readonly [name in ProviderName]: Provider },
): Provider {
  return providers[findProviderName(exchange)];
}

function findProviderName(exchange: RequestContext): ProviderName {
  if (isAnthropicPath(exchange.req.path)) return "anthropic";
  // All of Anthropic's clients send this header.
  const isAnthropics = exchange.req.header("anthropic-version") !== undefined;
  return isAnthropics && findClientAccount(exchange, "anthropic") ? "anthropic" : "openai";
}

/**
 * Gives the upstream account of a request. The client's own key is in `x-keepsake-upstream-key`, or in the provider's own
 * headers if Keepsake's key is in `x-keepsake-key`. A Keepsake key is never used as an upstream key. Throws a 400 error if
 * the header contains no key.
 */
export function getUpstreamAccount(
  { exchange }: Pick<OperationRequest, "exchange">,
  { name, upstream }: Pick<Provider, "name" | "upstream">,
): UpstreamAccount {
  const own = findClientAccount(exchange, name);
  if (own) return own;
  if (upstream?.apiKey === undefined) return { isClientAccount: false, credentials: {} };
  return { isClientAccount: false, credentials: toCredentials(name, upstream.apiKey) };
}

function findClientAccount(exchange: RequestContext, name: ProviderName): UpstreamAccount | undefined {
  const { req } = exchange;
  const brought = req.header(UPSTREAM_KEY_HEADER);
  if (brought !== undefined) {
    checkBroughtKey(exchange, name, brought);
    return { isClientAccount: true, credentials: toCredentials(name, brought) };
  }
  const keepsakeKey = req.header("x-keepsake-key");
  if (keepsakeKey === undefined) return undefined;
  const credentials = KEY_HEADERS[name].flatMap((header) => {
    const value = req.header(header);
    const isOwn = value === undefined || toKey(header, value) === keepsakeKey;
    return isOwn || KEEPSAKE_KEY_PATTERN.test(value) ? [] : [[header, value]];
  });
  return credentials.length === 0
    ? undefined
    : { isClientAccount: true, credentials: Object.fromEntries(credentials) };
}

function checkBroughtKey({ req }: RequestContext, name: ProviderName, brought: string): void {
  if (!/^[\x21-\x7e]{1,4096}$/.test(brought))
    throw refuseField(
      UPSTREAM_KEY_HEADER,
      `${UPSTREAM_KEY_HEADER} must contain only a key, without "Bearer".`,
    );
  const others = KEY_HEADERS[name].map((header) => toKey(header, req.header(header)));
  if (KEEPSAKE_KEY_PATTERN.test(brought) || [...others, req.header("x-keepsake-key")].includes(brought))
    throw refuseField(
      UPSTREAM_KEY_HEADER,
      `${UPSTREAM_KEY_HEADER} contains a Keepsake key, not an upstream key.`,
    );
}

function toCredentials(name: ProviderName, key: string): { readonly [header: string]: string } {
  const [header] = KEY_HEADERS[name];
  return { [header]: header === "authorization" ? `Bearer ${key}` : key };
}

function toKey(header: string, value: string | undefined): string | undefined {
  return header === "authorization" ? parseToken(value) : value;
}

/** Whether a request uses the client's own account. */
export function hasClientKey({ exchange }: Pick<OperationRequest, "exchange">, name?: ProviderName): boolean {
  return findClientAccount(exchange, name ?? findProviderName(exchange)) !== undefined;
}

/**
 * Whether a request may use objects stored at the upstream: it uses the client's own account, and the upstream separates
 * accounts.
 */
export function mayUseStoredObjects(
  { exchange }: Pick<OperationRequest, "exchange">,
  { name, hasClientAccounts }: Pick<Provider, "name" | "hasClientAccounts">,
): boolean {
  return hasClientAccounts && findClientAccount(exchange, name) !== undefined;
}

function parseToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}

/** Headers of one connection (RFC 9110, 7.6.1). */
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
/** Headers between the client and this server: identity, browser data, and the original body length. */
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
/** Headers that choose an account. With the server's key, the server chooses. */
const ACCOUNT_HEADERS: readonly string[] = [
  "authorization",
  "api-key",
  "openai-organization",
  "openai-project",
];

/**
 * Gives the headers to forward. Account headers are the server's with the server's key, otherwise the client's. Headers that
 * name the user are not forwarded. The response is requested uncompressed, because it is read on its way back.
 */
export function toUpstreamHeaders(
  headers: Headers,
  account: UpstreamAccount,
  userHeaders: readonly string[] = [],
): OutgoingHttpHeaders {
  const own = account.isClientAccount ? [] : ACCOUNT_HEADERS;
  const removed = new Set([...CONNECTION_HEADERS, ...CLIENT_HEADERS, ...userHeaders, ...own]);
  for (const name of (headers.get("connection") ?? "").split(",")) removed.add(name.trim().toLowerCase());
  const on: OutgoingHttpHeaders = {};
  for (const [name, value] of headers) {
    if (!removed.has(name) && !PRIVATE_HEADER_FAMILIES.test(name)) on[name] = value;
  }
  // Never forwarded unchanged: they may contain a Keepsake key, or another provider's.
  for (const name of KEY_HEADERS.anthropic) delete on[name];
  return { ...on, ...account.credentials, "accept-encoding": "identity" };
}

/** Gives the upstream's response headers for the client, without connection headers, cookies and Keepsake's names. */
export function toClientHeaders(headers: IncomingHttpHeaders): Headers {
  const removed = new Set([...CONNECTION_HEADERS, "set-cookie", "alt-svc", "strict-transport-security"]);
  for (const name of (headers.connection ?? "").split(",")) removed.add(name.trim().toLowerCase());
  const back = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || removed.has(name) || PRIVATE_HEADER_FAMILIES.test(name)) continue;
    for (const one of Array.isArray(value) ? value : [value]) back.append(name, one);
  }
  return back;
}

/** A part of the name of a model or another object. It never begins with a dot, so it is never "." or "..". */
const NAME_PART = /^[A-Za-z0-9_@][A-Za-z0-9._:@+~-]*$/;
const MAX_NAME_LENGTH = 256;

/**
 * Gives the path and query for the upstream, relative to its base URL. Each segment is decoded once, checked against the
 * characters allowed in names, and encoded again, so that no server can read another path in it. A name may have parts, as
 * in "org/model"; they form one segment. Throws a 400 error in OpenAI's form otherwise.
 */
export function toUpstreamPath(url: string): string {
  const { pathname, search } = new URL(url);
  const segments = pathname.replace(/^\/v1\/?/, "").split("/");
  const what = segments[0] === "models" ? "model" : "path";
  return `/${segments.map((segment) => checkSegment(segment, what)).join("/")}${search}`;
}

function checkSegment(segment: string, what: "model" | "path"): string {
  const name = decodeOnce(segment);
  const isName =
    name !== undefined &&
    name.length <= MAX_NAME_LENGTH &&
    name.split("/").every((part) => NAME_PART.test(part));
  if (isName) return encodeURIComponent(name);
  const problem = what === "model" ? "Invalid model name." : "Invalid name in the path.";
  throw refuseField(
    what,
    `${problem} Use letters, digits and ". _ : @ + ~ -", with "/" between parts, encoded as %2F.`,
  );
}

function decodeOnce(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Not UTF-8, so not a name.
    return undefined;
  }
}
