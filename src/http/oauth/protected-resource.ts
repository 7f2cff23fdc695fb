import type { DependencyState } from "../../engine/api/inspection-types.ts";
import type { Bearer, KeyScope } from "../keys/api-keys.ts";

/** The scopes that a client can ask for. They are those of keys, without `admin`. */
export const TOKEN_SCOPES: readonly KeyScope[] = ["read", "write", "erase"];

/**
 * The result of checking an access token. `unknown`: it may be a guess. `expired`: it was valid before. `unavailable`: the
 * issuer's keys could not be fetched.
 */
export type TokenCheck =
  | { readonly bearer: Bearer }
  | { readonly refusal: "unknown" | "expired" | "unavailable" };

/** Issues access tokens, or knows who does, and checks them. */
export interface TokenAuthority {
  /** The issuer identifier (RFC 8414). */
  readonly issuer: string;
  /** Checks a token. It must have been issued for this server. */
  verify(token: string): Promise<TokenCheck>;
  /** Gives the state of the identity provider, at most a minute old. Absent if this server issues the tokens. */
  readonly getProviderState?: () => Promise<DependencyState>;
}

/** The reason for a challenge, as RFC 6750 names it; undefined for a request without a token. */
type ChallengeError = "invalid_token" | "insufficient_scope" | undefined;

/** `/mcp` as OAuth sees it: a resource that accepts access tokens of one authority. */
export interface ProtectedResource extends TokenAuthority {
  /** Gives the header `WWW-Authenticate`, which leads clients to the metadata (RFC 9728). */
  challenge(error: ChallengeError): string;
  /** The metadata (RFC 9728). */
  readonly metadata: object;
}

/** The path of the metadata. For a resource with a path, that path follows. */
export const RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Gives the identifier of the resource, which is the audience of its tokens (RFC 8707). */
export function toResourceUrl(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

/** Creates the resource. `publicUrl` is the origin by which clients reach the server. */
export function createProtectedResource(publicUrl: string, authority: TokenAuthority): ProtectedResource {
  const metadata = {
    resource: toResourceUrl(publicUrl),
    authorization_servers: [authority.issuer],
    scopes_supported: TOKEN_SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: "Keepsake",
  };
  return {
    ...authority,
    challenge: (error) =>
      `Bearer realm="keepsake", ${error === undefined ? "" : `error="${error}", `}` +
      `resource_metadata="${publicUrl}${RESOURCE_METADATA_PATH}/mcp", scope="${TOKEN_SCOPES.join(" ")}"`,
    metadata,
  };
}
