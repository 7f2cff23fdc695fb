import type { DocumentFetcher } from "../../ports/document-fetcher.ts";
import type { JwtVerifier } from "../../ports/jwt-verifier.ts";
import type { Clock } from "../../ports/system.ts";
import type { ApiKeys } from "../keys/api-keys.ts";
import { isOurResource } from "./authorization-request.ts";
import { createAssertionCheck, readAssertedClient } from "./client-assertion.ts";
import { type ClientDocuments, createClientDocuments } from "./client-documents.ts";
import type { GrantStore } from "./grant-store.ts";
import { TOKEN_SCOPES, toResourceUrl } from "./protected-resource.ts";
import {
  createTokenService,
  type IssuedTokens,
  type TokenRefusal,
  type TokenService,
  UNKNOWN_TOKEN,
} from "./token-service.ts";

/** This server issues access tokens itself, to clients that a person allows with a key. */
export interface OwnAuthority {
  /** Tells it from an identity provider. */
  readonly kind: "own";
  /** Codes and grants. */
  readonly grants: GrantStore;
  /** Fetches the documents of clients. */
  readonly fetcher: DocumentFetcher;
  /** Hosts whose clients are accepted. Default: all. */
  readonly clientHosts?: readonly string[] | undefined;
  /** Checks the signatures of clients that have keys. */
  readonly verifier: JwtVerifier;
  /** The current time. */
  readonly clock: Clock;
}

/** The authorization server (OAuth 2.1). */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly resource: string;
  readonly clients: ClientDocuments;
  readonly tokens: TokenService;
  /** The metadata (RFC 8414). */
  readonly metadata: object;
  /** Answers a request of the token endpoint. */
  issueTokens(parameters: URLSearchParams, signal: AbortSignal): Promise<IssuedTokens | TokenRefusal>;
}

export const OAUTH_PATHS = {
  metadata: "/.well-known/oauth-authorization-server",
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  revoke: "/oauth/revoke",
} as const;

/** Creates the server. `publicUrl` is its issuer identifier. */
export function createAuthorizationServer(
  publicUrl: string,
  authority: OwnAuthority,
  keys: Pick<ApiKeys, "findIdentified">,
): AuthorizationServer {
  const { grants, fetcher, clientHosts: hosts, verifier, clock } = authority;
  const clients = createClientDocuments({ fetcher, hosts });
  const tokens = createTokenService(grants, keys, clock);
  const audience = [publicUrl, `${publicUrl}${OAUTH_PATHS.token}`];
  const checkAssertion = createAssertionCheck({ verifier, clients, audience, clock });
  const resource = toResourceUrl(publicUrl);

  const issueTokens: AuthorizationServer["issueTokens"] = async (parameters, signal) => {
    const request = readTokenRequest(parameters, resource);
    if ("error" in request) return request;
    const { token, client } = request;
    const auth = await tokens.findAuthMethod(token, client);
    // A guess takes no lock.
    if (auth === undefined) return UNKNOWN_TOKEN;
    if (auth === "private_key_jwt" && !(await checkAssertion(client, parameters, signal)))
      return { error: "invalid_client", description: "The client's assertion is missing or not valid." };
    if (request.isRefresh) {
      const scopes = parameters.get("scope")?.split(" ").filter(Boolean);
      return tokens.refresh({ token, client, scopes });
    }
    const redirectUri = parameters.get("redirect_uri") ?? undefined;
    return tokens.exchange({
      code: token,
      client,
      redirectUri,
      verifier: parameters.get("code_verifier") ?? "",
    });
  };
  return { issuer: publicUrl, resource, clients, tokens, metadata: toMetadata(publicUrl), issueTokens };
}

function toMetadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}${OAUTH_PATHS.authorize}`,
    token_endpoint: `${issuer}${OAUTH_PATHS.token}`,
    revocation_endpoint: `${issuer}${OAUTH_PATHS.revoke}`,
    scopes_supported: TOKEN_SCOPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    token_endpoint_auth_signing_alg_values_supported: ["ES256", "RS256", "PS256", "EdDSA"],
    revocation_endpoint_auth_methods_supported: ["none"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  };
}

interface TokenRequest {
  /** The code or the refresh token. */
  readonly token: string;
  readonly client: string;
  readonly isRefresh: boolean;
}

function readTokenRequest(parameters: URLSearchParams, resource: string): TokenRequest | TokenRefusal {
  const type = parameters.get("grant_type");
  if (type !== "authorization_code" && type !== "refresh_token")
    return { error: "unsupported_grant_type", description: "Send authorization_code or refresh_token." };
  const isRefresh = type === "refresh_token";
  const name = isRefresh ? "refresh_token" : "code";
  const token = parameters.get(name);
  const client = parameters.get("client_id") ?? readAssertedClient(parameters);
  if (token === null || client === undefined)
    return { error: "invalid_request", description: `Send client_id and ${name}.` };
  if (!isOurResource(parameters.get("resource"), resource))
    return { error: "invalid_target", description: "This server issues tokens for its own /mcp only." };
  return { token, client, isRefresh };
}
