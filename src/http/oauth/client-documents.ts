import * as z from "zod";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { DocumentFetcher } from "../../ports/document-fetcher.ts";
import type { JsonWebKeySet } from "../../ports/jwt-verifier.ts";
import { CLIENT_AUTH_METHODS, type ClientAuthMethod } from "./grant-store.ts";

/** A client, as its document describes it. Anybody may have written that. */
export interface OAuthClient {
  /** The URL of the document. */
  readonly id: string;
  readonly name: string | undefined;
  /** Those that may be used: with TLS, or on the person's own machine. */
  readonly redirectUris: readonly string[];
  readonly auth: ClientAuthMethod;
}

/** Finds clients by client-id metadata documents. https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/ */
export interface ClientDocuments {
  /** Gives a client. Throws `invalid_input` with what is wrong, and `unavailable` if its document cannot be fetched now. */
  find(id: string, signal?: AbortSignal): Promise<OAuthClient>;
  /** Gives the public keys of a client; `isFresh` fetches them again. Throws as `find` does. */
  findKeys(
    id: string,
    options: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ): Promise<JsonWebKeySet>;
}

/** Options of `createClientDocuments`. */
export interface ClientDocumentOptions {
  readonly fetcher: DocumentFetcher;
  /** Hosts whose documents are accepted. Default: all. */
  readonly hosts?: readonly string[] | undefined;
  /** A monotonic clock in ms (`performance.now`). */
  readonly now?: () => number;
}

const MAX_CACHED = 100;
const DEFAULT_AGE_S = 300;
const MAX_AGE_S = 3_600;
/** Anybody can make this server fetch a document, so it fetches few. */
const MAX_FETCHES_PER_MINUTE = 60;
const MAX_FETCHES_AT_ONCE = 8;

/** Creates the finder. Documents are cached as long as their servers allow, at most an hour. */
export function createClientDocuments(options: ClientDocumentOptions): ClientDocuments {
  const { fetcher, hosts, now = () => performance.now() } = options;
  const load = createDocumentCache(fetcher, now);
  const findDocument = async (id: string, signal: AbortSignal | undefined): Promise<ClientDocument> => {
    checkClientId(id, hosts);
    return parseDocument(id, await load(id, { isFresh: false, signal }));
  };
  return {
    async find(id, signal) {
      const {
        client_name: name,
        redirect_uris: uris,
        token_endpoint_auth_method: auth,
      } = await findDocument(id, signal);
      return { id, name, redirectUris: uris.filter(isSafeRedirect), auth };
    },
    async findKeys(id, { isFresh, signal }) {
      const { jwks, jwks_uri: uri } = await findDocument(id, signal);
      if (jwks) return jwks;
      if (uri === undefined) throw invalid("the client's document has no keys.");
      return parseWith(KEY_SET_SCHEMA, await load(uri, { isFresh, signal }));
    },
  };
}

/** Whether an authorization response may go to a URI: with TLS, or to the person's own machine. */
export function isSafeRedirect(uri: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]{1,2000}$/.test(uri) || !URL.canParse(uri)) return false;
  const { protocol, hostname, username, password, hash } = new URL(uri);
  if (username !== "" || password !== "" || hash !== "" || uri.includes("#") || uri.includes("\\"))
    return false;
  return protocol === "https:" || isOwnMachine(hostname);
}

/** Whether a host name is that of the machine that opens the URL. */
export function isOwnMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
}

/**
 * Whether a redirect URI is one of a client's, character by character. On the person's own machine the port may differ, because
 * programs get a free one from the system (RFC 8252 section 7.3).
 */
export function isRegisteredRedirect({ redirectUris }: OAuthClient, uri: string): boolean {
  if (redirectUris.includes(uri)) return true;
  const portless = withoutOwnPort(uri);
  return portless !== undefined && redirectUris.some((one) => withoutOwnPort(one) === portless);
}

function withoutOwnPort(uri: string): string | undefined {
  const [, start, end] =
    /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(\/.*)?$/.exec(uri) ?? [];
  return start === undefined || !isSafeRedirect(uri) ? undefined : `${start}${end ?? ""}`;
}

