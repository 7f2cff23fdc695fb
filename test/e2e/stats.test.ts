import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { makeModelCall } from "../../src/testing/model-calls-conformance.ts";

const ROOT = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "keepsake-stats-"));
const db = join(folder, "memory.db");

function keepsake(args: readonly string[], more: { readonly [name: string]: string } = {}) {
  const { PATH = "" } = process.env;
  return spawnSync(process.execPath, [join(ROOT, "dist/cli/main.js"), "--db", db, ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH, NO_COLOR: "1", ...more },
  });
}

beforeAll(async () => {
  const at = new Date().toISOString();
  const own = { project: "default", user: "me", at };
  const record = await openSqliteStore({ path: db });
  const { cost: _cost, ...unpriced } = makeModelCall({
    id: "4",
    ...own,
    purpose: "answer",
    model: "qwen3:8b",
  });
  await record.calls.note(
    [
      makeModelCall({ id: "1", ...own, cost: 0.0021 }),
      makeModelCall({
        id: "2",
        ...own,
        outcome: "rate_limited",
        tokensIn: 0,
        tokensCached: 0,
        tokensOut: 0,
        cost: 0,
      }),
      makeModelCall({ id: "3", ...own, purpose: "chat", cost: 1.5 }),
      unpriced,
      makeModelCall({ id: "5", ...own, project: "other", cost: 99 }),
    ],
    [{ project: "default", user: "me", day: at.slice(0, 10), turns: 20 }],
  );
  await record.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

it("says to people what models cost, what failed, and what is left", () => {
  const { stdout, status } = keepsake(["stats"], { KEEPSAKE_BUDGET_PROJECT_DAY_USD: "0.002" });
  expect(status).toBe(0);
  expect(stdout).toMatch(/^understand {2}gpt-4o-mini +2 +1 +1,000 +400 +100 +\$0\.0021$/m);
  expect(stdout).toMatch(/^answer {2}qwen3:8b .* no price$/m);
  expect(stdout).toContain("Cost: $0.0021 for 20 turns, $0.105 for 1,000 turns.");
  expect(stdout).toContain("Not included, chat calls that the proxy forwarded: $1.50.");
  expect(stdout).toMatch(/^understand {2}gpt-4o-mini {2}rate_limited {2}1$/m);
  expect(stdout).toMatch(/^each project, each day {2}\$0\.0021 of \$0\.002 {2}used up/m);
});

it("says it to programs as one document, and of one user", () => {
  const { stdout } = keepsake(["stats", "--by", "purpose", "--of-user", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    current: 0,
    usage: {
      turns: 20,
      calls: 3,
      unpriced: 1,
      cost_per_thousand_turns: expect.closeTo(0.105, 9),
      rows: [
        { purpose: "chat" },
        { purpose: "understand", calls: 2, tokens_in: 1000 },
        { purpose: "answer" },
      ],
    },
  });
});

it("says so where no model was asked, and what is wrong with what it was told", () => {
  expect(keepsake(["stats", "--since", "2100-01-01"]).stdout).toContain("No model calls since 2100-01-01.");
  expect(keepsake(["stats", "--by", "mood"])).toMatchObject({ status: 2, stdout: "" });
  expect(keepsake(["stats"], { KEEPSAKE_PRICES: "none.json" })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("KEEPSAKE_PRICES"),
  });
});
