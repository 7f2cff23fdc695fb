import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { hashEmbedder } from "../../src/testing/test-doubles.ts";
import { HAS_BROWSER, type OpenPage, usePage } from "./page-browser.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==",
  "base64",
);

describe.skipIf(!HAS_BROWSER)("the page's groups, upkeep, embedder and attachments", () => {
  const open: OpenPage = usePage({ embedders: { other: hashEmbedder() } });
  let me: ScopedMemory;
  beforeEach(() => {
    me = open.keepsake.scope({ user: "me" });
  });

  const textOf = (place: string) => () => open.page.locator(place).innerText();
  const press = (name: string) => open.page.getByRole("button", { name, exact: true }).click();
  const fill = (label: string, text: string) => open.page.getByLabel(label, { exact: true }).fill(text);

  it("makes a group, shares with it, changes its members, and deletes it with what was shared", async () => {
    const [eva, tom] = ["eva", "tom"].map((user) => open.keepsake.scope({ user }));
    await me.add({ text: "The dentist is on Monday." });
    await open.visit("#/sharing");
    await fill("Name", "Home");
    await fill("Members, with commas", "eva, eva ,");
    await press("Save the group");
    await expect.poll(textOf(".user-groups")).toContain("Home: eva");
    await open.page.getByLabel("Or a group of yours", { exact: true }).selectOption("Home");
    await fill("What it is about", "dentist");
    await press("Share");
    await expect.poll(textOf(".given")).toMatch(/the group Home[\s\S]*dentist/);
    expect((await eva?.shared())?.items.map(({ text }) => text)).toEqual(["The dentist is on Monday."]);
    await press("Change members");
    await fill("Members, with commas", "tom");
    await press("Save the group");
    await expect.poll(textOf(".user-groups")).toContain("Home: tom");
    expect((await eva?.shared())?.items).toEqual([]);
    expect((await tom?.shared())?.items).toHaveLength(1);
    await press("Delete the group");
    await expect.poll(textOf(".user-groups")).toContain("You have no groups");
    expect((await tom?.shared())?.items).toEqual([]);
    expect(open.complaints).toEqual([]);
  });

  it("leaves a group that somebody else made", async () => {
    const eva = open.keepsake.scope({ user: "eva" });
    await eva.saveGroup({ name: "Crew", members: ["me"] });
    await open.visit("#/sharing");
    await expect.poll(textOf(".user-groups")).toMatch(/Crew[\s\S]*made by eva/);
    await press("Leave");
    await expect.poll(textOf(".user-groups")).not.toContain("Crew");
    expect((await eva.groups())[0]?.members).toEqual([]);
  });

  it("shows what the upkeep would do, does it, and takes it back", async () => {
    for (const text of ["The user bought a bike.", "The user purchased a bicycle."]) await me.add({ text });
    const texts = async () => (await me.list()).items.map(({ text }) => text);
    await open.visit("#/upkeep");
    await press("Show what it would do");
    await expect.poll(textOf("[data-job=consolidation]")).toMatch(/Would be done[\s\S]*is merged into/);
    expect(await texts()).toHaveLength(2);
    await press("Do this");
    await expect.poll(textOf("[data-job=consolidation]")).toMatch(/^Done/);
    expect(await texts()).toEqual(["The user purchased a bicycle."]);
    await open.page.locator(".toast button:text-is('Undo')").click();
    await expect.poll(texts).toHaveLength(2);
    expect(open.complaints).toEqual([]);
  });

  it("archives by the age and importance that are named, and says when there is nothing to do", async () => {
    await open.visit("#/upkeep");
    await press("Show what it would do");
    await expect.poll(textOf(".page .nothing")).toContain("Your memories are in order");
    await me.add({
      text: "The user saw a heron.",
      kind: "event",
      importance: 0.2,
      at: "2026-01-01T00:00:00Z",
    });
    await fill("Archive what is older than, in days", "0");
    await fill("and less important than, 0 to 1", "0.5");
    await press("Show what it would do");
    await expect.poll(textOf("[data-job=clean-up]")).toContain("The user saw a heron");
  });

  it("chooses the user's embedder, and goes back to that of the project", async () => {
    await me.add({ text: "The user likes tea." });
    await open.visit("#/upkeep");
    await open.page.getByLabel("Embedder", { exact: true }).selectOption("other");
    await press("Choose");
    const chosen = async () => (await open.keepsake.embedders.get({ user: "me" })).embedder;
    await expect.poll(chosen).toBe("other");
    await press("As the project");
    await expect.poll(chosen).toBe("default");
    expect(open.complaints).toEqual([]);
  });

  it("adds an image with its description, lists it, and erases it with its bytes", async () => {
    await open.visit("#/attachments");
    await expect.poll(textOf(".page .nothing")).toContain("Add an image");
    const file = { name: "cat.png", mimeType: "image/png", buffer: PNG };
    await open.page.getByLabel("File", { exact: true }).setInputFiles(file);
    await fill("What it shows or says", "My cat is called Quixote.");
    await press("Add");
    await expect.poll(textOf(".attachment-row")).toContain("My cat is called Quixote.");
    await expect
      .poll(() => open.page.locator(".attachment-row img").getAttribute("src"))
      .toMatch(/^data:image\/png;base64,/);
    expect((await me.recall("What is my cat called?")).items[0]?.text).toContain("Quixote");
    await open.page.getByLabel("Show", { exact: true }).selectOption("audio");
    await expect.poll(textOf(".page .nothing")).toContain("Nothing yet");
    await open.page.getByLabel("Show", { exact: true }).selectOption("");
    await press("Erase…");
    expect((await me.attachments()).total).toBe(1);
    await press("Erase it for good");
    await expect.poll(textOf(".page .nothing")).toContain("Nothing yet");
    expect((await me.attachments()).total).toBe(0);
    expect((await me.recall("What is my cat called?")).items).toEqual([]);
    expect(open.complaints).toEqual([]);
  });
});
