import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { complaints, suitesIn, suiteTable, withTable } from "./suites.ts";

const result = (suite: string, status: string) => ({ ancestorTitles: [suite, "an inner one"], status });

const REPORT = {
  testResults: [
    {
      name: "/home/somebody/keepsake/src/adapters/chroma/chroma.test.ts",
      startTime: Date.UTC(2026, 4, 3, 9, 5),
      assertionResults: [
        { ancestorTitles: ["Chroma (a real server)", "Vector index: chroma"], status: "passed" },
        result("Chroma (a real server)", "passed"),
      ],
    },
    {
      name: "/home/somebody/keepsake/src/adapters/redis/redis.test.ts",
      startTime: Date.UTC(2026, 4, 3, 9, 6),
      assertionResults: [
        result("Sessions: redis (set KEEPSAKE_TEST_REDIS)", "skipped"),
        result("Sessions: redis (set KEEPSAKE_TEST_REDIS)", "pending"),
        result("Rate limits: redis", "failed"),
        result("Rate limits: redis", "passed"),
      ],
    },
    {
      name: "/home/somebody/keepsake/src/adapters/memory/memory.test.ts",
      startTime: Date.UTC(2026, 4, 3, 9, 7),
      assertionResults: [result("Memory store: memory", "passed"), result("Memory store: memory", "passed")],
    },
    {
      name: "/home/somebody/keepsake/src/testing/memory-store/memory-store-conformance.test.ts",
      startTime: 0,
      assertionResults: [result("Memory store: one that lies", "passed")],
    },
  ],
};

const TABLE = `| Suite | Adapter | Against | Result | When (UTC) |
|---|---|---|---|---|
| Memory store | \`memory\` | itself: it is the specification | 2 passed | 2026-05-03 09:07 |
| Vector index | \`chroma\` | Chroma 1.5.9 | 1 passed | 2026-05-03 09:05 |
| Sessions | \`redis\` | Redis 7.0 | 0 passed, 2 left out | 2026-05-03 09:06 |
| Rate limits | \`redis\` | Redis 7.0 | 1 passed, 1 failed | 2026-05-03 09:06 |`;

const NOTE = "<!-- This table is written by `node scripts/suites.ts REPORT` from the tests' own report. -->";

describe("the table of suites", () => {
  it("says of each suite and adapter what ran, against what and when", () => {
    expect(suiteTable(suitesIn(REPORT))).toBe(TABLE);
  });

  it("takes the place of the one before, and of nothing else", () => {
    const page = `# A page\n\n${NOTE}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nWords after it.\n`;
    const written = withTable(page, TABLE);
    expect(written).toBe(`# A page\n\n${NOTE}\n\n${TABLE}\n\nWords after it.\n`);
    expect(withTable(written, TABLE)).toBe(written);
  });

  it("is complained of where a suite is missing on either side, failed or was left out", () => {
    const runs = suitesIn(REPORT);
    const page = withTable(`${NOTE}\n`, TABLE);
    expect(complaints(page, runs)).toEqual([
      "Sessions: redis: 0 failed, 2 left out",
      "Rate limits: redis: 1 failed, 0 left out",
    ]);
    const less = runs.filter(
      ({ failed, skipped, port }) => failed + skipped === 0 && port !== "Vector index",
    );
    expect(complaints(page, less)).toContain("did not run: Vector index | `chroma` | Chroma 1.5.9");
    expect(complaints(withTable(`${NOTE}\n`, ""), runs)).toContain(
      "not in the page: Vector index | `chroma` | Chroma 1.5.9",
    );
  });

  it("is not complained of where the servers of a suite are not here", () => {
    const row =
      "| Memory store | `postgres` (postgres on Citus) | PostgreSQL 18.4 | 85 passed | 2026-05-03 09:07 |";
    const runs = suitesIn(REPORT).filter(({ port }) => port === "Memory store");
    const table = `${suiteTable(runs)}\n${row}`;
    const page = withTable(`${NOTE}\n`, table);
    expect(complaints(page, runs)).toHaveLength(1);
    expect(complaints(page, runs, ["postgres on Citus"])).toEqual([]);
  });

  it("names the versions that the tests start", () => {
    const up = readFileSync(join(import.meta.dirname, "../test/services/up"), "utf8");
    for (const pinned of ["chromadb==1.5.9", "faiss-cpu==1.15.1", "moto==5.2.5"])
      expect(up).toContain(pinned);
  });
});
