import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

// The conformance suite speaks HTTP only. This passes each message of a session on to a program's stdin, and back from its stdout,
// unchanged: one program a session. HTTP itself is the SDK's here, so scenarios about HTTP say nothing of the program.

/** A program, and where it can be reached over HTTP. */
export interface StdioBridge {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a program that speaks MCP on stdin and stdout over HTTP, with sessions. */
export async function bridgeStdio(command: string, args: readonly string[]): Promise<StdioBridge> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const programs = new Set<StdioClientTransport>();
  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const program = new StdioClientTransport({ command, args: [...args], stderr: "inherit" });
    const session = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    passMessages(session, program);
    session.onclose = () => void program.close();
    programs.add(program);
    await program.start();
    return session;
  };
  const server = createAdaptorServer({
    async fetch(request) {
      const id = request.headers.get("mcp-session-id");
      const session = id === null ? await open() : sessions.get(id);
      return session?.handleRequest(request) ?? new Response("no such session", { status: 404 });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      for (const program of programs) await program.close();
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
    },
  };
}

/** Passes messages both ways. What the program sends on its own goes with the answer to the client's last request. */
function passMessages(
  session: WebStandardStreamableHTTPServerTransport,
  program: StdioClientTransport,
): void {
  const open: RequestId[] = [];
  session.onmessage = (message) => {
    if (isJSONRPCRequest(message)) open.push(message.id);
    void program.send(message);
  };
  program.onmessage = (message) => {
    const isOwn = isJSONRPCRequest(message) || isJSONRPCNotification(message);
    const related = isOwn ? open.at(-1) : undefined;
    if (isJSONRPCResponse(message) && message.id !== undefined) open.splice(open.indexOf(message.id), 1);
    void session.send(message, related === undefined ? {} : { relatedRequestId: related });
  };
}
