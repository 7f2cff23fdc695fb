import { isMemoryError } from "../../errors.ts";
import type { JsonWebKeySet, JwtResult, JwtVerifier } from "../../ports/jwt-verifier.ts";
import type { Clock } from "../../ports/system.ts";
import type { ClientDocuments } from "./client-documents.ts";

/** The type of assertion that is accepted (RFC 7523). */
const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const MAX_LIFETIME_S = 3_600;
const MAX_REMEMBERED = 10_000;

/** Checks the signed assertion by which a client proves who it is. */
export type AssertionCheck = (
  client: string,
  parameters: URLSearchParams,
  signal: AbortSignal,
) => Promise<boolean>;

interface AssertionOptions {
  readonly verifier: JwtVerifier;
  readonly clients: ClientDocuments;
  /** Whom the assertion may be for: the issuer identifier, or the token endpoint. */
  readonly audience: readonly string[];
  readonly clock: Clock;
}

/** Creates the check. The keys come from the client's document; a key that is not in it is looked for once more. */
export function createAssertionCheck(options: AssertionOptions): AssertionCheck {
  const { verifier, clients, audience, clock } = options;
  const isNew = createReplayGuard(clock);
  return async (client, parameters, signal) => {
    const assertion = parameters.get("client_assertion");
    if (assertion === null || parameters.get("client_assertion_type") !== JWT_BEARER) return false;
    const verify = async (isFresh: boolean): Promise<JwtResult> => {
      const set = await findKeys(clients, client, { isFresh, signal });
      if (!set) return { outcome: "unavailable" };
      return verifier.verify(assertion, { issuer: client, audience, keys: { set }, requiredClaims: ["sub"] });
    };
    const first = await verify(false);
    const result = first.outcome === "invalid" ? await verify(true) : first;
    if (result.outcome !== "valid" || result.claims.sub !== client) return false;
    const { exp, jti } = result.claims;
    const isShort = typeof exp === "number" && exp <= clock().getTime() / 1000 + MAX_LIFETIME_S;
    return isShort && (jti === undefined || isNew(JSON.stringify([client, jti]), exp));
  };
}

/** Gives the client's keys; undefined if its document has none. Throws `unavailable` if they cannot be fetched now. */
async function findKeys(
  clients: ClientDocuments,
  client: string,
  options: { readonly isFresh: boolean; readonly signal: AbortSignal },
): Promise<JsonWebKeySet | undefined> {
  try {
    return await clients.findKeys(client, options);
  } catch (error) {
    if (isMemoryError(error) && error.code === "invalid_input") return undefined;
    throw error;
  }
}

/** Gives the client that an assertion names, not checked; undefined if it names none. */
export function readAssertedClient(parameters: URLSearchParams): string | undefined {
  try {
    const [, payload = ""] = (parameters.get("client_assertion") ?? "").split(".");
    const { sub } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as {
      readonly sub?: unknown;
    };
    return typeof sub === "string" ? sub : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers the assertions that were used on this server until they expire. */
function createReplayGuard(clock: Clock): (id: string, exp: number) => boolean {
  const used = new Map<string, number>();
  return (id, exp) => {
    const now = clock().getTime() / 1000;
    if ((used.get(id) ?? 0) > now - 60) return false;
    used.set(id, exp);
    const [oldest] = used.keys();
    if (used.size > MAX_REMEMBERED && oldest !== undefined) used.delete(oldest);
    return true;
  };
}
