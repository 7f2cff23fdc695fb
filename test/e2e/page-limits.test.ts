import type { Route } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import type { Extractor } from "../../src/ports/language/extractor.ts";
import { HAS_BROWSER, usePage } from "./page-browser.ts";

const fail = (route: Route): Promise<void> => route.fulfill({ status: 503, json: { detail: "It is away." } });

/** Takes each message that begins with "Memory" for a fact in its own words. */
const facts: Extractor = {
  name: "facts",
  local: true,
  propose: async ({ messages }) =>
    messages
      .filter(({ content }) => content.startsWith("Memory"))
      .map(({ id, content }) => ({
        propose: "add" as const,
        message: id,
        start: 0,
        end: content.length,
        text: content,
        kind: "fact" as const,
        holds: "many" as const,
        confidence: 1,
        importance: 0.5,
      })),
};

describe.skipIf(!HAS_BROWSER)("what the page shows in pages", () => {
  const open = usePage({ extractor: facts });
  let { page } = open;
  let me: ScopedMemory;
  beforeEach(() => {
    page = open.page;
    me = open.keepsake.scope({ user: "me" });
  });

  const click = (name: string): Promise<void> => page.getByRole("button", { name }).first().click();
  const countOf = (place: string) => (): Promise<number> => page.locator(place).count();

  it("is read on in the timeline, in the chat's list and in the list of conversations", async () => {
    const lines = Array.from({ length: 620 }, (_one, i) => ({
      role: "user" as const,
      content: `Memory ${i + 1}`,
      at: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
    }));
    await me.remember(lines);
    expect((await me.list({ limit: 1 })).total).toBe(620);
    const talks = Array.from({ length: 230 }, (_one, i) =>
      me.remember([{ role: "user", content: `Good day ${i}.` }], { session: `talk ${i}` }),
    );
    await Promise.all(talks);
    await open.visit("#/timeline");
    await expect.poll(countOf(".timeline li")).toBe(500);
    await click("Show more (120)");
    await expect.poll(countOf(".timeline li")).toBe(620);
    expect(await page.getByRole("button", { name: /Show more/ }).count()).toBe(0);

    await page.goto(`${open.served.url}/#/conversations`);
    await expect.poll(countOf(".plain-rows li")).toBe(200);
    await click("Show more (30)");
    await expect.poll(countOf(".plain-rows li")).toBe(230);

    await page.goto(`${open.served.url}/#/`);
    await expect.poll(countOf("#memories .memory")).toBe(100);
    await page.route("**/api/v1/memories/me?*cursor*", fail);
    await click("Show more (520)");
    await expect.poll(() => page.locator("#memories .problem").textContent()).toBe("It is away.");
    await page.unroute("**/api/v1/memories/me?*cursor*");
    await click("Show more (520)");
    await expect.poll(countOf("#memories .memory")).toBe(200);
    expect(await page.getByRole("button", { name: "Show more (420)" }).count()).toBe(1);
  });
});

