export { type AppOptions, httpApp, type ServerFault } from "./app.ts";
export { isLoopback } from "./guard.ts";
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
} from "./keys.ts";
export { keysFile, keysPathOf } from "./keys-file.ts";
export { type SharedKeys, sharedKeys } from "./keys-shared.ts";
export type { Answered } from "./observe.ts";
export type { ProxyOptions, Step } from "./proxy/proxy.ts";
export { type Served, type ServeOptions, serve } from "./serve.ts";
export { sharedLimits } from "./shared-limits.ts";
