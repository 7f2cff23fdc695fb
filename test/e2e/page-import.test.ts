import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FILE_MAKERS } from "../../bench/imports/made-files.ts";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { findAxeFaults, HAS_BROWSER, usePage } from "./page-browser.ts";

const MESSAGES = 300;
/** An import of some hundred messages takes seconds, on a busy machine more. */
const IMPORT_WAIT = { timeout: 60_000 };

describe.skipIf(!HAS_BROWSER)("the import on the page", () => {
  const open = usePage();
  let page: Page;
  let me: ScopedMemory;
  let folder: string;
  beforeEach(() => {
    page = open.page;
    me = open.keepsake.scope({ user: "me" });
    folder = mkdtempSync(join(tmpdir(), "keepsake-page-import-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const title = (): Promise<string | null> => page.locator(".erase-panel h3").first().textContent();
  const press = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
  const readFacts = async (): Promise<{ [name: string]: number }> => {
    const panel = page.locator(".erase-panel:not(:empty)").first();
    const [names, values] = await Promise.all(
      ["dt", "dd"].map((name) => panel.locator(name).allTextContents()),
    );
    return Object.fromEntries(
      (names ?? []).map((name, at) => [name, Number(values?.[at]?.replace(",", ""))]),
    );
  };
  const preview = async (file: string): Promise<void> => {
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    await press("Preview");
  };
  const makeChatGptExport = async (): Promise<string> => {
    const file = join(folder, "conversations.json");
    await FILE_MAKERS.chatgpt?.write(file, MESSAGES);
    return file;
  };
  /** All messages and current memories of a user. */
  const contentOf = async (memory: ScopedMemory): Promise<string[]> => {
    const lines: string[] = [];
    for await (const line of memory.export()) if (line.type === "message") lines.push(JSON.stringify(line));
    for await (const { id, text } of memory.list({ limit: 1000 })) lines.push(`${id} ${text}`);
    return lines;
  };

  it("shows what a ChatGPT export would bring, imports it whole, finds nothing new in it again, and undoes it at once", async () => {
    await me.remember("I live in Tartu.");
    const before = await contentOf(me);
    await open.visit("#/data");
    await preview(await makeChatGptExport());
    await expect.poll(title, IMPORT_WAIT).toBe("This would be imported");
    expect(await readFacts()).toMatchObject({
      "New messages": MESSAGES,
      "Known before": 0,
      "Passed over": 15,
    });
    expect(await page.locator(".passed-over").innerText()).toContain("15 × a system message");
    expect(await contentOf(me)).toEqual(before);

    await press("Import");
    await expect.poll(title, IMPORT_WAIT).toMatch(/^Imported: 300 new messages, \d+ new memories$/);
    // The server stores the file in many changes.
    expect((await me.stats()).revision).toBeGreaterThan(10);
    const after = await contentOf(me);
    expect(after.length).toBeGreaterThan(before.length + MESSAGES);

    await press("Preview");
    await expect.poll(title, IMPORT_WAIT).toBe("Nothing new in this file");
    expect(await readFacts()).toMatchObject({
      "New messages": 0,
      "New memories": 0,
      "Known before": MESSAGES,
    });
    await press("Close");

    await press("Undo import");
    await expect.poll(title, IMPORT_WAIT).toBe("The import is undone");
    expect(await contentOf(me)).toEqual(before);
    await press("Redo import");
    await expect.poll(title, IMPORT_WAIT).toBe("The import is back");
    expect(await contentOf(me)).toEqual(after);
    expect(open.complaints).toEqual([]);
  }, 240_000);

  it("imports an export of Keepsake of more than 500 lines, and undoes all of it", async () => {
    const eva = open.keepsake.scope({ user: "eva" });
    const said = Array.from({ length: 300 }, (_, i) => ({
      role: "user" as const,
      content: `I use Tool${i}.`,
    }));
    for (let from = 0; from < said.length; from += 100) await eva.remember(said.slice(from, from + 100));
    await eva.add({ text: "The user owns a boat." });
    const lines: string[] = [];
    for await (const line of eva.export()) lines.push(JSON.stringify(line));
    expect(lines.length).toBeGreaterThan(500);
    const file = join(folder, "export.jsonl");
    writeFileSync(file, `${lines.join("\n")}\n`);

    await open.visit("#/data");
    await preview(file);
    await expect.poll(title, IMPORT_WAIT).toBe("This would be imported");
    await press("Import");
    await expect.poll(title, IMPORT_WAIT).toMatch(/^Imported: 300 new messages, /);
    const texts = async (memory: ScopedMemory) =>
      (await memory.list({ limit: 1000 })).items.map(({ text }) => text).toSorted();
    expect(await texts(me)).toEqual(await texts(eva));
    await press("Preview");
    await expect.poll(title, IMPORT_WAIT).toBe("Nothing new in this file");
    await press("Undo import");
    await expect.poll(() => page.locator("h3:has-text('The import is undone')").count(), IMPORT_WAIT).toBe(1);
    expect(await contentOf(me)).toEqual([]);
    expect(open.complaints).toEqual([]);
  }, 240_000);

  it("says how much is stored when the connection breaks, goes on with the same import, and undoes both parts", async () => {
    const file = await makeChatGptExport();
    const half = join(folder, "half.json");
    await FILE_MAKERS.chatgpt?.write(half, MESSAGES / 2);
    await open.visit("#/data");
    await preview(file);
    await expect.poll(title, IMPORT_WAIT).toBe("This would be imported");
    // Half of the file arrives before the connection breaks.
    await page.route(/import_id=/, async (route) => {
      const importId = new URL(route.request().url()).searchParams.get("import_id") ?? "";
      for await (const _progress of me.import(half, { format: "auto", importId }));
      await route.abort();
    });
    await press("Import");
    await expect.poll(title, IMPORT_WAIT).toBe("The import failed");
    expect(await page.locator(".erase-panel").first().innerText()).toContain("A part of it is stored");
    await page.unroute(/import_id=/);
    await press("Go on");
    await expect.poll(title, IMPORT_WAIT).toMatch(/^Imported: 150 new messages, /);
    await press("Undo import");
    await expect.poll(title, IMPORT_WAIT).toBe("The import is undone");
    expect(await contentOf(me)).toEqual([]);
  }, 240_000);

  it("can be stopped, and says what is stored by then", async () => {
    const file = await makeChatGptExport();
    await open.visit("#/data");
    await preview(file);
    await expect.poll(title, IMPORT_WAIT).toBe("This would be imported");
    // A server that has not answered yet.
    await page.route(/import_id=/, () => undefined);
    await press("Import");
    await press("Stop");
    await expect.poll(title, IMPORT_WAIT).toBe("The import is stopped");
    expect(await page.locator(".erase-panel").first().innerText()).toContain("Nothing of it is stored.");
    expect(await contentOf(me)).toEqual([]);
  }, 120_000);

  it("says what is wrong with a ZIP archive, an empty file and a file of an unknown format", async () => {
    const problems: (string | null)[] = [];
    await open.visit("#/data");
    for (const [name, content] of [
      ["export.zip", Buffer.from("PK\u0003\u0004 and more")],
      ["empty.json", Buffer.alloc(0)],
      ["strange.json", Buffer.from('{"strange": [1, 2, 3]}')],
    ] as const) {
      const file = join(folder, name);
      writeFileSync(file, content);
      await preview(file);
      await expect.poll(() => page.locator(".erase-panel .problem").count()).toBe(1);
      problems.push(await page.locator(".erase-panel .problem").textContent());
    }
    expect(problems).toEqual([
      expect.stringMatching(/ZIP archive. Unpack it/),
      expect.stringMatching(/the file is empty/),
      expect.stringMatching(/unrecognised format/i),
    ]);
    expect(await page.locator(".erase-panel").first().innerText()).toContain("choose the format");
  });

  it("is done with the keyboard alone on a phone, without a fault that axe-core finds and without sideways scrolling", async () => {
    const tabTo = async (name: string): Promise<void> => {
      const focused = "document.activeElement.textContent";
      for (let tries = 0; tries < 8 && (await page.evaluate(focused)) !== name; tries += 1)
        await page.keyboard.press("Tab");
      expect(await page.evaluate(focused)).toBe(name);
      await page.keyboard.press("Enter");
    };
    const faults: string[] = [];
    const look = async (): Promise<void> => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        faults.push(...(await findAxeFaults(page)));
      }
      const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(wider)).toBe(0);
    };
    const file = await makeChatGptExport();
    await page.setViewportSize({ width: 390, height: 844 });
    await open.visit("#/data");
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    await page.getByLabel("File", { exact: true }).focus();
    await tabTo("Preview");
    await expect.poll(title, IMPORT_WAIT).toBe("This would be imported");
    await look();
    await tabTo("Import");
    await expect.poll(title, IMPORT_WAIT).toMatch(/^Imported: /);
    await look();
    await tabTo("Undo import");
    await expect.poll(title, IMPORT_WAIT).toBe("The import is undone");
    expect(faults).toEqual([]);
    expect(await contentOf(me)).toEqual([]);
  }, 240_000);

  it("exports everything as JSON Lines, and the memories as Portable AI Memory and as Markdown", async () => {
    await me.remember("I own a boat.");
    await open.visit("#/data");
    const files: { name: string; text: string }[] = [];
    for (const format of ["jsonl", "pam", "markdown"]) {
      await page.getByLabel("What to export", { exact: true }).selectOption(format);
      const [saved] = await Promise.all([page.waitForEvent("download"), press("Export")]);
      files.push({ name: saved.suggestedFilename(), text: readFileSync(await saved.path(), "utf8") });
    }
    const [lines, pam, markdown] = files;
    expect(files.map(({ name }) => name)).toEqual([
      "keepsake-me.jsonl",
      "keepsake-me.pam.json",
      "keepsake-me.md",
    ]);
    expect(lines?.text).toMatch(/"type":"message".*I own a boat\./);
    expect(JSON.parse(pam?.text ?? "")).toMatchObject({
      schema: "portable-ai-memory",
      memories: [{ content: "The user owns a boat." }],
      signature: { algorithm: "Ed25519" },
    });
    expect(markdown?.text).toMatch(/^# me\n[\s\S]*\* The user owns a boat\./);
  });
});
