import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { findAxeFaults, HAS_BROWSER, usePage } from "./page-browser.ts";

describe.skipIf(!HAS_BROWSER)("an edit on the page that is not saved", () => {
  const open = usePage();
  let me: ScopedMemory;
  let tea: string;
  let boat: string;
  beforeEach(async () => {
    me = open.keepsake.scope({ user: "me" });
    tea = (await me.add({ text: "The user likes tea." })).memories[0]?.id ?? "";
    boat = (await me.add({ text: "The user owns a boat." })).memories[0]?.id ?? "";
  });

  const text = () => open.page.locator(".detail-text");
  const statement = () => open.page.getByLabel("Statement", { exact: true });
  const note = () => open.page.locator(".draft-note");
  const press = (name: string) => open.page.locator(".detail").getByRole("button", { name }).click();
  const goTo = async (id: string, shown: string) => {
    await open.page.goto(`${open.served.url}/#/memories/${id}`);
    await expect.poll(() => text().textContent()).toBe(shown);
  };
  const beginEdit = async () => {
    await open.visit(`#/memories/${tea}`);
    await press("Edit");
    await statement().fill("The user likes green tea.");
  };

  it("stays as a draft when another memory is opened and after a reload, and is saved from there", async () => {
    await beginEdit();
    await goTo(boat, "You own a boat.");
    expect(await note().count()).toBe(0);
    await goTo(tea, "You like tea.");
    expect(await note().count()).toBe(1);
    expect(await findAxeFaults(open.page)).toEqual([]);
    await open.page.reload();
    await note().waitFor();
    await press("Go on editing");
    expect(await statement().inputValue()).toBe("The user likes green tea.");
    await press("Save");
    await expect.poll(() => text().textContent()).toBe("You like green tea.");
    expect(await note().count()).toBe(0);
  });

  it("is discarded by Cancel, with an undo", async () => {
    await beginEdit();
    await press("Cancel");
    await expect.poll(() => text().textContent()).toBe("You like tea.");
    expect(await note().count()).toBe(0);
    await open.page.locator(".toast button:text-is('Undo')").click();
    await note().waitFor();
    await press("Discard");
    await expect.poll(() => note().count()).toBe(0);
    expect((await me.get(tea)).version).toBe(1);
  });

  it("says if the memory has changed since", async () => {
    await beginEdit();
    await goTo(boat, "You own a boat.");
    await me.update(tea, { text: "The user likes black tea." });
    await goTo(tea, "You like black tea.");
    await press("Go on editing");
    expect(await open.page.locator(".edit .problem").textContent()).toContain("has changed");
  });

  it("is gone after an erasure", async () => {
    await beginEdit();
    await goTo(boat, "You own a boat.");
    await open.page.keyboard.press("#");
    await open.page.click("dialog .danger");
    await open.page.locator("dialog .checked").waitFor();
    expect(await open.page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("green tea");
  });
});

describe.skipIf(!HAS_BROWSER)("the names that the page suggests", () => {
  const open = usePage();

  it("are all users, or the first thousand with a word about the others", async () => {
    const { page } = open;
    for (let i = 0; i < 210; i += 1)
      await open.keepsake.scope({ user: `user-${String(i).padStart(3, "0")}` }).add({ text: "One thing" });
    await open.visit();
    await expect.poll(() => page.locator('#users option[value="user-209"]').count()).toBe(1);
    expect(await page.locator("#users-note").isHidden()).toBe(true);
    await page.route("**/api/v1/users?*", async (route) => {
      const items = Array.from({ length: 1000 }, (_one, i) => ({ user_id: `person-${i}` }));
      await route.fulfill({ json: { items, total: 5312, cursor: "next" } });
    });
    await page.reload();
    await expect.poll(() => page.locator("#users-note").innerText()).toMatch(/1.000 of 5.312 users/);
    await page.setViewportSize({ width: 390, height: 844 });
    const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(wider)).toBe(0);
    expect(await findAxeFaults(page)).toEqual([]);
  });
});

describe.skipIf(!HAS_BROWSER)("groups of the page by month", () => {
  const open = usePage();

  it("count a memory in the month that its date shows, in the zone of the browser", async () => {
    await open.keepsake
      .scope({ user: "me" })
      .add({ text: "The user owns a boat.", at: "2026-01-31T23:30:00Z" });
    const context = await open.browser.newContext({ timezoneId: "Europe/Berlin", locale: "en-GB" });
    try {
      const page = await context.newPage();
      await page.goto(open.served.signInUrl ?? "");
      await page.locator("#message").waitFor();
      await page.goto(`${open.served.url}/#/memories?group=month`);
      await expect.poll(() => page.locator(".memory-group summary").innerText()).toContain("February 2026");
      await page.click(".memory-group summary");
      await expect.poll(() => page.locator(".row-line").first().innerText()).toContain("1 Feb 2026");
    } finally {
      await context.close();
    }
  });
});
