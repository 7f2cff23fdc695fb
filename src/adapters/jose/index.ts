import type { JsonWebKeySet, JwtResult, JwtVerifier } from "../../ports/jwt-verifier.ts";

/** The parts of the package `jose` that are used. The caller loads it. */
export interface JoseModule {
  jwtVerify(
    token: string,
    key: never,
    options: JoseVerifyOptions,
  ): Promise<{ readonly payload: { readonly [claim: string]: unknown } }>;
  createRemoteJWKSet(url: URL, options: { readonly timeoutDuration: number }): unknown;
  createLocalJWKSet(set: never): unknown;
}

interface JoseVerifyOptions {
  readonly issuer: string;
  readonly audience: string[];
  readonly algorithms: string[];
  readonly requiredClaims: string[];
  readonly clockTolerance: number;
  readonly currentDate: Date;
}

/** Options of `createJwtVerifier`. */
export interface JwtVerifierOptions {
  /** The current time. */
  readonly clock: () => Date;
  /** Time limit of a request for keys, in ms (5,000). */
  readonly timeoutMs?: number;
}

/** Signatures with public keys. With a shared secret, or with none, anybody could have made a token. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
/** The most seconds by which clocks of two machines may differ. */
const CLOCK_TOLERANCE_S = 5;
const TIMEOUT_MS = 5_000;

/** Creates a verifier with the package `jose`. Key sets of addresses are fetched once, and again for an unknown key. */
export function createJwtVerifier(jose: JoseModule, options: JwtVerifierOptions): JwtVerifier {
  const { clock, timeoutMs = TIMEOUT_MS } = options;
  const remote = new Map<string, unknown>();
  const findKeys = (keys: { readonly url: string } | { readonly set: JsonWebKeySet }): unknown => {
    if ("set" in keys) return jose.createLocalJWKSet(keys.set as never);
    const found =
      remote.get(keys.url) ?? jose.createRemoteJWKSet(new URL(keys.url), { timeoutDuration: timeoutMs });
    remote.set(keys.url, found);
    return found;
  };
  return {
    async verify(token, { issuer, audience, keys, requiredClaims }) {
      try {
        const { payload } = await jose.jwtVerify(token, findKeys(keys) as never, {
          issuer,
          audience: [...audience],
          algorithms: ALGORITHMS,
          requiredClaims: ["exp", ...requiredClaims],
          clockTolerance: CLOCK_TOLERANCE_S,
          currentDate: clock(),
        });
        return { outcome: "valid", claims: payload };
      } catch (error) {
        const failure = toFailure(error);
        // A set that was handed over needs no network: something is wrong with it, or with the token.
        return "set" in keys && failure.outcome === "unavailable" ? { outcome: "invalid" } : failure;
      }
    },
  };
}

/** The library checks times last, so an expired token is right in everything else. */
function toFailure(error: unknown): JwtResult {
  const { code } = error as { readonly code?: unknown };
  if (code === "ERR_JWT_EXPIRED") return { outcome: "expired" };
  // Errors without one of the library's own codes are those of the network.
  const isOfToken = typeof code === "string" && /^ERR_J(?!WKS_TIMEOUT|OSE_GENERIC)/.test(code);
  return { outcome: isOfToken ? "invalid" : "unavailable" };
}
