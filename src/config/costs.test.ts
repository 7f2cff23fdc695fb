import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { loadCostOptions } from "./models/cost-settings.ts";
import { readSettings } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "keepsake-prices-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const path = join(folder, "prices.json");
  writeFileSync(path, text);
  return path;
}

it("reads budgets and prices", () => {
  expect(readSettings({}).costs).toBeUndefined();
  expect(
    readSettings({
      KEEPSAKE_BUDGET_PROJECT_DAY_USD: "2.50",
      KEEPSAKE_BUDGET_PROJECT_MONTH_TOKENS: "1000000",
      KEEPSAKE_BUDGET_USER_DAY_USD: "0",
      KEEPSAKE_PRICES: "prices.json",
      KEEPSAKE_CALLS_DAYS: "90",
    }).costs,
  ).toEqual({
    budgets: { project: { day: { usd: 2.5 }, month: { tokens: 1_000_000 } }, user: { day: { usd: 0 } } },
    pricesPath: "prices.json",
    keepDays: 90,
  });
});

it("refuses a budget that is not an amount", () => {
  for (const value of ["-1", "1e3", "$5", "1,50", "0.0000001"]) {
    expect(() => readSettings({ KEEPSAKE_BUDGET_USER_MONTH_USD: value })).toThrow(
      /KEEPSAKE_BUDGET_USER_MONTH_USD/,
    );
  }
  expect(() => readSettings({ KEEPSAKE_BUDGET_USER_DAY_TOKENS: "1.5" })).toThrow(/number of tokens/);
  expect(() => readSettings({ KEEPSAKE_BUDGET_USER_WEEK_USD: "1" })).toThrow(/is not a setting/);
});

it("reads a price list", async () => {
  const rows = [
    { model: "gpt-4o-mini", from: "2027-01-01", in: 0.1, cached: 0.05, out: 0.4 },
    { model: "*", host: "localhost:11434", in: 0 },
  ];
  const pricesPath = file(JSON.stringify(rows));
  expect(await loadCostOptions({ pricesPath, keepDays: 7 })).toEqual({ keepDays: 7, prices: rows });
  const yaml =
    "- model: gpt-4o-mini\n  from: 2027-01-01\n  in: 0.1\n  cached: 0.05\n  out: 0.4\n- { model: '*', host: 'localhost:11434', in: 0 }\n";
  expect(await loadCostOptions({ pricesPath: file(yaml) })).toEqual({ prices: rows });
});

it("names the error in a price list", async () => {
  const wrong = (text: string) => loadCostOptions({ pricesPath: file(text) });
  await expect(wrong("[")).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("neither JSON nor YAML"),
  });
  await expect(wrong('{ "gpt-4o-mini": 1 }')).rejects.toThrow(/not a price list/);
  await expect(wrong('[{ "model": "m", "in": 1 }, { "model": "m", "in": -1 }]')).rejects.toThrow(/at 1\.in/);
  await expect(wrong('[{ "model": "m", "in": 1, "from": "soon" }]')).rejects.toThrow(/at 0\.from/);
  await expect(wrong('[{ "model": "m", "in": 1, "output": 2 }]')).rejects.toMatchObject({
    code: "invalid_input",
  });
  await expect(loadCostOptions({ pricesPath: join(folder, "none.json") })).rejects.toThrow(/cannot read/);
});
