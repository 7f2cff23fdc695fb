import { checkNewName } from "../../domain/limits.ts";
import type { DependencyState } from "../../engine/api/inspection-types.ts";
import type { JwtResult, JwtVerifier } from "../../ports/jwt-verifier.ts";
import type { Clock } from "../../ports/system.ts";
import { hashSecret } from "../keys/key-ring.ts";
import { TOKEN_SCOPES, type TokenAuthority, toResourceUrl } from "./protected-resource.ts";

/** An identity provider that issues access tokens in place of this server. */
export interface ExternalProvider {
  /** Tells it from this server. */
  readonly kind: "external";
  /** Its issuer identifier: the claim `iss`, exactly. */
  readonly issuer: string;
  /** The address of its public keys (RFC 7517). */
  readonly jwksUrl: string;
  /** The claim `aud` of tokens for this server. Default: the public URL with `/mcp`. */
  readonly audience?: string;
  /** The claim with the user's id ("sub"). An address in `email` counts only if the provider has verified it. */
  readonly userClaim?: string;
  /** Checks its tokens. */
  readonly verifier: JwtVerifier;
  /** The current time. */
  readonly clock: Clock;
}

type TokenClaims = { readonly [name: string]: unknown };

/** Accepts the tokens of an external identity provider. What a token allows is in its claim `scope` or `scp`. */
export function createExternalAuthority(publicUrl: string, provider: ExternalProvider): TokenAuthority {
  const {
    issuer,
    jwksUrl,
    audience = toResourceUrl(publicUrl),
    userClaim = "sub",
    verifier,
    clock,
  } = provider;
  const check = (token: string): Promise<JwtResult> =>
    verifier.verify(token, {
      issuer,
      audience: [audience],
      keys: { url: jwksUrl },
      requiredClaims: [userClaim],
    });
  return {
    issuer,
    getProviderState: watchProvider(
      async () => (await check(UNKNOWN_KEY_TOKEN)).outcome !== "unavailable",
      clock,
    ),
    async verify(token) {
      const result = await check(token);
      if (result.outcome === "invalid") return { refusal: "unknown" };
      if (result.outcome !== "valid") return { refusal: result.outcome };
      const user = findUser(result.claims, userClaim);
      if (user === undefined) return { refusal: "unknown" };
      const scopes = listScopes(result.claims);
      // The rate limit is that of the user, over all tokens.
      const key = `oauth-${hashSecret(JSON.stringify([issuer, user])).slice(0, 12)}`;
      return {
        bearer: {
          key,
          project: "default",
          user,
          scopes: TOKEN_SCOPES.filter((scope) => scopes.includes(scope)),
        },
      };
    },
  };
}

/** A token that names a key which no provider has: to refuse it, the verifier has to read the provider's keys. */
const UNKNOWN_KEY_TOKEN: string = [{ alg: "RS256", kid: "keepsake-readiness" }, {}, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .join(".");
/** How long a state is kept, in ms: the provider is asked at most so often. */
const STATE_MS = 60_000;
/** A provider that has not answered by then is down. */
const PROBE_TIMEOUT_MS = 2_000;

/** Gives the state of the provider. Asks it if the last state is older than a minute. */
function watchProvider(hasAnswered: () => Promise<boolean>, clock: Clock): () => Promise<DependencyState> {
  let last: DependencyState | undefined;
  let askedAt = 0;
  let asking: Promise<DependencyState> | undefined;
  const ask = async (): Promise<DependencyState> => {
    const late = new Promise<boolean>((resolve) => {
      setTimeout(resolve, PROBE_TIMEOUT_MS, false).unref();
    });
    const isUp = await Promise.race([hasAnswered(), late]);
    const since = isUp === (last?.state === "up") && last ? last.since : clock().toISOString();
    last = isUp
      ? { kind: "identity_provider", state: "up", since }
      : { kind: "identity_provider", state: "down", since, problem: "silent" };
    askedAt = performance.now();
    asking = undefined;
    return last;
  };
  return async () => {
    if (last && performance.now() - askedAt < STATE_MS) return last;
    asking ??= ask();
    return asking;
  };
}

function findUser(claims: TokenClaims, name: string): string | undefined {
  if (name === "email" && claims.email_verified !== true) return undefined;
  try {
    return checkNewName(claims[name], name);
  } catch {
    return undefined;
  }
}

/** Lists the scopes of a token: a text with spaces (RFC 9068), or a list, as some providers write it. */
function listScopes({ scope, scp }: TokenClaims): readonly unknown[] {
  const given = scope ?? scp;
  if (typeof given === "string") return given.split(" ");
  return Array.isArray(given) ? given : [];
}
