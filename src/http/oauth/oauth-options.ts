import { createExternalAuthority, type ExternalProvider } from "./external-provider.ts";
import { createProtectedResource, type ProtectedResource } from "./protected-resource.ts";

/** Options of OAuth for `/mcp`. */
export interface OAuthOptions {
  /** The origin by which clients reach the server: "https://memory.example.com". */
  readonly publicUrl: string;
  /** Who issues access tokens. */
  readonly authority: ExternalProvider;
}

/** Creates `/mcp` as a resource that accepts access tokens. */
export function createOAuthResource({ publicUrl, authority }: OAuthOptions): ProtectedResource {
  return createProtectedResource(publicUrl, createExternalAuthority(publicUrl, authority));
}
