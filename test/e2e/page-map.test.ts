import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { findAxeFaults, HAS_BROWSER, usePage } from "./page-browser.ts";
import { fillForScreens } from "./page-story.ts";

describe.skipIf(!HAS_BROWSER)("the map of the page", () => {
  const open = usePage();
  let me: ScopedMemory;
  let changed: string;
  beforeEach(async () => {
    me = open.keepsake.scope({ user: "me" });
    ({ changed } = await fillForScreens(me));
  });

  const settled = () => open.page.locator('.map-place[aria-busy="false"]').waitFor();
  /** How many pixels of the canvas something is drawn on. */
  const drawn = (): Promise<number> =>
    open.page.evaluate(`(() => {
      const canvas = document.querySelector(".map-canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    })()`);

  it("draws memories, people and things, and names what a link has chosen, with what goes with it", async () => {
    await open.visit(`#/map/${changed}`);
    await settled();
    expect(await drawn()).toBeGreaterThan(200);
    await expect.poll(() => open.page.locator(".map-details h3").textContent()).toContain("Your gym");
    expect(await open.page.locator(".map-details li").allTextContents()).toContainEqual(
      expect.stringContaining("cycle to the gym"),
    );
    await open.page.locator(".map-details a:text-is('Open')").click();
    await expect.poll(() => open.page.locator(".detail-text").textContent()).toContain("Your gym");
    expect(open.complaints).toEqual([]);
  });

  it("opens what is clicked on it", async () => {
    await open.visit("#/map");
    await settled();
    const canvas = open.page.locator(".map-canvas");
    const box = await canvas.boundingBox();
    const { width = 0, height = 0 } = box ?? {};
    // The nodes are where something is drawn: it is clicked on a grid until one is hit.
    for (let y = 12; y < height && !open.page.url().includes("#/map/"); y += 12)
      for (let x = 12; x < width && !open.page.url().includes("#/map/"); x += 12)
        await canvas.dispatchEvent("pointerup", {
          offsetX: x,
          offsetY: y,
          clientX: (box?.x ?? 0) + x,
          clientY: (box?.y ?? 0) + y,
        });
    await expect.poll(() => open.page.locator(".map-details h3").count()).toBe(1);
  });

  it("has the same as a list, which is reached, opened and followed by keyboard alone", async () => {
    const { page } = open;
    await open.visit("#/");
    await page.locator("#log").focus();
    for (const key of ["g", "a"]) await page.keyboard.press(key);
    await settled();
    const press = async (wanted: string) => {
      const isThere = () =>
        page.evaluate(`document.activeElement.textContent.includes(${JSON.stringify(wanted)})`);
      for (let tries = 0; tries < 60 && !(await isThere()); tries += 1) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
    };
    await press("Associations that were made");
    await page.locator(".page details[open] a").first().waitFor();
    await press("cycle to the gym");
    await expect.poll(() => page.locator(".detail-text").textContent()).toContain("cycle to the gym");
  });

  it("zooms by buttons, and shows all again", async () => {
    await open.visit("#/map");
    await settled();
    const before = await drawn();
    await open.page.getByRole("button", { name: "Zoom out" }).click();
    await expect.poll(drawn).not.toBe(before);
    await open.page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(drawn).toBe(before);
  });

  it("draws nothing before it has settled, for those who ask for less motion", async () => {
    await open.page.emulateMedia({ reducedMotion: "reduce" });
    await open.visit();
    // Each frame waits for the test, so that none is missed.
    await open.page.evaluate(`(() => {
      globalThis.looks = new Set();
      const before = requestAnimationFrame;
      globalThis.requestAnimationFrame = (run) => before((time) => {
        run(time);
        const canvas = document.querySelector(".map-canvas");
        if (canvas) looks.add(canvas.toDataURL());
      });
    })()`);
    await open.page.evaluate('location.hash = "#/map"');
    await settled();
    await expect.poll(drawn).toBeGreaterThan(200);
    // Nothing, and the settled map.
    expect(await open.page.evaluate("looks.size")).toBeLessThanOrEqual(2);
  });

  it("says what to do where nothing goes together", async () => {
    await open.visit();
    await open.page.fill("#user", "eva");
    await open.page.press("#user", "Enter");
    await open.page.goto(`${open.served.url}/#/map`);
    await expect.poll(() => open.page.locator(".map-place").innerText()).toContain("Nothing to connect yet");
  });

  it("has no fault that axe-core finds, and fits a phone", async () => {
    await open.page.setViewportSize({ width: 390, height: 844 });
    await open.visit(`#/map/${changed}`);
    await settled();
    for (const colorScheme of ["light", "dark"] as const) {
      await open.page.emulateMedia({ colorScheme });
      expect(await findAxeFaults(open.page)).toEqual([]);
    }
    const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await open.page.evaluate(wider)).toBe(0);
  });
});
