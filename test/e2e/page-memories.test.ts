import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { findAxeFaults, HAS_BROWSER, type OpenPage, usePage } from "./page-browser.ts";

const SAID = [
  ["2026-01-12T09:00:00Z", "My sister Eva lives in Porto."],
  ["2026-01-12T10:00:00Z", "I am allergic to penicillin."],
  ["2026-02-20T18:00:00Z", "I work at Lumen as a carpenter."],
] as const;

describe.skipIf(!HAS_BROWSER)("the page's list of memories", () => {
  const open: OpenPage = usePage();
  let me: ScopedMemory;
  beforeEach(async () => {
    me = open.keepsake.scope({ user: "me" });
    for (const [at, content] of SAID) await me.remember([{ role: "user", content, at }], { session: "talk" });
  });

  const rows = async (): Promise<string> =>
    (await open.page.locator(".row-text a").allInnerTexts()).join("|");
  const choose = (label: string, value: string) =>
    open.page.getByLabel(label, { exact: true }).selectOption(value);
  const undoLast = () => open.page.locator(".toast button:text-is('Undo')").last().click();

  it("filters by topic, person and sensitivity, in the address and together with a search", async () => {
    await open.visit("#/memories");
    await open.page.click(".more-filters summary");
    await choose("Topic", "work");
    await expect.poll(rows).toContain("Lumen");
    expect(await rows()).not.toContain("penicillin");
    await choose("Topic", "");
    await choose("Sensitivity", "true");
    await expect.poll(rows).toBe("You are allergic to penicillin.");
    await choose("Sensitivity", "");
    await expect
      .poll(() => open.page.getByLabel("Person or thing", { exact: true }).innerText())
      .toContain("Your sister");
    await choose("Person or thing", "user/sister");
    await expect.poll(rows).toContain("Porto");
    await expect.poll(() => open.page.url()).toContain("subject=user%2Fsister");
    await open.page.reload();
    await expect.poll(rows).toContain("Porto");
    expect(await rows()).not.toContain("Lumen");
    expect(await open.page.locator(".more-filters summary").innerText()).toBe("Filters (1)");
    await open.visit("#/memories?q=Where+do+I+work&sensitive=false&topic=work");
    await expect.poll(rows).toContain("Lumen");
    await open.visit("#/memories?q=penicillin&sensitive=false");
    await expect.poll(() => open.page.locator(".over h3").innerText()).toBe("Nothing found");
    expect(open.complaints).toEqual([]);
  });

  it("puts the list in groups by topic, person, kind and month, each with its number, by keyboard too", async () => {
    await open.visit("#/memories?group=topic");
    const heads = async () =>
      (await open.page.locator(".memory-group > summary").allInnerTexts()).map((text) => text.trim());
    await expect.poll(heads).toContain("Health 1");
    await open.page.locator("h2#memories-title").focus();
    for (const key of ["j", "j"]) await open.page.keyboard.press(key);
    const named = await open.page.evaluate("document.activeElement.textContent");
    expect((await heads()).map((text) => text.replace(/ /g, ""))).toContain(String(named).replace(/ /g, ""));
    await open.page.keyboard.press("Enter");
    await expect.poll(() => open.page.locator(".memory-group[open] .row-text a").count()).toBeGreaterThan(0);
    expect(await findAxeFaults(open.page)).toEqual([]);
    await open.page.locator(".memory-group[open] .pick input").first().check();
    await expect.poll(() => open.page.locator(".selection strong").innerText()).toBe("1 selected");
    await open.page.goto(`${open.served.url}/#/memories?group=month`);
    await expect
      .poll(heads)
      .toEqual([expect.stringMatching(/^February 2026 /), expect.stringMatching(/^January 2026 /)]);
    await open.page.locator("summary >> text=January 2026").click();
    await expect.poll(rows).toContain("penicillin");
    await open.page.click("text=Show these alone");
    await expect.poll(() => open.page.url()).toContain("from=2026-01-01");
    await expect.poll(rows).not.toContain("Lumen");
    await open.page.goto(`${open.served.url}/#/memories?group=subject`);
    await expect.poll(async () => (await heads()).join()).toContain("Your sister");
    await open.page.goto(`${open.served.url}/#/memories?group=kind`);
    await expect.poll(async () => (await heads()).join()).toContain("Fact");
    expect(open.complaints).toEqual([]);
  });

  it("shows in a group only what the other filters let through", async () => {
    await me.add({
      text: "The user married Eva Lund.",
      claim: { subject: "user", relation: "marry", value: "Eva Lund" },
    });
    await me.add({
      text: "Eva Lund likes tea.",
      claim: { subject: "Eva Lund", relation: "like", value: "tea" },
    });
    const openGroup = async (filters: string, name: string): Promise<string> => {
      await open.page.goto(`${open.served.url}/#/memories?${filters}`);
      await open.page.locator(".memory-group > summary", { hasText: name }).click();
      const shown = open.page.locator(".memory-group[open] .row-text a");
      await shown.first().waitFor();
      return (await shown.allInnerTexts()).join("|");
    };
    await open.visit();
    expect(await openGroup("subject=user&group=subject", "Eva Lund")).toBe("You married Eva Lund.");
    await me.add({ text: "The user owns a kite.", at: "2026-02-10T12:00:00Z" });
    expect(await openGroup("from=2026-02-15&group=month", "February 2026")).not.toContain("kite");
    await open.page.click("text=Show these alone");
    await expect.poll(() => open.page.url()).toMatch(/from=2026-02-15.*to=2026-02-28/);
  });

  it("keeps what is chosen while the persons and things are still being fetched", async () => {
    await open.page.route("**/facets?by=subject*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    await open.visit("#/memories?subject=user%2Fsister");
    await expect.poll(rows).toContain("Porto");
    await open.page.click(".more-filters summary");
    await choose("Person or thing", "");
    const field = open.page.getByLabel("Person or thing", { exact: true });
    await expect.poll(() => field.innerText()).toContain("You");
    await expect.poll(() => field.locator("option").count()).toBeGreaterThan(2);
    expect(await field.inputValue()).toBe("");
  });

  it("associates a memory with another by its words, and removes the association, each with an undo", async () => {
    const first = (await me.add({ text: "The user trains at the gym." })).memories[0]?.id ?? "";
    await me.add({ text: "The user owns a boat." });
    await open.visit(`#/memories/${first}`);
    await open.page.click("text=Associate…");
    await choose("This memory", "depends_on");
    await open.page.getByLabel("The other one, by its words", { exact: true }).fill("boat");
    await open.page.getByRole("button", { name: "You own a boat." }).click();
    const related = open.page.locator(".related-place");
    await expect.poll(() => related.innerText()).toMatch(/Depends on[\s\S]+You own a boat/);
    expect((await me.links()).items).toMatchObject([{ from: first, type: "depends_on" }]);
    await undoLast();
    await expect.poll(() => related.innerText()).not.toContain("boat");
    expect((await me.links()).total).toBe(0);
    await open.page.click("text=Associate…");
    await open.page.getByLabel("The other one, by its words", { exact: true }).fill("boat");
    await open.page.getByRole("button", { name: "You own a boat." }).click();
    await open.page.getByRole("button", { name: "Remove the association with: You own a boat." }).click();
    await expect.poll(async () => (await me.links()).total).toBe(0);
    await undoLast();
    await expect.poll(async () => (await me.links()).total).toBe(1);
    expect(open.complaints).toEqual([]);
  });

  it("merges selected memories into the one that stays, in its new words, and undoes all of it", async () => {
    for (const text of ["The user likes tea.", "The user enjoys tea.", "The user owns a boat."])
      await me.add({ text });
    await open.visit("#/memories?contains=tea");
    await expect.poll(rows).toBe("You enjoy tea.|You like tea.");
    for (const place of [0, 1]) await open.page.locator(".pick input").nth(place).check();
    await open.page.getByRole("button", { name: "Merge…" }).click();
    await open.page.locator("dialog .choice").first().waitFor();
    expect(await open.page.locator("dialog").innerText()).toMatch(/The other moves to the bin/);
    expect(await findAxeFaults(open.page)).toEqual([]);
    await open.page.locator("dialog .choice", { hasText: "You like tea." }).click();
    await open.page.getByLabel("In these words", { exact: true }).fill("The user likes green tea.");
    await open.page.getByRole("button", { name: "Merge", exact: true }).click();
    await expect.poll(rows).toBe("You like green tea.");
    expect((await me.list({ status: "retracted" })).items.map(({ text }) => text)).toEqual([
      "The user enjoys tea.",
    ]);
    await undoLast();
    await expect.poll(rows).toBe("You enjoy tea.|You like tea.");
    expect(open.complaints).toEqual([]);
  });

  it("merges once, however often the button is pressed", async () => {
    for (const text of ["The user likes tea.", "The user enjoys tea."]) await me.add({ text });
    const changes: string[] = [];
    await open.page.route("**/api/v1/memories/me/**", async (route) => {
      const method = route.request().method();
      if (method !== "GET") {
        changes.push(method);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      await route.continue();
    });
    await open.visit("#/memories?contains=tea");
    await expect.poll(rows).toBe("You enjoy tea.|You like tea.");
    for (const place of [0, 1]) await open.page.locator(".pick input").nth(place).check();
    await open.page.getByRole("button", { name: "Merge…" }).click();
    await open.page.locator("dialog .choice", { hasText: "You like tea." }).click();
    await open.page.getByLabel("In these words", { exact: true }).fill("The user likes green tea.");
    await open.page.getByRole("button", { name: "Merge", exact: true }).dblclick();
    await expect.poll(rows).toBe("You like green tea.");
    await open.page.waitForTimeout(500);
    expect(changes.length).toBe(2);
  });

  it("shows people and things with their names, what is known of each, and the way to the list of it", async () => {
    await open.visit("#/people");
    const heads = async () =>
      (await open.page.locator(".memory-group > summary").allInnerTexts()).map((text) => text.trim());
    await expect.poll(async () => (await heads()).join()).toContain("Eva, your sister");
    await open.page.locator("summary", { hasText: "Eva, your sister" }).click();
    await expect.poll(() => open.page.locator(".memory-group[open]").innerText()).toContain("Porto");
    expect(await findAxeFaults(open.page)).toEqual([]);
    await open.page.getByLabel("Find a name", { exact: true }).fill("lumen");
    await expect.poll(async () => (await heads()).join()).not.toContain("Eva");
    await open.page.getByLabel("Find a name", { exact: true }).fill("sister");
    await open.page.locator("summary", { hasText: "Eva, your sister" }).click();
    await open.page.locator(".group-end a").click();
    await expect.poll(() => open.page.url()).toContain("subject=user%2Fsister");
    await expect.poll(rows).toContain("Porto");
    expect(await rows()).not.toContain("penicillin");
    expect(open.complaints).toEqual([]);
  });
});
