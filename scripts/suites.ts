import { readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { parseArgs } from "node:util";

/** One suite as it ran against one adapter. */
export interface SuiteRun {
  /** "Memory store", "Vector index" and so on: what the suite is of. */
  readonly port: string;
  /** The adapter's folder. */
  readonly adapter: string;
  /** What the suite was run against, where an adapter is tried in several ways. */
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** ms since 1970. */
  readonly at: number;
}

/** Of vitest's JSON report, the part that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly status: string;
    }[];
  }[];
}

const ROOT = join(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/backends/README.md");
const NOTE = "<!-- This table is written by `node scripts/suites.ts REPORT` from the tests' own report. -->";

/** The suites of `src/testing`, as their titles begin, in the order of the table. */
const PORTS = [
  "Memory store",
  "Calls",
  "Documents",
  "Vector index",
  "Sessions",
  "Cache",
  "Rate limits",
  "Queue",
] as const;

/** What an adapter's suite runs against, in words; the versions are those that `test/services/up` installs. */
const AGAINST: { readonly [adapter: string]: string } = {
  memory: "itself: it is the specification",
  sqlite: "files, and in memory",
  postgres: "PostgreSQL 18.4",
  mariadb: "MariaDB 10.11",
  "postgres-index": "PostgreSQL 18.4 with pgvector 0.8.5",
  redis: "Redis 7.0",
  bullmq: "BullMQ 6.7 on Redis 7.0",
  chroma: "Chroma 1.5.9",
  faiss: "faiss-cpu 1.15.1",
  pinecone: "a server of the documented protocol in our tests, not Pinecone itself",
  "s3-vectors": "moto 5.2.5 with queries added, not AWS itself",
};

/** The suites that a report tells of. */
export function suitesIn(report: Report): SuiteRun[] {
  const runs = new Map<string, SuiteRun>();
  for (const { name: file, startTime, assertionResults } of report.testResults) {
    const [, adapter] = /\/src\/adapters\/([^/]+)\//.exec(file.replaceAll(sep, "/")) ?? [];
    if (adapter === undefined) continue;
    for (const { ancestorTitles, status } of assertionResults) {
      const found = ancestorTitles.map(suiteOf).find((suite) => suite !== undefined);
      if (!found) continue;
      const key = JSON.stringify([found.port, adapter, found.name]);
      const before = runs.get(key) ?? { ...found, adapter, passed: 0, failed: 0, skipped: 0, at: startTime };
      const counted = status === "passed" || status === "failed" ? status : "skipped";
      runs.set(key, { ...before, [counted]: before[counted] + 1 });
    }
  }
  const place = (port: string): number => (PORTS as readonly string[]).indexOf(port);
  return [...runs.values()].sort(
    (one, other) =>
      place(one.port) - place(other.port) ||
      adapterPlace(one.adapter) - adapterPlace(other.adapter) ||
      one.name.localeCompare(other.name),
  );
}

function adapterPlace(adapter: string): number {
  const at = Object.keys(AGAINST).indexOf(adapter);
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
}

/** "Vector index: chroma" -> its parts. The reason why a suite was left out follows the name, in brackets. */
function suiteOf(title: string): Pick<SuiteRun, "port" | "name"> | undefined {
  const [, port = "", name = ""] = /^([A-Z]\w*(?: \w+)?): (.*?)(?: [[(].*)?$/.exec(title) ?? [];
  const known = PORTS.find((one) => one === port);
  return known && { port: known, name };
}

/** The table as it stands in the page. */
export function suiteTable(runs: readonly SuiteRun[]): string {
  const rows = runs.map(({ port, adapter, name, passed, failed, skipped, at }) => {
    const against = AGAINST[adapter] ?? adapter;
    const more = name === adapter || adapter === "memory" ? "" : ` (${name})`;
    const result = [
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      ...(skipped > 0 ? [`${skipped} left out`] : []),
    ];
    const when = new Date(at).toISOString().slice(0, 16).replace("T", " ");
    return `| ${port} | \`${adapter}\`${more} | ${against} | ${result.join(", ")} | ${when} |`;
  });
  return ["| Suite | Adapter | Against | Result | When (UTC) |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** The page with the table in place of the one that it has. */
export function withTable(page: string, table: string): string {
  const start = page.indexOf(NOTE);
  if (start < 0) throw new Error(`The page has no line ${NOTE}`);
  const [before, after] = [page.slice(0, start + NOTE.length), page.slice(start + NOTE.length)];
  return `${before}\n\n${table}\n${after.replace(/^\s*(?:\|.*\n)+/, "")}`;
}

/** What a suite is of: the same today and in the table that stands in the page. */
const subject = (row: string): string => row.split("|").slice(1, 4).join("|").trim();

/**
 * What the page says of suites and the report does not, and the other way round; suites that did not pass as a whole. Nothing is said of
 * those in `absent`, by name: their servers are not here.
 */
export function complaints(page: string, all: readonly SuiteRun[], absent: readonly string[] = []): string[] {
  const runs = all.filter(({ name }) => !absent.includes(name));
  const isAbsent = (row: string): boolean => absent.some((name) => row.includes(`(${name})`));
  const [today, written] = [suiteTable(runs), page.slice(page.indexOf(NOTE))].map(
    (text) => new Set((text.match(/^\| (?!Suite ).*`.*$/gm) ?? []).map(subject)),
  );
  return [
    ...[...(today ?? [])].filter((row) => !written?.has(row)).map((row) => `not in the page: ${row}`),
    ...[...(written ?? [])]
      .filter((row) => !today?.has(row) && !isAbsent(row))
      .map((row) => `did not run: ${row}`),
    ...runs
      .filter(({ failed, skipped }) => failed + skipped > 0)
      .map(({ port, name, failed, skipped }) => `${port}: ${name}: ${failed} failed, ${skipped} left out`),
  ];
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      check: { type: "boolean", default: false },
      absent: { type: "string", multiple: true, default: [] },
    },
  });
  if (positionals.length === 0) {
    console.error(
      "node scripts/suites.ts REPORT... [--check] [--absent NAME], after: npm test -- --reporter=json --outputFile=REPORT",
    );
    return 2;
  }
  const reports = positionals.map((file) => JSON.parse(readFileSync(file, "utf8")) as Report);
  const runs = suitesIn({ testResults: reports.flatMap(({ testResults }) => testResults) });
  const page = readFileSync(PAGE, "utf8");
  console.log(suiteTable(runs));
  if (!values.check) {
    writeFileSync(PAGE, withTable(page, suiteTable(runs)));
    return 0;
  }
  const wrong = complaints(page, runs, values.absent);
  for (const one of wrong) console.error(one);
  return wrong.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();
