import { checkNewName } from "../../domain/limits.ts";
import type { JwtVerifier } from "../../ports/jwt-verifier.ts";
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
}

type TokenClaims = { readonly [name: string]: unknown };

/** Accepts the tokens of an external identity provider. What a token allows is in its claim `scope` or `scp`. */
export function createExternalAuthority(publicUrl: string, provider: ExternalProvider): TokenAuthority {
  const { issuer, jwksUrl, audience = toResourceUrl(publicUrl), userClaim = "sub", verifier } = provider;
  return {
    issuer,
    async verify(token) {
      const result = await verifier.verify(token, {
        issuer,
        audience: [audience],
        keys: { url: jwksUrl },
        requiredClaims: [userClaim],
      });
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
