export { createMcpHttpHandler, type McpHttpHandler } from "./http-handler.ts";
export { createMcpServer, type McpSdk, type McpServerOptions } from "./server.ts";
export type { McpAccess, McpPermission } from "./tool.ts";
