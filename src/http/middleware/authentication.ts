import { getCookie } from "hono/cookie";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import type { Forget } from "../../engine/api/writing-types.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { ApiKeys, Bearer } from "../keys/api-keys.ts";
import type { ProtectedResource } from "../oauth/protected-resource.ts";
import {
  getRequiredScopes,
  type Operation,
  type OperationRequest,
  type ServerServices,
} from "../operation.ts";
import { isAnthropicPath, isOpenAiPath, refuse, refuseField } from "../problem.ts";
import type { RequestContext } from "../request-context.ts";

/** The header of the page's proof. The cookie alone gives no access, because a browser sends it by itself. */
export const PROOF_HEADER = "x-keepsake-proof";

type Authenticators = Pick<ServerServices, "keys" | "failedKeys" | "oauth">;

/**
 * Authenticates a request by a key, a session or an access token, and checks its scopes, before reading the body. Gives
 * undefined if the operation needs no key. Throws 401 or 403.
 */
export async function authenticate(
  operation: Operation,
  exchange: RequestContext,
  services: Authenticators,
): Promise<Bearer | undefined> {
  if (operation.scope === "none") return undefined;
  const oauth = operation.acceptsAccessTokens ? services.oauth : undefined;
  const bearer = findBearer(exchange, services.keys) ?? (oauth && (await findTokenBearer(exchange, oauth)));
  if (!bearer) {
    if (operation.scope === "optional" && !hasProof(exchange)) return undefined;
    const isGuess = hasCredentials(exchange);
    const unknown = createUnknownKeyError(exchange, oauth?.challenge(isGuess ? "invalid_token" : undefined));
    // A request without a key is not a guess.
    throw isGuess ? await services.failedKeys.refusal(exchange, unknown) : unknown;
  }
  checkScopes(operation, bearer, oauth);
  return bearer;
}

function checkScopes(operation: Operation, { scopes }: Bearer, oauth: ProtectedResource | undefined): void {
  const missing = getRequiredScopes(operation).filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return;
  const needs = missing.length === 1 ? "the scope" : "the scopes";
  throw refuse({
    status: 403,
    code: "forbidden",
    detail: `This key lacks ${needs} ${missing.join(" and ")}.`,
    headers: oauth ? { "www-authenticate": oauth.challenge("insufficient_scope") } : {},
  });
}

function createUnknownKeyError({ req }: RequestContext, challenge = 'Bearer realm="keepsake"'): Error {
  return refuse({
    status: 401,
    code: "forbidden",
    detail: `Send a valid key in the header authorization: Bearer KEY${isAnthropicPath(req.path) ? ", or in x-api-key" : ""}.`,
    headers: { "www-authenticate": challenge },
  });
}

/** Gives the rights of an access token; undefined if it is unknown. Throws 401 for one that has expired: it is not a guess. */
async function findTokenBearer(
  exchange: RequestContext,
  oauth: ProtectedResource,
): Promise<Bearer | undefined> {
  const token = /^Bearer +(\S+) *$/i.exec(exchange.req.header("authorization") ?? "")?.[1];
  const checked = token === undefined ? { refusal: "unknown" as const } : await oauth.verify(token);
  if ("bearer" in checked) return checked.bearer;
  if (checked.refusal === "unknown") return undefined;
  if (checked.refusal === "expired") throw createUnknownKeyError(exchange, oauth.challenge("invalid_token"));
  throw refuse({
    status: 503,
    code: "unavailable",
    detail:
      "The identity provider does not answer, so the access token cannot be checked. Try again in a moment.",
  });
}

/** Whether the request needs a lookup of keys. With an optional key that is absent, it works even if keys cannot be read. */
export function mayCarryKey({ scope }: Operation, exchange: RequestContext): boolean {
  return scope !== "none" && (scope !== "optional" || hasProof(exchange));
}

/** Whether the request has a proof or a key, not just the cookie, which a browser sends by itself. */
function hasProof(exchange: RequestContext): boolean {
  return getKeyHeader(exchange) !== undefined || exchange.req.header(PROOF_HEADER) !== undefined;
}

