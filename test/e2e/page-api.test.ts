import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { findAxeFaults, HAS_BROWSER, usePage } from "./page-browser.ts";

describe.skipIf(!HAS_BROWSER)("the API page", () => {
  const open = usePage();
  let me: ScopedMemory;
  beforeEach(async () => {
    me = open.keepsake.scope({ user: "me" });
    await me.add({ text: "The user owns a boat." });
  });

  const answer = () => open.page.getByLabel("Answer", { exact: true });
  const code = () => open.page.getByLabel("Code", { exact: true });
  const send = (method: string) => open.page.getByRole("button", { name: `Send ${method}` });

  it("finds a call, shows its code in three languages without a key, and sends it with the key of the page", async () => {
    const { page } = open;
    await open.visit("#/api");
    await page.getByLabel("Find a call", { exact: true }).fill("listMemories");
    await expect.poll(() => page.locator(".count-line").textContent()).toBe("1 call");
    await page.locator(".plain-rows a").click();
    await page.getByLabel("limit (optional)", { exact: true }).fill("5");
    const url = `${open.served.url}/api/v1/memories/me?limit=5`;
    await expect.poll(() => code().innerText()).toContain(`curl -X GET '${url}'`);
    await page.getByLabel("Python", { exact: true }).check();
    expect(await code().innerText()).toContain(`"${url}"`);
    await page.getByLabel("TypeScript", { exact: true }).check();
    expect(await code().innerText()).toContain(`await fetch("${url}"`);
    expect(await code().innerText()).not.toContain("ks_");
    await send("GET").click();
    await expect.poll(() => answer().innerText()).toContain("The user owns a boat.");
    expect(open.complaints).toEqual([]);
  });

  it("sends a call that writes only after a box is ticked, and says what is wrong with a body", async () => {
    const { page } = open;
    await open.visit("#/api/addMemory");
    const body = page.getByLabel("Body, as JSON", { exact: true });
    await expect.poll(() => body.inputValue()).toContain('"user_id": "me"');
    await body.fill('{ "user_id": "me", "content": "The user likes tea." }');
    await send("POST").click();
    expect((await me.list()).total).toBe(1);
    await page.getByLabel("This may change or erase what is stored").check();
    await body.fill("{");
    await send("POST").click();
    await expect.poll(() => page.locator(".api-answer .problem").innerText()).toContain("no JSON");
    await body.fill('{ "user_id": "me", "content": "The user likes tea." }');
    await send("POST").click();
    await expect.poll(() => page.locator(".api-answer").innerText()).toContain("Status 201");
    expect((await me.list()).total).toBe(2);
  });

  it("shows the problem that the server answers with, and stays signed in", async () => {
    await open.visit("#/api/getMemory");
    await open.page.getByLabel("id", { exact: true }).fill("nothing");
    await send("GET").click();
    await expect.poll(() => answer().innerText()).toContain('"code": "not_found"');
    expect(await open.page.locator("#nav").isVisible()).toBe(true);
  });

  it("is used by keyboard alone, without a fault of axe-core at 390 px", async () => {
    const { page } = open;
    await page.setViewportSize({ width: 390, height: 844 });
    await open.visit("#/");
    await page.locator("#log").focus();
    for (const key of ["g", "i"]) await page.keyboard.press(key);
    await page.locator(".plain-rows a").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("health");
    await expect.poll(() => page.locator(".plain-rows a").count()).toBeLessThan(4);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.locator(".api-call h3").waitFor();
    const isSend = "document.activeElement.textContent.startsWith('Send ')";
    for (let tries = 0; tries < 20 && !(await page.evaluate(isSend)); tries += 1)
      await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => answer().innerText()).toContain("status");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findAxeFaults(page)).toEqual([]);
    }
    const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(wider)).toBe(0);
  });
});
