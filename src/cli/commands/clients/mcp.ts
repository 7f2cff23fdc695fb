import { loadVendorPackage } from "../../../config/vendor-packages.ts";
import { VERSION } from "../../../http/version.ts";
import { createMcpServer } from "../../../mcp/server.ts";
import { EXIT, toShownError, waitForStopSignal } from "../../exit.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

/** What a client of `keepsake mcp` may do: it runs as the person whose memory it is. */
const PERMISSIONS = ["read", "write", "erase"] as const;

interface McpCommandOptions extends CommonOptions {
  readonly readOnly?: boolean;
}

/** Serves a user's memory to an MCP client on stdin and stdout, until the client closes stdin. */
export async function runMcp(options: McpCommandOptions): Promise<void> {
  // A client closes both at the end, and may be gone while a line is written.
  const ended = new Promise<string>((resolve) => {
    for (const event of ["end", "close", "error"]) process.stdin.once(event, () => resolve("stdin closed"));
  });
  await withMemory({ ...options, json: false }, "writes", async ({ keepsake, memory, clock }) => {
    const sdk = await loadVendorPackage("@modelcontextprotocol/server", "keepsake mcp");
    const access = {
      memory,
      owner: JSON.stringify([options.project ?? "default", options.user ?? "me"]),
      promptGuard: keepsake.promptGuard,
      permissions: options.readOnly ? PERMISSIONS.slice(0, 1) : PERMISSIONS,
    };
    const onFault = (error: unknown): void => {
      process.stderr.write(`keepsake: ${toShownError(error).message}\n`);
    };
    const serving = sdk.serveStdio(() => createMcpServer({ sdk, version: VERSION, access, clock, onFault }), {
      onerror: onFault,
    });
    await Promise.race([ended, waitForStopSignal()]);
    await serving.close();
    return EXIT.done;
  });
}