function hasCredentials(exchange: RequestContext): boolean {
  return getKeyHeader(exchange) !== undefined || getCookie(exchange, getCookieName(exchange)) !== undefined;
}

function findBearer(exchange: RequestContext, keys: ApiKeys): Bearer | undefined {
  const header = getKeyHeader(exchange);
  if (header !== undefined) return keys.verify(/^Bearer +(\S+) *$/i.exec(header)?.[1] ?? "");
  // Sessions belong to the server's own page only.
  if (exchange.get("foreignOrigin") !== undefined) return undefined;
  const token = getCookie(exchange, getCookieName(exchange));
  return token === undefined ? undefined : keys.verifySession(token, exchange.req.header(PROOF_HEADER) ?? "");
}

/**
 * Gives the Keepsake key. A client of a provider may send its provider's key in `authorization`, and ours in another header.
 * Anthropic's clients send their only key in `x-api-key`.
 */
function getKeyHeader({ req }: RequestContext): string | undefined {
  const named = isOpenAiPath(req.path) ? req.header("x-keepsake-key") : undefined;
  const own = named ?? (isAnthropicPath(req.path) ? req.header("x-api-key") : undefined);
  return own === undefined ? req.header("authorization") : `Bearer ${own}`;
}

/** Gives the cookie's name, which contains the port: cookies ignore ports, and two servers on one machine must not conflict. */
export function getCookieName(exchange: RequestContext): string {
  const host = exchange.req.header("host") ?? new URL(exchange.req.url).host;
  return `keepsake_${/:(\d+)$/.exec(host)?.[1] ?? "0"}`;
}

/** The header that names the user's agent that reads or writes. */
export const AGENT_HEADER = "x-keepsake-agent";
/** The form of an agent's name in the header, for the document too. */
export const AGENT_PATTERN = "^[!-~]([ -~]{0,126}[!-~])?$";

/** Gives the agent that a request names; undefined if it names none. Throws 400 for a wrong name. */
export function getAgent({ req }: RequestContext): string | undefined {
  const agent = req.header(AGENT_HEADER);
  if (agent === undefined || new RegExp(AGENT_PATTERN).test(agent)) return agent;
  throw refuseField(AGENT_HEADER, `${AGENT_HEADER} must be 1 to 128 ASCII characters.`);
}

/** Gives access to a bearer's project or, if its key is restricted, to one user; as one agent of each user, if one is named. */
export function createUserAccess(
  services: Pick<ServerServices, "keepsake">,
  bearer: Bearer | undefined,
  agent?: string,
): Pick<OperationRequest, "memoryOf" | "project" | "agent"> {
  const project = (): string => {
    if (!bearer) throw new TypeError("an operation without a key has no project");
    return bearer.project;
  };
  return {
    project,
    ...(agent === undefined ? {} : { agent }),
    memoryOf(user): ScopedMemory {
      // The same error for all other users, whether they exist or not.
      if (bearer?.user !== undefined && bearer.user !== user) {
        throw new MemoryError("not_found", "User not found.");
      }
      const named = agent === undefined ? {} : { agent };
      const memory = services.keepsake.scope({ project: project(), user, ...named });
      return bearer?.scopes.includes("erase") ? memory : forbidErasure(memory);
    },
  };
}

/** Wraps a memory for a key that may not erase, neither by a call nor by a message. */
function forbidErasure(memory: ScopedMemory): ScopedMemory {
  return {
    ...memory,
    remember: (input, options) => memory.remember(input, { ...options, mayErase: false }),
    converse: (message, options) => memory.converse(message, { ...options, mayErase: false }),
    converseStream: (message, options) => memory.converseStream(message, { ...options, mayErase: false }),
    forget: (async (what: Forget, options: CallOptions & { dryRun?: boolean } = {}) => {
      if (options.dryRun) return memory.forget(what, { ...options, dryRun: true });
      throw new MemoryError("forbidden", "This key may not erase: it lacks the scope erase.");
    }) as ScopedMemory["forget"],
  };
}
