import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FrameworkCheck } from "./framework-check.ts";

// The protocol's own conformance tests against the built server. `node mcp-conformance.ts` runs them alone.

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");
const SUITE = join(import.meta.dirname, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const EXPECTED = join(import.meta.dirname, "mcp-conformance.json");
const REVISIONS = ["2026-07-28", "2025-11-25"] as const;
const TIME_LIMIT_MS = 20_000;

/** What a scenario found: how many checks succeeded, and the names of those that failed. */
interface ScenarioResult {
  readonly passed: number;
  readonly failed: readonly string[];
}
type Results = { readonly [scenario: string]: ScenarioResult };

/** Starts the built server on a new database. */
async function startServer(database: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = spawn(process.execPath, [PROGRAM, "serve", "--db", database, "--port", "0", "--json"], {
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
    if (text.includes("\n")) return { url: (JSON.parse(text) as { url: string }).url, close };
  }
  throw new Error("the server stopped before it listened");
}

/** Adds the key to each request, because the suite cannot send one. Everything else passes unchanged. */
async function addKey(url: string, key: string): Promise<{ url: string; close(): void }> {
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const { method, url: path } = incoming;
    const passed = request(new URL(path ?? "/", url), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  const close = (): void => {
    proxy.closeAllConnections();
    proxy.close();
  };
  return { url: `http://127.0.0.1:${port}/mcp`, close };
}

/** Runs what a revision requires. The suite ends with 1 where a scenario fails, so its files are what counts. */
async function runSuite(revision: string, url: string, folder: string): Promise<Results> {
  const args = [SUITE, "server", "--url", url, "--requirements", revision, "--output-dir", folder];
  await new Promise((resolve) => execFile(process.execPath, args, { timeout: TIME_LIMIT_MS }, resolve));
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as readonly {
        readonly id: string;
        readonly status: string;
      }[];
      const failed = checks.filter(({ status }) => status === "FAILURE").map(({ id }) => id);
      const passed = checks.filter(({ status }) => status === "SUCCESS").length;
      // The folder is named for the scenario and the time.
      return [
        name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, ""),
        { passed, failed: failed.sort() },
      ];
    }),
  );
}

function compareResults(revision: string, expected: Results, found: Results): readonly string[] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  return names.flatMap((name) => {
    const [before, now] = [JSON.stringify(expected[name]), JSON.stringify(found[name])];
    return before === now ? [] : [`${revision}, ${name}: expected ${before}, found ${now}`];
  });
}

async function checkConformance(): Promise<readonly string[]> {
  const expected = JSON.parse(readFileSync(EXPECTED, "utf8")) as { [revision: string]: Results };
  const folder = mkdtempSync(join(tmpdir(), "keepsake-conformance-"));
  const database = join(folder, "memory.db");
  const create = [PROGRAM, "keys", "create", "--only-user", "ana", "--db", database, "--json"];
  const { key } = JSON.parse(execFileSync(process.execPath, create, { encoding: "utf8" })) as { key: string };
  const server = await startServer(database);
  const proxy = await addKey(server.url, key);
  try {
    const problems = await Promise.all(
      REVISIONS.map(async (revision) => {
        const found = await runSuite(revision, proxy.url, mkdtempSync(join(folder, "results-")));
        return compareResults(revision, expected[revision] ?? {}, found);
      }),
    );
    return problems.flat();
  } finally {
    proxy.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The conformance tests of MCP, with the scenarios and counts that are expected. */
export const mcpChecks: readonly FrameworkCheck[] = [
  { name: `MCP conformance, ${REVISIONS.join(" and ")}`, run: checkConformance },
];

if (import.meta.main) {
  const problems = await checkConformance();
  console.log([problems.length === 0 ? "held" : "FAILED", ...problems].join("\n"));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
