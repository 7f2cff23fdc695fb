import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Proof, ShownProofs } from "./framework-check.ts";

// The tables on docs/frameworks.md. `run.ts` fills them with what its checks showed. Versions are those of the lock files.

/** A package, as its lock file names it. */
interface LockedPackage {
  readonly lock: "npm" | "pip";
  /** The name on the page. */
  readonly name: string;
  /** The name in the lock file, where it is another. */
  readonly lockedAs?: string;
}

/** A framework in a table. */
interface FrameworkRow {
  readonly name: string;
  /** Where the row leads. Default: the heading of this name. */
  readonly link?: string;
  /** The import or the example, in Markdown. */
  readonly from: string;
  readonly gives: string;
  /** What the checks run. Empty for a program that they do not run. */
  readonly packages: readonly LockedPackage[];
  /** What stands in the place of "no", in Markdown. */
  readonly instead?: { readonly [proof in Proof]?: string };
}

/** A table of the page, between two marks. */
interface FrameworkTable {
  readonly mark: string;
  readonly head: string;
  readonly rows: readonly FrameworkRow[];
}

const npm = (name: string, lockedAs: string = name): LockedPackage => ({ lock: "npm", name, lockedAs });
const pip = (name: string): LockedPackage => ({ lock: "pip", name });
const adapter = (name: string): string => `\`keepsake/adapters/${name}\``;

const ADAPTERS: FrameworkTable = {
  mark: "adapters",
  head: "Import",
  rows: [
    {
      name: "AI SDK",
      from: adapter("ai-sdk"),
      gives:
        "a middleware for language models (specifications v4, v3 and v2), and [tools](#tools-of-the-ai-sdk)",
      packages: [npm("ai"), npm("ai", "ai-6"), npm("ai", "ai-5")],
    },
    {
      name: "Julep",
      from: adapter("julep"),
      gives: "a `sessions.chat` with a memory, tested with a server of Julep's protocol",
      packages: [npm("@julep/sdk")],
      instead: { streaming: "refused" },
    },
    {
      name: "LangChain",
      from: adapter("langchain"),
      gives:
        "a `BaseListChatMessageHistory`, compared with `InMemoryChatMessageHistory`, and a `BaseRetriever`",
      packages: [npm("@langchain/core")],
    },
    {
      name: "LangGraph",
      from: adapter("langgraph"),
      gives: "a `BaseStore` for long-term memory, compared with `InMemoryStore`",
      packages: [npm("@langchain/langgraph"), npm("@langchain/langgraph-checkpoint")],
    },
    {
      name: "Mastra",
      from: adapter("mastra"),
      gives: "a processor for input and output",
      packages: [npm("@mastra/core")],
    },
    {
      name: "OpenAI Agents SDK",
      from: adapter("openai-agents"),
      gives: "a `Session`, compared with `MemorySession`",
      packages: [npm("@openai/agents")],
    },
    {
      name: "OpenAI Agents SDK for Python",
      from: "`keepsake_client.agents`",
      gives: "a `Session` over the HTTP API",
      packages: [pip("openai-agents")],
    },
  ],
};

const EXAMPLES: FrameworkTable = {
  mark: "examples",
  head: "Example",
  rows: [
    {
      name: "LibreChat",
      link: "../examples/librechat/README.md",
      from: "`examples/librechat/librechat.yaml`",
      gives: "a configuration, over the proxy, with the tools of MCP",
      packages: [],
    },
    {
      name: "LlamaIndex",
      link: "../examples/llama-index/README.md",
      from: "`examples/llama-index/agent.py`",
      gives: "an agent with a `BaseMemory`, over HTTP",
      packages: [pip("llama-index-core"), pip("llama-index-llms-openai")],
    },
    {
      name: "n8n",
      link: "../examples/n8n/README.md",
      from: "`examples/n8n/workflow.json`",
      gives: "a workflow of an agent with the tools of MCP",
      packages: [],
    },
    {
      name: "Open WebUI",
      link: "../examples/open-webui/README.md",
      from: "`examples/open-webui/open-webui.env`",
      gives: "settings, over the proxy",
      packages: [],
    },
    {
      name: "Pydantic AI",
      link: "../examples/pydantic-ai/README.md",
      from: "`examples/pydantic-ai/agent.py`",
      gives: "an agent with the tools of MCP",
      packages: [pip("pydantic-ai-slim")],
    },
  ],
};

const TABLES: readonly FrameworkTable[] = [ADAPTERS, EXAMPLES];

const COLUMNS: readonly { readonly proof: Proof; readonly head: string }[] = [
  { proof: "two conversations", head: "Two conversations" },
  { proof: "streaming", head: "Streaming" },
  { proof: "erasure", head: "Erasure reaches it" },
];

