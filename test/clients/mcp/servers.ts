import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";

/** The built command line. */
export const PROGRAM: string = join(import.meta.dirname, "../../../dist/cli/main.js");

/** A running server, and the key of a user. */
export interface KeyedServer {
  /** The address for MCP clients. */
  readonly url: string;
  readonly key: string;
  close(): Promise<void>;
}

/** Starts the built server on a new database in the folder, with flags for Node. */
export async function startKeyedServer(folder: string, flags: readonly string[] = []): Promise<KeyedServer> {
  const database = join(mkdtempSync(join(folder, "server-")), "memory.db");
  const create = [PROGRAM, "keys", "create", "--only-user", "ana", "--db", database, "--json"];
  const { key } = JSON.parse(execFileSync(process.execPath, create, { encoding: "utf8" })) as { key: string };
  const args = [...flags, PROGRAM, "serve", "--db", database, "--port", "0", "--json"];
  const server = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, KEEPSAKE_EXTRACTOR: "rules" },
  });
  const close = async (): Promise<void> => {
    if (server.exitCode !== null) return;
    server.kill();
    await once(server, "exit");
  };
  let text = "";
  for await (const part of server.stdout) {
    text += String(part);
    if (text.includes("\n")) return { url: `${(JSON.parse(text) as { url: string }).url}/mcp`, key, close };
  }
  throw new Error("the server stopped before it listened");
}
