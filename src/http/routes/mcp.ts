import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { defineOperation, type Operation, type OperationRequest } from "../operation.ts";
import { refuseField } from "../problem.ts";
import { withPromptLog } from "../proxy/memory/given-prompts.ts";
import { readUserHeader, USER_HEADER } from "../proxy/request/user-id.ts";
import { readJsonBytes } from "../request-body.ts";

/** Answers MCP clients. `createMcpHttpHandler` of the folder `mcp` makes one. */
export interface McpEndpoint {
  /** Answers one request, with the memory and the rights of its key. */
  handle(
    request: Request,
    access: {
      readonly memory: ScopedMemory;
      /** The user with the project. */
      readonly owner: string;
      readonly permissions: readonly ("read" | "write" | "erase")[];
    },
  ): Promise<Response>;
}

/** Loads the endpoint at the first request. Throws `unsupported` if its package is not installed. */
export type McpEndpointLoader = () => Promise<McpEndpoint>;

const PERMISSIONS = ["read", "write", "erase"] as const;

/**
 * The address for MCP clients. It speaks JSON-RPC, so it is in no document of this API. A client without a key's user names
 * the user in a header, which is part of its configuration and out of a model's reach.
 */
export function createMcpOperations(load: McpEndpointLoader): readonly Operation[] {
  let loading: Promise<McpEndpoint> | undefined;
  return [
    defineOperation({
      id: "callMcp",
      method: "POST",
      path: "/mcp",
      tag: "MCP",
      summary: "Answers clients of the Model Context Protocol",
      scope: "read",
      acceptsAccessTokens: true,
      rawBody: { "application/json": { says: "A message of JSON-RPC." } },
      answers: { 200: { says: "The result." } },
      isHidden: true,
      async handle(call) {
        const user = findUser(call);
        const memory = call.memoryOf(user);
        const owner = JSON.stringify([call.project(), user]);
        const permissions = PERMISSIONS.filter((scope) => call.bearer?.scopes.includes(scope));
        const body = await readJsonBytes(call.exchange);
        // A failure to load is tried again: the package may be installed meanwhile.
        loading ??= load();
        const endpoint = await loading.catch((error: unknown) => {
          loading = undefined;
          throw error;
        });
        const { url, headers } = call.exchange.req.raw;
        const request = new Request(url, { method: "POST", headers, body, signal: call.signal });
        const { agent, services } = call;
        const scope = { project: call.project(), user, ...(agent === undefined ? {} : { agent }) };
        const noted = withPromptLog(memory, { log: services.proxy.prompts, scope, door: "mcp" });
        return endpoint.handle(request, { memory: noted, owner, permissions });
      },
    }),
  ];
}

function findUser({ bearer, exchange }: Pick<OperationRequest, "bearer" | "exchange">): string {
  // A key for one user does not reach the user that the header names, if that is another.
  const user = readUserHeader(exchange, USER_HEADER) || bearer?.user;
  if (user !== undefined) return user;
  throw refuseField(
    USER_HEADER,
    "This key is not bound to a user. Use a key that is (`keepsake keys create --only-user ID`), or send the header " +
      `${USER_HEADER} from the client's configuration.`,
  );
}
