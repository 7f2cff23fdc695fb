import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { FrameworkCheck } from "./framework-check.ts";

// The bundle for Claude Desktop, with the format's own tool: unpacked, validated, and started as the manifest says.

const run = promisify(execFile);
const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");
const MCPB = join(import.meta.dirname, "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");

async function writeBundle(file: string): Promise<Buffer> {
  await run(process.execPath, [PROGRAM, "mcp", "bundle", file, "--user", "ana"]);
  return readFileSync(file);
}

/** Starts the server as Claude Desktop does, with the settings that the manifest suggests. */
async function callTool(folder: string, home: string): Promise<string> {
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const config = await getMcpConfigForManifest({
    manifest,
    extensionPath: folder,
    systemDirs: { HOME: home },
    userConfig: { database: manifest.user_config.database.default, user: manifest.user_config.user.default },
    pathSeparator: "/",
  });
  if (!config) return "no configuration";
  const client = new Client({ name: "test", version: "1" });
  const env = { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home };
  const command = config.command === "node" ? process.execPath : config.command;
  await client.connect(
    new StdioClientTransport({ command, args: config.args ?? [], env, cwd: home, stderr: "ignore" }),
  );
  try {
    await client.callTool({ name: "remember", arguments: { text: "I live in Porto." } });
    const { content } = await client.callTool({ name: "recall", arguments: { query: "Where do I live?" } });
    return JSON.stringify(content);
  } finally {
    await client.close();
  }
}

async function checkBundle(): Promise<readonly string[]> {
  const home = mkdtempSync(join(tmpdir(), "keepsake-bundle-"));
  try {
    const file = join(home, "keepsake.mcpb");
    const bundle = await writeBundle(file);
    const folder = join(home, "unpacked");
    await run(process.execPath, [MCPB, "unpack", file, folder]);
    await run(process.execPath, [MCPB, "validate", join(folder, "manifest.json")]);
    const answer = await callTool(folder, home);
    const list = [PROGRAM, "list", "--db", join(home, "memory.db"), "--user", "ana"];
    const listed = await run(process.execPath, list);
    const again = await writeBundle(join(home, "again.mcpb"));
    return [
      ...(again.equals(bundle) ? [] : ["a second bundle has other bytes"]),
      ...(answer.includes("lives in Porto") ? [] : [`the tool answered ${answer}`]),
      ...(listed.stdout.includes("lives in Porto") ? [] : ["the suggested file and user have no memory"]),
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The bundle for Claude Desktop. */
export const bundleChecks: readonly FrameworkCheck[] = [
  { name: "MCP bundle for Claude Desktop", run: checkBundle },
];

if (import.meta.main) {
  const problems = await checkBundle();
  console.log([problems.length === 0 ? "held" : "FAILED", ...problems].join("\n"));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