describe.skipIf(!HAS_BROWSER)("what the page does not show at once", () => {
  const open = usePage();
  let { page } = open;
  let me: ScopedMemory;
  beforeEach(() => {
    page = open.page;
    me = open.keepsake.scope({ user: "me" });
  });

  const click = (name: RegExp | string): Promise<void> => page.getByRole("button", { name }).first().click();
  const countOf = (place: string) => (): Promise<number> => page.locator(place).count();

  it("is the oldest versions of a memory, which are read on", async () => {
    const { memories } = await me.add({ text: "Draft 1" });
    const id = memories[0]?.id ?? "";
    for (let i = 2; i <= 120; i += 1) await me.update(id, { text: `Draft ${i}` });
    await open.visit(`#/memories/${id}`);
    await expect.poll(() => page.locator(".versions li").first().innerText()).toContain("120");
    expect(await countOf(".versions li")()).toBe(50);
    await click(/Show earlier versions \(70\)/);
    await click(/Show earlier versions \(20\)/);
    await expect.poll(() => page.locator(".versions li").last().innerText()).toContain("Draft 1");
    expect(await countOf(".versions li")()).toBe(120);
  });

  it("is said to have failed where a part of a memory cannot be read, and is read at a click", async () => {
    await me.remember([{ role: "user", content: "I own a boat." }], { session: "sea" });
    const [memory] = (await me.list()).items;
    await me.update(memory?.id ?? "", { importance: 0.9 });
    const parts = ["**/messages/me/*", "**/history?*", "**/related?*"];
    for (const part of parts) await page.route(part, fail);
    await open.visit(`#/memories/${memory?.id}`);
    const failed = page.locator(".detail .failure");
    await expect.poll(() => failed.count()).toBe(3);
    expect(await page.locator(".detail .part h4").allTextContents()).toEqual(
      expect.arrayContaining(["Where it comes from", "History", "Goes with"]),
    );
    for (const part of parts) await page.unroute(part);
    for (let left = 3; left > 0; left -= 1) {
      await failed.first().getByRole("button", { name: "Try again" }).click();
      await expect.poll(() => failed.count()).toBe(left - 1);
    }
    expect(await page.locator(".detail blockquote").innerText()).toContain("I own a boat");
    expect(await countOf(".versions li")()).toBe(2);
  });

  it("is said to have failed in the choice of conversations, the jobs, the reasons of a recall and a selection of all", async () => {
    await me.remember([{ role: "user", content: "I own a boat." }], { session: "sea" });
    await me.add({ text: "The user likes tea." });
    await open.visit("#/erase");
    await page.route("**/sessions/me?*", fail);
    await page.getByLabel("How", { exact: true }).selectOption("session_id");
    await expect.poll(() => page.locator(".erase-fields .problem").textContent()).toBe("It is away.");
    await page.unroute("**/sessions/me?*");
    await click("Try again");
    await expect.poll(() => page.locator("select[name=session]").inputValue()).toBe("sea");
    expect(await countOf(".erase-fields .problem")()).toBe(0);

    await page.route("**/api/v1/jobs", fail);
    await page.goto(`${open.served.url}/#/server`);
    await expect.poll(() => page.locator(".cards .problem").textContent()).toBe("It is away.");

    await page.route("**/recalls/*", fail);
    await page.goto(`${open.served.url}/#/context?q=What+do+I+own`);
    await expect
      .poll(() => page.locator(".context-place .problem").textContent())
      .toBe("The reasons could not be read: It is away.");

    await page.goto(`${open.served.url}/#/memories`);
    await page.locator(".pick input").first().check();
    await page.route("**/api/v1/memories/me?*limit=1000*", fail);
    await click("Select 2");
    await expect.poll(() => page.locator(".toast").last().innerText()).toContain("It is away.");
    await page.unroute("**/api/v1/memories/me?*limit=1000*");
    await click("Select 2");
    await expect.poll(() => page.locator(".selection strong").textContent()).toBe("2 selected");
  });

  it("is nothing that the filter of origins or the order of a search leaves out or ignores", async () => {
    await me.add({ text: "The user's boat is in the harbour.", importance: 0.2, at: "2026-01-01T12:00:00Z" });
    await me.remember([{ role: "user", content: "I own a boat.", at: "2026-02-01T12:00:00Z" }]);
    await me.add({ text: "The user paints the boat.", importance: 0.9, at: "2026-03-01T12:00:00Z" });
    const rows = (): Promise<string[]> => page.locator(".row-text a").allTextContents();
    const [harbour, own, paint] = ["Your boat is in the harbour.", "You own a boat.", "You paint the boat."];
    await open.visit("#/memories");
    await page.getByLabel("Search memories", { exact: true }).fill("boat");
    await expect.poll(async () => (await rows()).sort()).toEqual([own, paint, harbour].sort());
    await page.click(".more-filters summary");
    const order = page.getByLabel("Order", { exact: true });
    expect(await order.locator("option:checked").textContent()).toBe("Best match first");
    for (const [value, texts] of [
      ["newest", [paint, own, harbour]],
      ["oldest", [harbour, own, paint]],
      ["text", [own, paint, harbour]],
    ] as const) {
      await order.selectOption(value);
      await expect.poll(rows).toEqual(texts);
    }
    await order.selectOption("importance");
    await expect.poll(async () => [(await rows())[0], (await rows())[2]]).toEqual([paint, harbour]);
    const origin = page.getByLabel("Origin", { exact: true });
    await origin.selectOption("user_message");
    await expect.poll(rows).toEqual([own]);
    await origin.selectOption("tool_result");
    await expect.poll(() => page.locator(".count-line").textContent()).toBe("0 found");
    await origin.selectOption("api");
    await expect.poll(rows).toEqual([paint, harbour]);
    await page.reload();
    await expect.poll(rows).toEqual([paint, harbour]);
  });
});
