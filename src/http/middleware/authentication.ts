import { getCookie } from "hono/cookie";
import type { Forget, ScopedMemory } from "../../engine/api.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { ApiKeys, Bearer } from "../keys/api-keys.ts";
import {
  getRequiredScopes,
  type Operation,
  type OperationRequest,
  type ServerServices,
} from "../operation.ts";
import { isOpenAiPath, refuse } from "../problem.ts";
import type { RequestContext } from "../request-context.ts";

/** The header in which the page proves that it is the page; the cookie alone, which a browser sends by itself, opens nothing. */
export const PROOF_HEADER = "x-keepsake-proof";

/**
 * Who asks: lets through only who has a key or a signed-in page, and may do what the operation does. Before any body is
 * read. Undefined where no key is needed.
 */
export async function authenticate(
  operation: Operation,
  exchange: RequestContext,
  { keys, failedKeys }: Pick<ServerServices, "keys" | "failedKeys">,
): Promise<Bearer | undefined> {
  if (operation.scope === "none") return undefined;
  const bearer = findBearer(exchange, keys);
  if (!bearer) {
    if (operation.scope === "optional" && !hasProof(exchange)) return undefined;
    const unknown = refuse({
      status: 401,
      code: "forbidden",
      detail: "Send a valid key, with the header authorization: Bearer KEY.",
      headers: { "www-authenticate": 'Bearer realm="keepsake"' },
    });
    // Who brings no key at all has guessed none.
    throw hasCredentials(exchange) ? await failedKeys.refusal(exchange, unknown) : unknown;
  }
  const missing = getRequiredScopes(operation).filter((scope) => !bearer.scopes.includes(scope));
  if (missing.length > 0) {
    const needs = missing.length === 1 ? "the scope" : "the scopes";
    throw refuse({
      status: 403,
      code: "forbidden",
      detail: `This key may not do that: it has not ${needs} ${missing.join(" and ")}.`,
    });
  }
  return bearer;
}

/** Whether keys have to be known for it. Where one is optional and none came, it is answered even if they cannot be read. */
export function mayCarryKey({ scope }: Operation, exchange: RequestContext): boolean {
  return scope !== "none" && (scope !== "optional" || hasProof(exchange));
}

/** Whether it was sent on purpose: a browser sends the cookie by itself. */
function hasProof(exchange: RequestContext): boolean {
  return getKeyHeader(exchange) !== undefined || exchange.req.header(PROOF_HEADER) !== undefined;
}

function hasCredentials(exchange: RequestContext): boolean {
  return getKeyHeader(exchange) !== undefined || getCookie(exchange, getCookieName(exchange)) !== undefined;
}

function findBearer(exchange: RequestContext, keys: ApiKeys): Bearer | undefined {
  const header = getKeyHeader(exchange);
  if (header !== undefined) return keys.verify(/^Bearer +(\S+) *$/i.exec(header)?.[1] ?? "");
  // The sign-in is that of the server's own page.
  if (exchange.get("foreignOrigin") !== undefined) return undefined;
  const token = getCookie(exchange, getCookieName(exchange));
  return token === undefined ? undefined : keys.verifySession(token, exchange.req.header(PROOF_HEADER) ?? "");
}

/** A client of OpenAI's may bring its provider's key there, and ours in a header of its own. */
function getKeyHeader({ req }: RequestContext): string | undefined {
  const own = isOpenAiPath(req.path) ? req.header("x-keepsake-key") : undefined;
  return own === undefined ? req.header("authorization") : `Bearer ${own}`;
}

/** Cookies do not tell ports apart, so the name has to: two servers on one machine must not sign each other out. */
export function getCookieName(exchange: RequestContext): string {
  const host = exchange.req.header("host") ?? new URL(exchange.req.url).host;
  return `keepsake_${/:(\d+)$/.exec(host)?.[1] ?? "0"}`;
}

/** What a bearer can get at: its project, and where its key is bound to a user, that user alone. */
export function createUserAccess(
  services: Pick<ServerServices, "keepsake">,
  bearer: Bearer | undefined,
): Pick<OperationRequest, "memoryOf" | "project"> {
  const project = (): string => {
    if (!bearer) throw new TypeError("an operation without a key has no project");
    return bearer.project;
  };
  return {
    project,
    memoryOf(user): ScopedMemory {
      // The same for everybody else, whether there is such a user or not.
      if (bearer?.user !== undefined && bearer.user !== user) {
        throw new MemoryError("not_found", "There is no such user.");
      }
      const memory = services.keepsake.scope({ project: project(), user });
      return bearer?.scopes.includes("erase") ? memory : forbidErasure(memory);
    },
  };
}

/** For a key that may not erase: neither by a call nor by words in a message. */
function forbidErasure(memory: ScopedMemory): ScopedMemory {
  return {
    ...memory,
    remember: (input, options) => memory.remember(input, { ...options, mayErase: false }),
    converse: (message, options) => memory.converse(message, { ...options, mayErase: false }),
    converseStream: (message, options) => memory.converseStream(message, { ...options, mayErase: false }),
    forget: (async (what: Forget, options: CallOptions & { dryRun?: boolean } = {}) => {
      if (options.dryRun) return memory.forget(what, { ...options, dryRun: true });
      throw new MemoryError("forbidden", "This key may not erase: it has not the scope erase.");
    }) as ScopedMemory["forget"],
  };
}
