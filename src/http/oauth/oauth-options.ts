import type { ApiKeys } from "../keys/api-keys.ts";
import {
  type AuthorizationServer,
  createAuthorizationServer,
  type OwnAuthority,
} from "./authorization-server.ts";
import { createExternalAuthority, type ExternalProvider } from "./external-provider.ts";
import { createProtectedResource, type ProtectedResource } from "./protected-resource.ts";

/** Options of OAuth for `/mcp`. */
export interface OAuthOptions {
  /** The origin by which clients reach the server: "https://memory.example.com". */
  readonly publicUrl: string;
  /** Who issues access tokens: this server, or an identity provider. */
  readonly authority: OwnAuthority | ExternalProvider;
}

/** OAuth as a server runs it. */
export interface OAuth {
  /** `/mcp`, which accepts access tokens. */
  readonly resource: ProtectedResource;
  /** Issues them; absent if an identity provider does. */
  readonly server?: AuthorizationServer;
}

/** Creates what accepts access tokens, and what issues them. */
export function createOAuth({ publicUrl, authority }: OAuthOptions, keys: ApiKeys): OAuth {
  if (authority.kind === "external")
    return { resource: createProtectedResource(publicUrl, createExternalAuthority(publicUrl, authority)) };
  const server = createAuthorizationServer(publicUrl, authority, keys);
  const resource = createProtectedResource(publicUrl, {
    issuer: server.issuer,
    verify: server.tokens.verify,
  });
  return { resource, server };
}
