import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type ConformanceResults,
  countScenarios,
  findUnexplained,
  renderCounts,
  renderPage,
  type ScenarioOutcome,
  type ScenarioRow,
} from "../clients/mcp/conformance-page.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const RESULTS = read("docs/results/mcp-conformance.md");
const OVERVIEW = read("docs/mcp.md");

interface PackageLock {
  readonly packages: { readonly [path: string]: { readonly version: string } };
}
const readLock = (path: string): PackageLock => JSON.parse(read(path)) as PackageLock;
/** The project's own packages come last: what both have is the project's, where its tests use it. */
const INSTALLED: PackageLock["packages"] = {
  ...readLock("test/clients/package-lock.json").packages,
  ...readLock("package-lock.json").packages,
};

const COUNTS = /^\| Revision \| Required[^\n]*\n(?:\|.*\n)+/m;

describe("the page on MCP", () => {
  it("has the numbers of the page of results", () => {
    const [counts] = COUNTS.exec(RESULTS) ?? [];
    expect(counts).toMatch(/2026-07-28/);
    expect(COUNTS.exec(OVERVIEW)?.[0]).toBe(counts);
  });

  it("says that no required scenario fails, and none does", () => {
    const rows = [...RESULTS.matchAll(/^\| 20\d\d-\d\d-\d\d \| (.*) \|$/gm)].map(([, cells = ""]) =>
      cells.split(" | "),
    );
    expect(rows.map(([, , , , failed]) => failed)).toEqual(["0", "0"]);
    expect(OVERVIEW).toContain("No required scenario fails.");
  });

  it.each(["conformance", "client", "sdk", "inspector"])(
    "names the version of @modelcontextprotocol/%s that is tried",
    (name) => {
      const { version } = INSTALLED[`node_modules/@modelcontextprotocol/${name}`] ?? {};
      const lines = OVERVIEW.split("\n").filter((line) => line.includes(`\`@modelcontextprotocol/${name}\``));
      expect(lines.filter((line) => line.includes(version ?? "no such package"))).toHaveLength(1);
    },
  );
});

describe("the results of the conformance tests", () => {
  const passed: ScenarioOutcome = { passed: 2, failed: 0, warned: 0 };
  const failed: ScenarioOutcome = { passed: 1, failed: 1, warned: 0 };
  const warned: ScenarioOutcome = { passed: 1, failed: 0, warned: 1 };
  const empty: ScenarioOutcome = { passed: 0, failed: 0, warned: 1 };
  const row = (name: string, outcomes: ScenarioRow["outcomes"], isRequired = true): ScenarioRow => ({
    name,
    isRequired,
    outcomes,
  });
  const tasks = row("tasks-lifecycle", { plain: failed, fixtures: failed }, false);
  const streams = row("server-sse-polling", { plain: empty, fixtures: empty });
  const results = (...rows: readonly ScenarioRow[]): ConformanceResults => ({
    "2026-07-28": [tasks],
    "2025-11-25": [streams, ...rows],
  });

  it("are counted by where a required scenario passes", () => {
    const rows = [
      row("a", { plain: passed, fixtures: passed, stdio: passed }),
      row("b", { plain: failed, fixtures: failed, stdio: passed }),
      row("c", { plain: failed, fixtures: failed, stdio: failed }),
      streams,
      row("d", { plain: warned, fixtures: passed }, false),
      tasks,
    ];
    expect(countScenarios(rows)).toEqual({
      required: 4,
      overHttp: 1,
      overStdio: 1,
      empty: 1,
      failed: 1,
      others: 2,
      othersPassed: 1,
      plain: 1,
    });
  });

  it("need a reason for each scenario that passes nowhere, and no more reasons", () => {
    expect(findUnexplained(results())).toEqual([]);
    expect(findUnexplained(results(row("ping", { fixtures: failed, stdio: failed })))).toEqual([
      "2025-11-25: ping does not pass on any server, and no reason is given",
    ]);
    expect(findUnexplained({ ...results(), "2026-07-28": [] })).toEqual([
      "2026-07-28: no failing scenario has the reason for ^tasks-",
    ]);
  });

  it("are shown with the checks that pass, and with the reasons", () => {
    const page = renderPage(
      results(row("ping", { plain: failed, fixtures: passed, stdio: passed })),
      "1.2.3",
    );
    expect(page).toContain(renderCounts(results(row("ping", { fixtures: passed }))).split("\n")[2]);
    expect(page).toContain("| `ping` | yes | 1 of 2 | 2 | 2 |");
    expect(page).toContain("| `server-sse-polling` | yes | nothing to check | nothing to check |  |");
    expect(page).toContain("* `tasks-lifecycle`: They are of an extension");
  });
});
