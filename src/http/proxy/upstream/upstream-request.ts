import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { OperationRequest } from "../../operation.ts";
import { refuseField } from "../../problem.ts";
import type { OpenAiProxy } from "../proxy.ts";

/** Whose account with the model's server a request is made under. */
interface UpstreamAccount {
  /** Whether the client brought a key of its own; else the server's key is used, which all its callers share. */
  readonly isClientAccount: boolean;
  /** The header `authorization` that goes on; absent where there is none. */
  readonly authorization?: string;
}

/** Holds the client's own key of the model's server, while `authorization` holds Keepsake's. */
export const UPSTREAM_KEY_HEADER = "x-keepsake-upstream-key";

/** A key of this server's: no other server may see it. */
const KEEPSAKE_KEY_PATTERN = /\bks_[0-9a-f]{12}_/;

/**
 * The account of a request. The client's own key stands in `x-keepsake-upstream-key`; or in `authorization`, with Keepsake's
 * key in `x-keepsake-key`. A Keepsake key is never taken for one of the model's server. An error of OpenAI's form with status
 * 400 for a header that holds no key.
 */
export function getUpstreamAccount(
  { exchange }: Pick<OperationRequest, "exchange">,
  { upstream }: Pick<OpenAiProxy, "upstream">,
): UpstreamAccount {
  const { req } = exchange;
  const brought = req.header(UPSTREAM_KEY_HEADER);
  const bearer = req.header("authorization");
  const keepsakeKey = req.header("x-keepsake-key");
  const token = parseToken(bearer);
  if (brought !== undefined) {
    if (!/^[\x21-\x7e]{1,4096}$/.test(brought))
      throw refuseField(
        UPSTREAM_KEY_HEADER,
        `${UPSTREAM_KEY_HEADER} must hold a key alone, without "Bearer".`,
      );
    if (KEEPSAKE_KEY_PATTERN.test(brought) || brought === token || brought === keepsakeKey)
      throw refuseField(
        UPSTREAM_KEY_HEADER,
        `${UPSTREAM_KEY_HEADER} holds a key of this server, not of the model's.`,
      );
    return { isClientAccount: true, authorization: `Bearer ${brought}` };
  }
  const isProviders = token !== keepsakeKey && !KEEPSAKE_KEY_PATTERN.test(bearer ?? "");
  if (keepsakeKey !== undefined && bearer !== undefined && isProviders)
    return { isClientAccount: true, authorization: bearer };
  if (upstream?.apiKey === undefined) return { isClientAccount: false };
  return { isClientAccount: false, authorization: `Bearer ${upstream.apiKey}` };
}

/** Whether a request is made under the client's own account. */
export function hasClientKey(asked: Pick<OperationRequest, "exchange">): boolean {
  return getUpstreamAccount(asked, { upstream: undefined }).isClientAccount;
}

/**
 * Whether a request may reach what is stored with the model's server: it is made under the client's own account, and the
 * model's server is taken to tell accounts apart.
 */
export function mayUseStoredObjects(
  asked: Pick<OperationRequest, "exchange">,
  { hasClientAccounts }: Pick<OpenAiProxy, "hasClientAccounts">,
): boolean {
  return hasClientAccounts && hasClientKey(asked);
}

function parseToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}

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

/** A part of the name of a model, or of another object: it never begins with a dot, so it is never "." or "..". */
const NAME_PART = /^[A-Za-z0-9_@][A-Za-z0-9._:@+~-]*$/;
const MAX_NAME_LENGTH = 256;

/**
 * The path and query of a call as they go to the upstream, below its base URL. Each segment is decoded once, compared with the
 * characters that names of models and objects have, and encoded anew, so that no server on the way can read another path in it. A name may
 * have parts, as "org/model" has; they go on as one segment. An error of OpenAI's form with status 400 otherwise.
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
  const problem = what === "model" ? "This is no name of a model." : "The path has a part that is no name.";
  throw refuseField(
    what,
    `${problem} Use letters, digits and ". _ : @ + ~ -", with "/" between parts, encoded as %2F.`,
  );
}

function decodeOnce(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // No UTF-8: no name either.
    return undefined;
  }
}
