import { type AuthorizationServer, OAUTH_PATHS } from "../oauth/authorization-server.ts";
import type { OAuth } from "../oauth/oauth-options.ts";
import { type ProtectedResource, RESOURCE_METADATA_PATH } from "../oauth/protected-resource.ts";
import type { IssuedTokens, TokenRefusal } from "../oauth/token-service.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { readFormBody } from "../request-body.ts";
import type { RequestContext } from "../request-context.ts";
import { createConsentOperations } from "./oauth-consent.ts";

/** OAuth's clients know these addresses, so they are in no document of this API. */
const COMMON = { tag: "OAuth", scope: "none", isHidden: true } as const;

/** The addresses of OAuth: the metadata of `/mcp`, and the authorization server if there is one. */
export function createOAuthOperations({ resource, server }: OAuth): readonly Operation[] {
  return [...createResourceOperations(resource), ...(server ? createAuthorizationOperations(server) : [])];
}

function createResourceOperations({ metadata }: ProtectedResource): readonly Operation[] {
  return ["", "/mcp"].map((suffix) =>
    defineOperation({
      ...COMMON,
      id: `getProtectedResource${suffix}`,
      method: "GET",
      path: `${RESOURCE_METADATA_PATH}${suffix}`,
      summary: "Says who issues access tokens for /mcp",
      answers: { 200: { says: "The metadata." } },
      handle: ({ exchange }) => exchange.json(metadata),
    }),
  );
}

function createAuthorizationOperations(server: AuthorizationServer): readonly Operation[] {
  const form = { "application/x-www-form-urlencoded": { says: "The parameters." } };
  return [
    defineOperation({
      ...COMMON,
      id: "getAuthorizationServer",
      method: "GET",
      path: OAUTH_PATHS.metadata,
      summary: "Describes the authorization server",
      answers: { 200: { says: "The metadata." } },
      handle: ({ exchange }) => exchange.json(server.metadata),
    }),
    ...createConsentOperations(server),
    defineOperation({
      ...COMMON,
      id: "issueTokens",
      method: "POST",
      path: OAUTH_PATHS.token,
      summary: "Exchanges a code or a refresh token for tokens",
      rawBody: form,
      answers: { 200: { says: "The tokens." } },
      async handle({ exchange, services, signal }) {
        const parameters = await readFormBody(exchange);
        await services.keys.refresh();
        return sendTokens(
          exchange,
          findFormProblem(exchange, parameters) ?? (await server.issueTokens(parameters, signal)),
        );
      },
    }),
    defineOperation({
      ...COMMON,
      id: "revokeToken",
      method: "POST",
      path: OAUTH_PATHS.revoke,
      summary: "Ends the access that a token gives",
      rawBody: form,
      answers: { 200: { says: "The token gives no access." } },
      async handle({ exchange }) {
        const parameters = await readFormBody(exchange);
        const token = parameters.get("token");
        const problem = findFormProblem(exchange, parameters);
        if (problem) return sendTokens(exchange, problem);
        if (token === null)
          return sendTokens(exchange, { error: "invalid_request", description: "Send token." });
        await server.tokens.revoke(token, parameters.get("client_id") ?? undefined);
        return exchange.body(null, 200);
      },
    }),
  ];
}

/** A parameter must not come twice (RFC 6749 section 3.2), and no client has a password here. */
function findFormProblem(exchange: RequestContext, parameters: URLSearchParams): TokenRefusal | undefined {
  const names = [...parameters.keys()];
  if (new Set(names).size < names.length)
    return { error: "invalid_request", description: "A parameter is there more than once." };
  if (exchange.req.header("authorization") !== undefined || parameters.has("client_secret"))
    return {
      error: "invalid_client",
      description: "Clients have no secret here. Use none or private_key_jwt.",
    };
  return undefined;
}

function sendTokens(exchange: RequestContext, result: IssuedTokens | TokenRefusal): Response {
  if ("error" in result) {
    const { error, description } = result;
    const isClient = error === "invalid_client";
    const headers = isClient ? { "www-authenticate": 'Bearer realm="keepsake"' } : {};
    return exchange.json({ error, error_description: description }, isClient ? 401 : 400, headers);
  }
  const { accessToken, refreshToken, expiresIn, scopes } = result;
  return exchange.json({
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: expiresIn,
    refresh_token: refreshToken,
    scope: scopes.join(" "),
  });
}
