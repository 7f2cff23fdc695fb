export { type AppOptions, httpApp, type ServerFault } from "./app.ts";
export {
  type ApiKeys,
  apiKeys,
  type Bearer,
  type IssuedKey,
  type KeyEntry,
  type KeyManagement,
  type KeyRing,
  type KeyScope,
  type KeyStore,
  passingKeys,
  type Rotation,
  type WantedKey,
} from "./keys/api-keys.ts";
export { keysFile, keysPathOf, type SharedKeys, sharedKeys } from "./keys/key-stores.ts";
export type { Answered } from "./middleware/observability.ts";
export { sharedLimits } from "./middleware/rate-limits.ts";
export { isLoopback } from "./middleware/security.ts";
export type { OwnAuthority } from "./oauth/authorization-server.ts";
export type { ExternalProvider } from "./oauth/external-provider.ts";
export {
  createPassingGrants,
  type GrantEntry,
  type GrantStore,
  openGrantsFile,
  openSharedGrants,
  toGrantsPath,
} from "./oauth/grant-store.ts";
export type { OAuthOptions } from "./oauth/oauth-options.ts";
export type { ProxyOptions, Step } from "./proxy/proxy.ts";
export type { McpEndpoint, McpEndpointLoader } from "./routes/mcp.ts";
export { type Served, type ServeOptions, serve } from "./server.ts";
