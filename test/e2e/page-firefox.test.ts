import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { HAS_FIREFOX, usePage } from "./page-browser.ts";
import { fillForScreens } from "./page-story.ts";

/**
 * What a person expects of a page of memories, in Firefox, which is driven by WebDriver BiDi. axe-core runs in Chromium alone: it
 * ends the content process of Firefox 153 where there is no display.
 */
describe.skipIf(!HAS_FIREFOX)("the page in Firefox", () => {
  const open = usePage({}, () => ({}), "firefox");
  let { page } = open;
  let me: ScopedMemory;
  let ids: Awaited<ReturnType<typeof fillForScreens>>;
  beforeEach(async () => {
    page = open.page;
    me = open.keepsake.scope({ user: "me" });
    ids = await fillForScreens(me);
  });

  const goTo = (address: string): Promise<unknown> => page.goto(`${open.served.url}/${address}`);
  const click = (name: string): Promise<void> =>
    page.getByRole("button", { name, exact: true }).last().click();
  const textOf = (place: string) => (): Promise<string> => page.locator(place).last().innerText();
  const undo = (): Promise<void> => page.locator(".toast button:text-is('Undo')").last().click();

  it("answers in the chat, and says from what", async () => {
    await open.visit();
    await page.locator("#message").fill("Which productivity tools do I use?");
    await page.keyboard.press("Enter");
    await expect.poll(textOf("#log")).toContain("Shram");
    await page.locator(".why summary").last().click();
    await expect.poll(textOf(".why")).toContain("I use Shram and Magnet as productivity tools");
    expect(open.complaints).toEqual([]);
  });

  it("finds a memory as one types, filters the list, and shows one with its quote and its history", async () => {
    await open.visit("#/memories");
    await expect.poll(textOf(".count-line")).toBe("12 memories");
    await page.locator("input[type=search]").pressSequentially("penicillin");
    await expect
      .poll(() => page.locator(".row-text a").allTextContents())
      .toEqual(["You are allergic to penicillin."]);
    await goTo("#/memories?topic=work");
    await expect.poll(textOf(".count-line")).toBe("1 memory");
    await goTo(`#/memories/${ids.told}`);
    await expect.poll(textOf(".detail blockquote")).toContain("I use Shram and Magnet");
    await goTo(`#/memories/${ids.changed}`);
    await expect.poll(() => page.locator(".versions li").count()).toBe(4);
    await expect.poll(textOf(".versions")).toContain("eleven");
    expect(open.complaints).toEqual([]);
  });

  it("corrects, merges, bins and restores memories, each with an undo", async () => {
    await open.visit(`#/memories/${ids.told}`);
    await click("Edit");
    await page.getByLabel("Statement", { exact: true }).fill("The user uses Shram for lists.");
    await click("Save");
    await expect.poll(textOf(".detail-text")).toBe("You use Shram for lists.");
    await undo();
    await expect.poll(textOf(".detail-text")).toBe("You use Shram as a productivity tool.");
    await click("Move to bin");
    await expect.poll(async () => (await me.get(ids.told))?.status).toBe("retracted");
    await click("Restore");
    await expect.poll(async () => (await me.get(ids.told))?.status).toBe("current");
    await goTo("#/memories?contains=Quixote");
    await expect.poll(() => page.locator(".pick input").count()).toBe(2);
    for (const place of [0, 1]) await page.locator(".pick input").nth(place).check();
    await click("Merge…");
    await click("Merge");
    await expect.poll(textOf(".count-line")).toBe("1 memory");
    await undo();
    await expect.poll(textOf(".count-line")).toBe("2 memories");
    expect(open.complaints).toEqual([]);
  });

  it("erases by words after a plan, and verifies the receipts in the browser", async () => {
    await open.visit("#/erase");
    await page.getByLabel("What to erase", { exact: true }).fill("penicillin");
    await click("Preview");
    await expect.poll(textOf(".plan")).toContain("penicillin");
    await click("Erase permanently");
    await expect.poll(() => page.locator(".receipt-rows a").count()).toBe(3);
    await expect.poll(textOf("#view")).toContain("3 receipts, all verified in this browser");
    const { items } = await me.list({ whereText: { $regex: "penicillin" } });
    expect(items).toEqual([]);
    expect(open.complaints).toEqual([]);
  });

  it("decides what waits, tells why something was recalled, and what was known on a day", async () => {
    await open.visit("#/decide");
    await click("It still holds");
    await expect.poll(textOf("#view")).not.toContain("You cycle to the gym.");
    await goTo("#/context?q=Which+tools+do+I+use%3F&way=recall");
    await expect.poll(textOf(".scores")).toContain("Shram");
    await goTo("#/timeline?at=2026-03-10");
    await expect.poll(textOf("#view")).toContain("You use Magnet as a productivity tool.");
    await goTo("#/people");
    await expect.poll(textOf("#view")).toContain("Eva, your sister");
    await goTo("#/map");
    await page.locator('.map-place[aria-busy="false"]').waitFor();
    expect(open.complaints).toEqual([]);
  });

  it("is used by keyboard alone", async () => {
    await open.visit("#/");
    await page.locator("#log").focus();
    for (const key of ["g", "m"]) await page.keyboard.press(key);
    await page.locator(".row-text a").first().waitFor();
    for (const key of ["j", "Enter"]) await page.keyboard.press(key);
    await page.locator(".detail-text").waitFor();
    await page.keyboard.press("e");
    await page.getByLabel("Statement", { exact: true }).waitFor();
    expect(open.complaints).toEqual([]);
  });

  it("fits a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open.visit();
    for (const address of [
      "#/",
      "#/memories",
      `#/memories/${ids.changed}`,
      "#/erase",
      "#/data",
      "#/server",
    ]) {
      await goTo(address);
      await page.waitForLoadState("networkidle");
      const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect([address, await page.evaluate(wider)]).toEqual([address, 0]);
    }
    expect(open.complaints).toEqual([]);
  });
});
