import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const KEY = "a-key-of-this-test-and-no-other";
let folder: string;
let file: string;
const clients: Client[] = [];
const servers: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-mcp-"));
  file = join(folder, "memory.db");
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const server of servers.splice(0)) {
    server.kill("SIGTERM");
    if (server.exitCode === null) await once(server, "exit");
  }
  rmSync(folder, { recursive: true, force: true });
});

type Revision = "2025-11-25" | "2026-07-28";

function createClient(revision: Revision, canAsk = false): Client {
  const negotiation = revision === "2026-07-28" ? { versionNegotiation: { mode: "auto" as const } } : {};
  const capabilities = canAsk ? { elicitation: {} } : {};
  const client = new Client({ name: "test", version: "1" }, { ...negotiation, capabilities });
  clients.push(client);
  return client;
}

interface StdioOptions {
  readonly canAsk?: boolean;
}

async function connectStdio(
  revision: Revision,
  { canAsk = false }: StdioOptions = {},
  ...options: string[]
): Promise<Client> {
  const client = createClient(revision, canAsk);
  const args = [MAIN, "mcp", "--db", file, ...options];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  return client;
}

async function connectHttp(revision: Revision): Promise<Client> {
  const server = spawn(process.execPath, [MAIN, "serve", "--db", file, "--port", "0", "--json"], {
    env: { ...process.env, KEEPSAKE_API_KEY: KEY },
    stdio: ["ignore", "pipe", "ignore"],
  });
  servers.push(server);
  const [line] = (await once(server.stdout as NonNullable<typeof server.stdout>, "data")) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { readonly url: string };
  const client = createClient(revision);
  const headers = { authorization: `Bearer ${KEY}`, "x-keepsake-user": "me" };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

async function call(client: Client, name: string, args: { [name: string]: unknown }): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

it.each<Revision>(["2025-11-25", "2026-07-28"])(
  "a client of the revision %s tells the story over stdin and stdout",
  async (revision) => {
    const client = await connectStdio(revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    await call(client, "remember", { text: "I use Shram and Magnet as productivity tools." });
    await call(client, "remember", { text: "I don't use Magnet anymore." });
    expect(await call(client, "profile", {})).toMatch(/Shram/);
    const plan = await client.callTool({ name: "forget", arguments: { what: "Magnet" } });
    const { confirm } = plan.structuredContent as { readonly confirm: string };
    expect(await call(client, "forget", { what: "Magnet", confirm })).toContain("nothing is left");
    expect(await call(client, "recall", { query: "Magnet" })).not.toContain("Magnet");
  },
);

it.each<Revision>(["2025-11-25", "2026-07-28"])(
  "a client of the revision %s that supports elicitation asks the user over stdin and stdout",
  async (revision) => {
    const replies = [{ action: "decline" as const }, { action: "accept" as const, content: { agree: true } }];
    const questions: string[] = [];
    const client = await connectStdio(revision, { canAsk: true });
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      return replies[questions.length - 1] ?? { action: "cancel" };
    });
    await call(client, "remember", { text: "I use Magnet as a productivity tool." });
    expect(await call(client, "forget", { what: "Magnet" })).toContain("Nothing is erased");
    expect(await call(client, "forget", { what: "Magnet" })).toContain("nothing is left");
    expect(questions).toEqual(Array(2).fill(expect.stringContaining("Magnet")));
  },
);

it("a server and two programs over stdin work on one file at once, and see each other's writes", async () => {
  const web = await connectHttp("2026-07-28");
  const [desk, laptop] = [await connectStdio("2025-11-25"), await connectStdio("2026-07-28")];
  const names = ["Abel", "Berta", "Carl", "Dora", "Emil", "Frieda", "Gustav", "Hanna", "Ida"];
  await Promise.all(
    names.map((name, i) =>
      call([web, desk, laptop][i % 3] as Client, "remember", { text: `My friend ${name} lives in Ghent.` }),
    ),
  );
  for (const client of [web, desk, laptop]) {
    const found = await call(client, "recall", { query: "friends in Ghent", limit: 50, max_tokens: 8000 });
    expect(names.filter((name) => !found.includes(name))).toEqual([]);
  }
  const plan = await desk.callTool({ name: "forget", arguments: { what: "Berta" } });
  const { confirm } = plan.structuredContent as { readonly confirm: string };
  // Any process can carry out a plan that another one made.
  expect(await call(web, "forget", { what: "Berta", confirm })).toContain("nothing is left");
  expect(
    await call(laptop, "recall", { query: "friends in Ghent", limit: 50, max_tokens: 8000 }),
  ).not.toContain("Berta");
});

it("a program that may only read offers no tool that writes, and the user is the one of the command line", async () => {
  const ana = await connectStdio("2026-07-28", {}, "--user", "ana");
  await call(ana, "remember", { text: "I live in Porto." });
  const reader = await connectStdio("2026-07-28", {}, "--user", "ana", "--read-only");
  expect((await reader.listTools()).tools.map(({ name }) => name)).not.toContain("remember");
  expect(await call(reader, "profile", {})).toContain("Porto");
  const ben = await connectStdio("2026-07-28", {}, "--user", "ben");
  expect(await call(ben, "profile", {})).not.toContain("Porto");
});

it("writes nothing but the protocol on stdout, and ends with status 0 when stdin does", async () => {
  const child = spawn(process.execPath, [MAIN, "mcp", "--db", file], { stdio: ["pipe", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (text) => (output += text));
  child.stderr.on("data", (text) => (errors += text));
  const request = (id: number, method: string, params: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  const clientInfo = { name: "test", version: "1" };
  request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  child.stdin.write("this is no JSON\n");
  request(2, "tools/call", { name: "remember", arguments: { text: "I live in Porto." } });
  while (!output.includes('"id":2')) await once(child.stdout, "data");
  child.stdin.end();
  const [status] = await once(child, "exit");
  expect(status).toBe(0);
  expect(
    output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).jsonrpc),
  ).not.toContain(undefined);
  expect(errors).not.toContain("Porto");
});
