import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { findAxeFaults, HAS_BROWSER, type OpenPage, usePage } from "./page-browser.ts";

const SETTINGS = [
  { name: "KEEPSAKE_API_KEY", from: "environment", hidden: true },
  { name: "KEEPSAKE_CACHE_MB", from: "settings_file", value: "64" },
  { name: "KEEPSAKE_PORT", from: "default" },
  { name: "KEEPSAKE_RANKING", from: "default" },
] as const;

describe.skipIf(!HAS_BROWSER)("the page's settings and server", () => {
  const open: OpenPage = usePage({}, () => ({ settings: SETTINGS }));
  let me: ScopedMemory;
  beforeEach(() => {
    me = open.keepsake.scope({ user: "me" });
  });

  const textOf = (place: string) => () => open.page.locator(place).innerText();

  it("shows what is in force and where it comes from, names defaults, and shows no secret", async () => {
    await open.visit("#/settings");
    await expect.poll(textOf(".settings table")).toMatch(/KEEPSAKE_API_KEY\s+not shown\s+environment/);
    expect(await textOf(".settings table")()).toMatch(/KEEPSAKE_CACHE_MB\s+64\s+settings file/);
    await open.page.getByText("2 settings have their defaults").click();
    expect(await textOf(".settings .names")()).toBe("KEEPSAKE_PORT\nKEEPSAKE_RANKING");
    await open.page.waitForTimeout(300);
    expect(await findAxeFaults(open.page)).toEqual([]);
    await open.page.setViewportSize({ width: 390, height: 800 });
    expect(await open.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    expect(open.complaints).toEqual([]);
  });

  it("makes a key that is shown once and works, and revokes it after a question", async () => {
    await open.visit("#/settings");
    await open.page.getByLabel("Name", { exact: true }).fill("the phone");
    await open.page.getByRole("button", { name: "Make a key" }).click();
    const field = open.page.locator(".issued-key");
    await expect.poll(() => field.inputValue()).toMatch(/^ks_/);
    const key = await field.inputValue();
    const ask = () =>
      fetch(`${open.served.url}/api/v1/memories/me`, { headers: { authorization: `Bearer ${key}` } });
    expect((await ask()).status).toBe(200);
    const keys = await fetch(`${open.served.url}/api/v1/keys`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(keys.status).toBe(403);
    await expect.poll(textOf(".keys")).toMatch(/the phone[\s\S]*read, write/);
    const revoke = open.page.getByRole("button", { name: "Revoke the phone" });
    await revoke.click();
    await open.page.getByRole("button", { name: "Keep it" }).click();
    expect((await ask()).status).toBe(200);
    await revoke.click();
    await open.page.locator("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(textOf(".keys .plain-rows")).not.toContain("the phone");
    expect((await ask()).status).toBe(401);
    await open.page.reload();
    await expect.poll(textOf(".keys")).toContain("Make a key");
    expect(await open.page.content()).not.toContain(key);
    expect(open.complaints).toEqual([]);
  });

  it("no longer has a new key after one went to another place of the page", async () => {
    await open.visit("#/settings");
    await open.page.getByRole("button", { name: "Make a key" }).click();
    const key = await open.page.locator(".issued-key").inputValue();
    expect(key).toMatch(/^ks_/);
    await open.page.goto(`${open.served.url}/#/memories`);
    await open.page.locator("#memories-title").waitFor();
    await open.page.goto(`${open.served.url}/#/settings`);
    await expect.poll(textOf(".keys")).toContain("Make a key");
    expect(await open.page.locator(".issued-key").count()).toBe(0);
  });

  it("tells a key that is no administrator's what it lacks", async () => {
    await open.visit("#/settings");
    await open.page.getByRole("button", { name: "Make a key" }).click();
    const key = await open.page.locator(".issued-key").inputValue();
    await open.page.getByRole("button", { name: "Sign out" }).click();
    await open.page.getByLabel("Key", { exact: true }).waitFor();
    expect(await open.page.content()).not.toContain(key);
    await open.page.getByLabel("Key", { exact: true }).fill(key);
    await open.page.getByRole("button", { name: "Sign in" }).click();
    await open.page.locator("#message").waitFor();
    await open.page.goto(`${open.served.url}/#/settings`);
    await expect.poll(textOf(".settings")).toContain("Only an administrator's key may see this.");
    // The part on keys has a request of its own.
    await expect.poll(textOf(".keys")).toContain("Only an administrator's key may manage keys.");
    expect(await open.page.getByRole("button", { name: "Make a key" }).isVisible()).toBe(false);
  });

  it("draws growth by month and cost by day, with the same numbers in a table", async () => {
    const year = new Date().getUTCFullYear();
    for (const [text, at] of [
      ["The user keeps bees.", `${year - 3}-05-05T10:00:00Z`],
      ["The user likes tea.", new Date().toISOString()],
    ] as const)
      await me.add({ text, at });
    const today = new Date().toISOString().slice(0, 10);
    // No model is called here, so the numbers come from the test.
    await open.page.route("**/stats?by=day*", (route) =>
      route.fulfill({
        json: {
          usage: {
            calls: 3,
            cost: 0.25,
            rows: [{ day: today, calls: 3, cost: 0.25, tokens_in: 1200, tokens_out: 40 }],
          },
        },
      }),
    );
    await open.visit("#/server");
    const charts = open.page.locator(".chart-figure");
    await expect.poll(() => charts.count()).toBe(2);
    const [costs, growth] = [charts.nth(0), charts.nth(1)];
    await growth.getByText("As a table").click();
    const months = await growth.locator("tbody tr").allInnerTexts();
    expect([months.length, months[0]?.split("\t")[1], months.at(-1)?.split("\t")[1]]).toEqual([12, "1", "2"]);
    const heights = await growth
      .locator(".chart-bar")
      .evaluateAll((bars) =>
        bars.map((bar) => (bar as unknown as { style: { height: string } }).style.height),
      );
    expect([heights[0], heights.at(-1)]).toEqual(["50%", "100%"]);
    await costs.getByText("As a table").click();
    expect((await costs.locator("tbody tr").allInnerTexts()).at(-1)).toBe(`${today}\t3\t1,200\t40\t$0.2500`);
    expect(await findAxeFaults(open.page)).toEqual([]);
    expect(open.complaints).toEqual([]);
  });

  it("says so where nothing is known and no model was called", async () => {
    await open.visit("#/server");
    await expect.poll(textOf("#view")).toContain("No model was called in the last 30 days.");
    expect(await textOf("#view")()).toContain("Nothing is known yet.");
  });
});