/** Checks that an id is the URL of a document, in its normal form: two spellings would be two clients. */
function checkClientId(id: string, hosts: readonly string[] | undefined): void {
  if (id.length > 1024 || !URL.canParse(id))
    throw invalid("client_id must be the URL of a client-id metadata document.");
  const url = new URL(id);
  if (url.href !== id || url.hash !== "" || id.includes("#"))
    throw invalid("client_id must be a URL in its normal form, without a fragment.");
  if (url.pathname === "/") throw invalid("client_id must be a URL with a path.");
  if (hosts && !hosts.includes(url.hostname)) {
    throw invalid(
      "this server does not accept clients of this host. The operator can add it to KEEPSAKE_OAUTH_CLIENTS.",
    );
  }
}

const KEY_SET_SCHEMA: z.ZodType<JsonWebKeySet> = z.object({
  keys: z
    .array(z.looseObject({ kty: z.string() }))
    .min(1)
    .max(20),
});

interface ClientDocument {
  readonly client_id: string;
  readonly client_name?: string | undefined;
  readonly redirect_uris: readonly string[];
  readonly token_endpoint_auth_method: ClientAuthMethod;
  readonly jwks?: JsonWebKeySet | undefined;
  readonly jwks_uri?: string | undefined;
}

/** Other fields are not read. A secret in a public document is a mistake. */
const DOCUMENT_SCHEMA: z.ZodType<ClientDocument> = z.object({
  client_id: z.string(),
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string().max(2000)).min(1).max(100),
  token_endpoint_auth_method: z.enum(CLIENT_AUTH_METHODS).default("none"),
  grant_types: z
    .array(z.string())
    .refine((types) => types.includes("authorization_code"))
    .optional(),
  response_types: z
    .array(z.string())
    .refine((types) => types.includes("code"))
    .optional(),
  jwks: KEY_SET_SCHEMA.optional(),
  jwks_uri: z.string().max(1024).optional(),
  client_secret: z.never().optional(),
});

function parseDocument(id: string, text: string): ClientDocument {
  const document = parseWith(DOCUMENT_SCHEMA, text);
  if (document.client_id !== id) throw invalid("the client's document is that of another client.");
  return document;
}

/** Parses what another server wrote. Errors name the field, and contain nothing of its text. */
function parseWith<Shape>(schema: z.ZodType<Shape>, text: string): Shape {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("the client's document is not JSON.");
  }
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const field = String(checked.error.issues[0]?.path[0] ?? "");
  throw invalid(`the client's document is not valid${/^[a-z_]{1,40}$/.test(field) ? `: ${field}` : ""}.`);
}

type DocumentLoader = (
  url: string,
  options: { readonly isFresh: boolean; readonly signal: AbortSignal | undefined },
) => Promise<string>;

/** Fetches documents, few at once and in a minute, and keeps them for a while. */
function createDocumentCache(fetcher: DocumentFetcher, now: () => number): DocumentLoader {
  const cache = new Map<string, { readonly text: string; readonly until: number }>();
  const recent: number[] = [];
  let running = 0;
  const take = (): void => {
    const time = now();
    while (recent[0] !== undefined && recent[0] <= time - 60_000) recent.shift();
    if (running >= MAX_FETCHES_AT_ONCE || recent.length >= MAX_FETCHES_PER_MINUTE)
      throw new MemoryError("unavailable", "too many clients are being looked up. Try again in a minute.");
    recent.push(time);
  };
  return async (url, { isFresh, signal }) => {
    const cached = cache.get(url);
    if (cached && !isFresh && cached.until > now()) return cached.text;
    take();
    running += 1;
    try {
      const { text, maxAgeSeconds = DEFAULT_AGE_S } = await fetcher.fetch(url, signal);
      cache.delete(url);
      cache.set(url, { text, until: now() + Math.min(maxAgeSeconds, MAX_AGE_S) * 1000 });
      const [oldest] = cache.keys();
      if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
      return text;
    } catch (error) {
      if (isMemoryError(error)) throw error;
      throw new MemoryError("unavailable", "the client's document could not be fetched.", { cause: error });
    } finally {
      running -= 1;
    }
  };
}
