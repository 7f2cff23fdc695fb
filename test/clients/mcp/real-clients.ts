import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type CallToolResult, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { FrameworkCheck } from "../framework-check.ts";
import { PROGRAM, startKeyedServer } from "./servers.ts";
import { type McpCaller, tellMcpStory } from "./story.ts";

// Two clients that people have, unmodified, over stdin and stdout and over HTTP: the SDK before version 2, which most programs
// use, and the Inspector's command line. `node real-clients.ts` runs them alone.

const INSPECTOR = join(import.meta.dirname, "../node_modules/.bin/mcp-inspector");

/** How a client reaches a memory: a program that it starts, or an address with a key. */
type Reach =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string; readonly authorization: string };

type Check = (reach: Reach, folder: string) => Promise<readonly string[]>;

/** Runs a check in a folder that is removed after it. */
async function inFolder<Result>(run: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-client-"));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a check with a new memory that the client reaches by starting a program. */
function overStdio(check: Check): Promise<readonly string[]> {
  return inFolder((folder) => {
    const args = [PROGRAM, "mcp", "--db", join(folder, "memory.db"), "--user", "ana"];
    return check({ command: process.execPath, args }, folder);
  });
}

/** Runs a check with a new memory on a server. */
function overHttp(check: Check): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    const server = await startKeyedServer(folder);
    try {
      return await check({ url: server.url, authorization: `Bearer ${server.key}` }, folder);
    } finally {
      await server.close();
    }
  });
}

function readAnswer({ content, structuredContent }: CallToolResult): Awaited<ReturnType<McpCaller["call"]>> {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return { text, data: structuredContent ?? {} };
}

function createTransport(reach: Reach): Transport {
  if ("command" in reach) {
    const { command, args } = reach;
    return new StdioClientTransport({ command, args: [...args], stderr: "ignore" });
  }
  const { url, authorization } = reach;
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } });
}

function callWithSdk(client: Client): McpCaller {
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) =>
      readAnswer((await client.callTool({ name, arguments: args })) as CallToolResult),
  };
}

/** The story with the SDK of version 1. */
async function checkSdk(reach: Reach): Promise<readonly string[]> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(createTransport(reach));
  try {
    return await tellMcpStory(callWithSdk(client));
  } finally {
    await client.close();
  }
}

/** A client of version 1 that can ask the user: only the user's yes erases. */
async function checkSdkAsks(reach: Reach): Promise<readonly string[]> {
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  const questions: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    questions.push(params.message);
    return questions.length === 1 ? { action: "decline" } : { action: "accept", content: { agree: true } };
  });
  await client.connect(createTransport(reach));
  try {
    const { call } = callWithSdk(client);
    await call("remember", { text: "I use Shram and Magnet as productivity tools." });
    const declined = await call("forget", { what: "Magnet" });
    const agreed = await call("forget", { what: "Magnet" });
    const { text } = await call("recall", { query: "Which productivity tools do I use?" });
    return [
      ...(questions.length === 2 && questions.every((question) => question.includes("Magnet"))
        ? []
        : [`the user was asked ${JSON.stringify(questions)}`]),
      ...(declined.data.done === false ? [] : [`a no gives ${declined.text}`]),
      ...(agreed.data.done === true ? [] : [`a yes gives ${agreed.text}`]),
      ...(text.includes("Magnet") || !text.includes("Shram") ? [`after the yes it recalls ${text}`] : []),
    ];
  } finally {
    await client.close();
  }
}

/** The story with the Inspector's command line: one process a call. */
function checkInspector(protocolEra: "legacy" | "modern"): Check {
  return async (reach, folder) => {
    const server =
      "command" in reach
        ? { type: "stdio", ...reach, protocolEra }
        : { type: "http", url: reach.url, headers: { authorization: reach.authorization }, protocolEra };
    const config = join(folder, "inspector.json");
    writeFileSync(config, JSON.stringify({ mcpServers: { keepsake: server } }));
    const inspect = async (method: string, ...options: readonly string[]): Promise<unknown> => {
      const args = ["--cli", "--config", config, "--server", "keepsake", "--method", method, ...options];
      // Its own files go to the folder, too.
      const env = { ...process.env, HOME: folder };
      const { stdout } = await promisify(execFile)(process.execPath, [INSPECTOR, ...args], { env });
      return JSON.parse(stdout);
    };
    return tellMcpStory({
      listTools: async () =>
        ((await inspect("tools/list")) as { tools: { name: string }[] }).tools.map(({ name }) => name),
      call: async (name, args) => {
        const given = Object.entries(args).flatMap(([field, value]) => ["--tool-arg", `${field}=${value}`]);
        return readAnswer((await inspect("tools/call", "--tool-name", name, ...given)) as CallToolResult);
      },
    });
  };
}

/** Clients of MCP that people have, each over stdin and stdout and over HTTP. */
export const mcpClientChecks: readonly FrameworkCheck[] = [
  { name: "MCP SDK 1.x over stdio", run: () => overStdio(checkSdk) },
  { name: "MCP SDK 1.x over HTTP", run: () => overHttp(checkSdk) },
  { name: "MCP SDK 1.x over stdio, asking the user", run: () => overStdio(checkSdkAsks) },
  { name: "MCP Inspector over stdio", run: () => overStdio(checkInspector("legacy")) },
  { name: "MCP Inspector over HTTP", run: () => overHttp(checkInspector("modern")) },
];

if (import.meta.main) {
  for (const { name, run } of mcpClientChecks) {
    const problems = await run().catch((error: unknown) => [String(error)]);
    console.log([`${problems.length === 0 ? "held  " : "FAILED"}  ${name}`, ...problems].join("\n        "));
    if (problems.length > 0) process.exitCode = 1;
  }
}
