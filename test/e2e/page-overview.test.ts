import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { HAS_BROWSER, type OpenPage, usePage } from "./page-browser.ts";

describe.skipIf(!HAS_BROWSER)("the page's overview and sharing", () => {
  const open: OpenPage = usePage();
  let me: ScopedMemory;
  beforeEach(() => {
    me = open.keepsake.scope({ user: "me" });
  });

  const textOf = (place: string) => () => open.page.locator(place).innerText();

  it("shows groups of memories and what was said by month, with links to the memories", async () => {
    for (const text of ["pasta", "risotto", "soup", "bread"])
      await me.add({ text: `The user cooks ${text} at home.` });
    await me.remember("I work as a nurse. I work in a hospital in Faro.", { at: "2026-02-03T10:00:00Z" });
    await open.visit("#/overview");
    await expect.poll(textOf(".groups")).toContain("You cook risotto at home.");
    await expect.poll(textOf(".months")).toMatch(/February 2026/);
    await open.page.getByRole("link", { name: "You cook risotto at home." }).click();
    await expect.poll(textOf(".detail-text")).toBe("You cook risotto at home.");
    expect(open.complaints).toEqual([]);
  });

  it("shares memories about something, shows it to both sides, and withdraws it", async () => {
    const eva = open.keepsake.scope({ user: "eva" });
    await me.add({ text: "The dentist is on Monday." });
    await me.add({ text: "The car is red." });
    await open.visit("#/sharing");
    await open.page.getByLabel("With whom", { exact: true }).fill("eva");
    await open.page.getByRole("button", { name: "Share" }).click();
    await expect.poll(textOf(".page .problem")).toContain("Say what it is about");
    expect((await me.grants()).given).toEqual([]);
    await open.page.getByLabel("What it is about", { exact: true }).fill("dentist");
    await open.page.getByRole("button", { name: "Share" }).click();
    await expect.poll(textOf(".given")).toMatch(/eva[\s\S]*dentist/);
    expect((await eva.shared()).items.map(({ text }) => text)).toEqual(["The dentist is on Monday."]);
    await open.page.getByRole("button", { name: "Withdraw" }).click();
    await expect.poll(textOf(".given")).not.toContain("dentist");
    expect((await eva.shared()).items).toEqual([]);
    expect(open.complaints).toEqual([]);
  });

  it("shows what others share and whose it is, until it is declined", async () => {
    const eva = open.keepsake.scope({ user: "eva" });
    await eva.add({ text: "The ferry leaves at six." });
    await eva.share({ user: "me", about: ["ferry"] });
    await open.visit("#/sharing");
    await expect.poll(textOf(".received")).toMatch(/The ferry leaves at six\.[\s\S]*eva/);
    await open.page.getByRole("button", { name: "Decline" }).click();
    await expect.poll(textOf(".received")).not.toContain("The ferry");
    await open.page.getByRole("button", { name: "Accept" }).click();
    await expect.poll(textOf(".received")).toContain("The ferry leaves at six.");
  });

  it("filters memories by words of their text and by a group of kinds", async () => {
    await me.add({ text: "Ana plans a trip to Faro.", kind: "commitment" });
    await me.add({ text: "Ana likes Faro.", kind: "preference" });
    await me.add({ text: "Ana will call Marta.", kind: "commitment" });
    await open.visit("#/memories");
    const rows = () => open.page.locator(".row-text a").allTextContents();
    await expect.poll(async () => (await rows()).length).toBe(3);
    await open.page.click("summary");
    await open.page.getByLabel("Contains", { exact: true }).fill("Faro");
    await open.page.keyboard.press("Enter");
    await expect
      .poll(async () => (await rows()).sort())
      .toEqual(["Ana likes Faro.", "Ana plans a trip to Faro."]);
    await open.page.getByLabel("Kind", { exact: true }).selectOption("episodic");
    await expect.poll(rows).toEqual(["Ana plans a trip to Faro."]);
  });
});
