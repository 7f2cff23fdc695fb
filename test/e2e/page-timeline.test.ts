import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { findAxeFaults, HAS_BROWSER, usePage } from "./page-browser.ts";

let now = new Date();

describe.skipIf(!HAS_BROWSER)("the timeline of the page", () => {
  const open = usePage({ clock: () => now });
  let me: ScopedMemory;
  beforeEach(async () => {
    me = open.keepsake.scope({ user: "me" });
    now = new Date("2026-03-02T12:00:00Z");
    const { memories } = await me.add({ text: "The user lives in Porto." });
    now = new Date("2026-03-20T12:00:00Z");
    await me.update(memories[0]?.id ?? "", { text: "The user lives in Faro." });
    await me.add({ text: "The user owns a boat." });
    now = new Date();
  });

  const shown = (): Promise<string> => open.page.locator(".timeline").innerText();

  it("shows by a link what was known on a day, in the words of that day", async () => {
    await open.visit("#/timeline?at=2026-03-10&by=known");
    await expect.poll(shown).toContain("You live in Porto.");
    expect(await shown()).not.toContain("Faro");
    expect(await open.page.getByLabel("What was known").isChecked()).toBe(true);
    expect(await open.page.locator(".page h3").first().textContent()).toContain("1 memory");
    await open.page.getByLabel("Date", { exact: true }).fill("2026-03-21");
    await expect.poll(shown).toContain("You live in Faro.");
    await open.page.getByLabel("Date", { exact: true }).fill("2026-02-01");
    await expect.poll(shown).toContain("Nothing had been stored");
    await open.page.getByLabel("What was true").check();
    await expect.poll(shown).toContain("Nothing was known");
    expect(open.page.url()).not.toContain("by=known");
    expect(open.complaints).toEqual([]);
  });

  it("is moved by keyboard, and keeps the question and the day over a reload", async () => {
    const { page } = open;
    await open.visit("#/timeline?at=2026-03-19&by=known");
    await expect.poll(shown).toContain("Porto");
    const slider = page.getByLabel("Day", { exact: true });
    await slider.focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(shown).toContain("Faro");
    await expect.poll(() => page.url()).toContain("at=2026-03-20&by=known");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(shown).toContain("Porto");
    await page.reload();
    await expect.poll(shown).toContain("Porto");
    await page.getByLabel("What was known").focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => page.url()).not.toContain("by=known");
    await expect.poll(shown).toContain("Faro");
  });

  it("has no fault that axe-core finds, and fits a phone", async () => {
    await open.page.setViewportSize({ width: 390, height: 844 });
    await open.visit("#/timeline?at=2026-03-10&by=known");
    await expect.poll(shown).toContain("Porto");
    for (const colorScheme of ["light", "dark"] as const) {
      await open.page.emulateMedia({ colorScheme });
      expect(await findAxeFaults(open.page)).toEqual([]);
    }
    const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await open.page.evaluate(wider)).toBe(0);
  });
});