/** What was shown of each framework, by the name of its row. */
export type ProofsByRow = ReadonlyMap<string, ReadonlySet<Proof>>;

/** Gathers what checks without problems showed. */
export function gatherProofs(shown: readonly ShownProofs[]): ProofsByRow {
  const proofs = new Map<string, Set<Proof>>();
  for (const one of shown) {
    const known = proofs.get(one.row) ?? new Set();
    for (const proof of one.proofs) known.add(proof);
    proofs.set(one.row, known);
  }
  return proofs;
}

/** Gives the frameworks of the tables of which nothing was shown, but for those that are not run. */
export const findRowsWithoutProofs = (proofs: ProofsByRow): readonly string[] =>
  TABLES.flatMap(({ rows }) =>
    rows.filter(({ name, packages }) => packages.length > 0 && !proofs.has(name)).map(({ name }) => name),
  );

/**
 * Gives the page with its tables as they should be. A framework that `proofs` lacks was not run this time, and keeps what the
 * page says of it. Throws where a row is not known, a mark is missing, or a lock file lacks a package.
 */
export function writeFrameworkTables(page: string, proofs: ProofsByRow): string {
  const known = new Set(TABLES.flatMap(({ rows }) => rows.map(({ name }) => name)));
  const stranger = [...proofs.keys()].find((name) => !known.has(name));
  if (stranger !== undefined) throw new Error(`No table has a row "${stranger}".`);
  return TABLES.reduce((text, table) => replaceTable(text, table, proofs), page);
}

function replaceTable(page: string, table: FrameworkTable, proofs: ProofsByRow): string {
  const begin = `<!-- Written by \`node test/clients/run.ts --write\`: ${table.mark} -->\n`;
  const end = `<!-- end: ${table.mark} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page has no place for the table "${table.mark}".`);
  const heads = ["Framework", table.head, "What it gives", "Version", ...COLUMNS.map(({ head }) => head)];
  const rows = table.rows.map((row) => toLine(toCells(row, page, proofs)));
  const lines = [toLine(heads), `|${"---|".repeat(heads.length)}`, ...rows];
  return `${page.slice(0, from)}${begin}\n${lines.join("\n")}\n\n${page.slice(to)}`;
}

const toLine = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function toCells(row: FrameworkRow, page: string, proofs: ProofsByRow): string[] {
  const link = `[${row.name}](${row.link ?? `#${row.name.toLowerCase().replaceAll(" ", "-")}`})`;
  const shown = proofs.get(row.name) ?? readProofs(page, link);
  const cells = COLUMNS.map(({ proof }) => {
    if (row.packages.length === 0) return "not run";
    return shown.has(proof) ? "yes" : (row.instead?.[proof] ?? "no");
  });
  return [link, row.from, row.gives, toVersions(row.packages), ...cells];
}

/** What the page says of a framework. */
function readProofs(page: string, link: string): ReadonlySet<Proof> {
  const line = page.split("\n").find((one) => one.startsWith(`| ${link} |`)) ?? "";
  const cells = line.split("|").slice(-1 - COLUMNS.length, -1);
  return new Set(COLUMNS.flatMap(({ proof }, i) => (cells[i]?.trim() === "yes" ? [proof] : [])));
}

function toVersions(packages: readonly LockedPackage[]): string {
  const names = [...new Set(packages.map(({ name }) => name))];
  const versions = names.map((name) => {
    const found = packages.filter((one) => one.name === name).map(readVersion);
    return `\`${name}\` ${found.join(", ")}`;
  });
  return versions.length === 0 ? "not run" : versions.join(", ");
}

function readVersion({ lock, name, lockedAs = name }: LockedPackage): string {
  const version =
    lock === "npm" ? readNpmLock()[`node_modules/${lockedAs}`]?.version : readPipLock().get(name);
  if (version === undefined) throw new Error(`The lock file lacks ${lockedAs}.`);
  return version;
}

function readNpmLock(): { readonly [path: string]: { readonly version?: string } } {
  const text = readFileSync(join(import.meta.dirname, "package-lock.json"), "utf8");
  return (JSON.parse(text) as { packages: { [path: string]: { version?: string } } }).packages;
}

function readPipLock(): ReadonlyMap<string, string> {
  const text = ["requirements.txt", "requirements-apart.txt"]
    .map((file) => readFileSync(join(import.meta.dirname, file), "utf8"))
    .join("\n");
  return new Map(
    [...text.matchAll(/^([\w-]+)(?:\[[\w,-]+\])?==(\S+)$/gm)].map(([, name = "", version = ""]) => [
      name,
      version,
    ]),
  );
}
