export { type AppOptions, httpApp, type ServerFault } from "./app.ts";
export {
  type ApiKeys,
  apiKeys,
  type Bearer,
  type KeyEntry,
  type KeyRing,
  type KeyStore,
  passingKeys,
} from "./keys.ts";
export { keysFile } from "./keys-file.ts";
export { type Served, type ServeOptions, serve } from "./serve.ts";
