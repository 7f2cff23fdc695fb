import { type ExecFileException, execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FrameworkCheck } from "../framework-check.ts";
import {
  type ConformanceResults,
  findUnexplained,
  REVISIONS,
  type Revision,
  renderCounts,
  renderPage,
  type ScenarioOutcome,
  type ServerName,
} from "./conformance-page.ts";
import { PROGRAM, startKeyedServer } from "./servers.ts";
import { bridgeStdio } from "./stdio-bridge.ts";

// The protocol's own conformance tests against the built program. `node conformance.ts` runs them and compares what they find
// with the page of results; with `--page` it writes the page.

const ROOT = join(import.meta.dirname, "../../..");
const PAGE = join(ROOT, "docs/results/mcp-conformance.md");
const OVERVIEW = join(ROOT, "docs/mcp.md");
const PACKAGE = join(import.meta.dirname, "../node_modules/@modelcontextprotocol/conformance");
const FIXTURES = ["--import", join(import.meta.dirname, "with-fixtures.ts")];
/** Of one run of the suite. It takes some 20 s on a machine that does nothing else. */
const TIME_LIMIT_MS = 300_000;
/** Scenarios about HTTP, which over stdio would say something of the bridge. */
const ABOUT_HTTP = /^(?:dns-rebinding-protection|server-session-lifecycle|server-sse-)/;

/** A server that the suite runs against. */
interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the built server, with or without the fixtures, and a proxy that adds a user's key. */
async function startServer(folder: string, flags: readonly string[]): Promise<RunningServer> {
  const server = await startKeyedServer(folder, flags);
  const proxy = await addKey(server.url, server.key);
  const close = async (): Promise<void> => {
    proxy.close();
    await server.close();
  };
  return { url: proxy.url, close };
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

/** Starts `keepsake mcp` with the fixtures for each session. */
function startStdio(folder: string): Promise<RunningServer> {
  const database = join(mkdtempSync(join(folder, "stdio-")), "memory.db");
  return bridgeStdio(process.execPath, [...FIXTURES, PROGRAM, "mcp", "--db", database]);
}

/** The suite's output is not read. */
const MAX_OUTPUT_BYTES = 64_000_000;

/** Runs all that the suite has for a revision. It ends with 1 where a scenario fails, so its files are what counts. */
async function runSuite(
  revision: Revision,
  url: string,
  folder: string,
): Promise<Map<string, ScenarioOutcome>> {
  const results = mkdtempSync(join(folder, "results-"));
  const suite = join(PACKAGE, "dist/index.js");
  const args = [suite, "server", "--url", url, "--requirements", revision, "--output-dir", results];
  const limits = { timeout: TIME_LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  const error = await new Promise<ExecFileException | null>((resolve) => {
    execFile(process.execPath, args, limits, resolve);
  });
  if (error?.killed) throw new Error(`The suite for ${revision} did not end in time, or printed too much.`);
  return new Map(
    readdirSync(results).map((name) => {
      const checks = JSON.parse(readFileSync(join(results, name, "checks.json"), "utf8")) as readonly {
        readonly id: string;
        readonly status: string;
      }[];
      const count = (status: string): number => checks.filter((check) => check.status === status).length;
      // The folder is named for the scenario and the time.
      const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
      return [scenario, { passed: count("SUCCESS"), failed: count("FAILURE"), warned: count("WARNING") }];
    }),
  );
}

/** Reads which scenarios a revision requires of a server, from the suite's own list. */
function readRequired(revision: Revision): ReadonlySet<string> {
  const text = readFileSync(join(PACKAGE, `requirements/${revision}.yaml`), "utf8");
  const [, list = ""] = /^server:\n((?: {2}- .*\n)+)/m.exec(text) ?? [];
  return new Set([...list.matchAll(/- (\S+)/g)].map(([, name = ""]) => name));
}

/** Runs the suite against every server. */
async function runAll(): Promise<ConformanceResults> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-conformance-"));
  const start: { readonly [Name in ServerName]: () => Promise<RunningServer> } = {
    plain: () => startServer(folder, []),
    fixtures: () => startServer(folder, FIXTURES),
    stdio: () => startStdio(folder),
  };
  const found: { [key: string]: Map<string, ScenarioOutcome> } = {};
  try {
    for (const name of Object.keys(start) as ServerName[]) {
      const server = await start[name]();
      try {
        // A session is of 2025-11-25: the next revision has none.
        for (const revision of name === "stdio" ? REVISIONS.slice(1) : REVISIONS)
          found[`${revision} ${name}`] = await runSuite(revision, server.url, folder);
      } finally {
        await server.close();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const rowsOf = (revision: Revision) => {
    const required = readRequired(revision);
    const outcome = (server: ServerName, name: string): ScenarioOutcome | undefined =>
      server === "stdio" && ABOUT_HTTP.test(name) ? undefined : found[`${revision} ${server}`]?.get(name);
    const names = new Set([...required, ...(found[`${revision} fixtures`]?.keys() ?? [])]);
    return [...names].sort().map((name) => ({
      name,
      isRequired: required.has(name),
      outcomes: {
        plain: outcome("plain", name),
        fixtures: outcome("fixtures", name),
        stdio: outcome("stdio", name),
      },
    }));
  };
  return { "2026-07-28": rowsOf("2026-07-28"), "2025-11-25": rowsOf("2025-11-25") };
}

function readVersion(): string {
  return (JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { version: string }).version;
}

/** Compares two texts line by line. Gives a sentence for each line that only one of them has. */
function compareLines(page: string, found: string): readonly string[] {
  const [before, now] = [page.split("\n"), found.split("\n")];
  return [
    ...before.filter((line) => !now.includes(line)).map((line) => `expected ${line}`),
    ...now.filter((line) => !before.includes(line)).map((line) => `found    ${line}`),
  ];
}

async function checkConformance(): Promise<readonly string[]> {
  const results = await runAll();
  return [
    ...findUnexplained(results),
    ...compareLines(readFileSync(PAGE, "utf8"), renderPage(results, readVersion())),
  ];
}

/** The conformance tests of MCP, with the results of the page. */
export const mcpChecks: readonly FrameworkCheck[] = [
  { name: `MCP conformance, ${REVISIONS.join(" and ")}`, run: checkConformance },
];

if (import.meta.main && process.argv.includes("--page")) {
  const results = await runAll();
  writeFileSync(PAGE, renderPage(results, readVersion()));
  // The page on MCP has the same numbers.
  const overview = readFileSync(OVERVIEW, "utf8");
  writeFileSync(
    OVERVIEW,
    overview.replace(/^\| Revision \| Required[^\n]*\n(?:\|.*\n)+/m, `${renderCounts(results)}\n`),
  );
  for (const problem of findUnexplained(results)) console.log(problem);
} else if (import.meta.main) {
  const problems = await checkConformance();
  console.log([problems.length === 0 ? "held" : "FAILED", ...problems].join("\n"));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
