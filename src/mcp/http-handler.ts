import { createMcpServer, type McpServerOptions } from "./server.ts";
import type { McpAccess } from "./tool.ts";

/** Bytes of one request. */
export const MAX_MCP_BODY_BYTES = 1_048_576;
/** Open streams of clients that wait for changes. Nothing of ours changes while a server runs, so they stay silent. */
const MAX_SUBSCRIPTIONS = 100;

/** Answers requests of MCP clients over HTTP. */
export interface McpHttpHandler {
  /** Answers one request, with the memory and the rights of its key. */
  handle(request: Request, access: McpAccess): Promise<Response>;
  /** Ends the requests in progress. */
  close(): Promise<void>;
}

/** What a request takes with it to the server that is made for it. */
interface PassedOn {
  readonly access: McpAccess;
  /** Why that server could not be made. */
  readonly failures: unknown[];
}

/**
 * Creates a handler that serves all revisions of the protocol from one address, without sessions: each request is answered by
 * itself, by any server.
 */
export function createMcpHttpHandler(options: Omit<McpServerOptions, "access">): McpHttpHandler {
  const { sdk, onFault } = options;
  const handler = sdk.createMcpHandler(
    ({ authInfo }) => {
      const passed = authInfo?.extra as PassedOn | undefined;
      if (!passed) throw new TypeError("a request came without a user");
      try {
        return createMcpServer({ ...options, access: passed.access });
      } catch (error) {
        passed.failures.push(error);
        throw error;
      }
    },
    { maxSubscriptions: MAX_SUBSCRIPTIONS, maxRequestBodySize: MAX_MCP_BODY_BYTES },
  );
  return {
    async handle(request, access) {
      const extra: PassedOn = { access, failures: [] };
      // The key was checked before. Its secret stays there.
      const authInfo = { token: "", clientId: "", scopes: [...access.permissions], extra: { ...extra } };
      const answer = await handler.fetch(request, { authInfo });
      if (answer.status < 500) return answer;
      // The SDK's own callback hears of clients' mistakes too, so the status tells what is a fault.
      if (extra.failures.length === 0) extra.failures.push(new Error(`MCP answered with ${answer.status}`));
      for (const failure of extra.failures) onFault?.(failure);
      return answer;
    },
    close: () => handler.close(),
  };
}
