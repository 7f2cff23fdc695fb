import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { serve } from "../src/http/index.ts";
import { createMemory } from "../src/memory.ts";
import { fillForScreens } from "../test/e2e/page-story.ts";

/**
 * Pictures of every screen of the page in three widths, light and dark: `node scripts/page-screens.ts FOLDER [NAME [WIDTH]]`.
 * The README's picture is made with `node scripts/page-screens.ts docs/images/page.jpg`.
 */
const [place = "screens", only = "", wanted = ""] = process.argv.slice(2);
const README_PICTURE = place.endsWith(".jpg") ? place : undefined;
const WIDTHS = [
  [390, 844],
  [1280, 800],
  [1920, 1080],
] as const;

interface Screen {
  readonly name: string;
  readonly address: string;
  readonly prepare?: (page: Page) => Promise<void>;
}

async function main(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), "keepsake-screens-"));
  const path = join(data, "memory.db");
  const keepsake = await createMemory({ path });
  const ids = await fillForScreens(keepsake.scope({ user: "me" }));
  const served = await serve({ keepsake, clock: () => new Date(), port: 0, keysPath: `${path}.keys.json` });
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  mkdirSync(README_PICTURE ? dirname(place) : place, { recursive: true });
  const url = served.signInUrl ?? "";
  const screens = listScreens(ids);
  try {
    if (README_PICTURE) {
      const told = screens.filter(({ name }) => name === "told");
      await takeAll(browser, url, { colorScheme: "light", width: 1280, height: 800, screens: told });
      return;
    }
    for (const colorScheme of ["light", "dark"] as const)
      for (const [width, height] of WIDTHS.filter(([one]) => wanted === "" || one === Number(wanted)))
        await takeAll(browser, served.signInUrl ?? "", {
          colorScheme,
          width,
          height,
          screens: listScreens(ids),
        });
  } finally {
    await browser.close();
    await served.close();
    await keepsake.close();
    rmSync(data, { recursive: true });
  }
}

interface Look {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
  readonly height: number;
  readonly screens: readonly Screen[];
}

async function takeAll(browser: Browser, url: string, look: Look): Promise<void> {
  const { colorScheme, width, height, screens } = look;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, locale: "en-GB" });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.goto(url);
  await page.locator("#message").waitFor();
  const home = new URL(url).origin;
  for (const { name, address, prepare } of screens.filter((one) => one.name.includes(only))) {
    await page.goto(`${home}/${address}`);
    await page.reload();
    await settle(page);
    await prepare?.(page);
    await settle(page);
    if (README_PICTURE) await page.screenshot({ path: README_PICTURE, type: "jpeg", quality: 70 });
    else await page.screenshot({ path: join(place, `${name}-${width}-${colorScheme}.png`) });
  }
  await context.close();
}

/** Waits until nothing is asked for any more, and what came is drawn. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(400);
}

function listScreens({ changed, told, session }: Awaited<ReturnType<typeof fillForScreens>>): Screen[] {
  return [
    { name: "chat", address: "" },
    { name: "memories", address: "#/memories" },
    { name: "memory", address: `#/memories/${changed}` },
    { name: "search", address: "#/memories?q=tools&state=all" },
    { name: "nothing", address: "#/memories?q=zzzz" },
    {
      name: "groups",
      address: "#/memories?group=topic",
      prepare: async (page) => {
        await page.locator(".memory-group summary").first().click();
        await page.locator(".memory-group summary").nth(1).click();
      },
    },
    {
      name: "filters",
      address: "#/memories?topic=work",
      prepare: async (page) => void (await page.locator(".more-filters summary").click()),
    },
    {
      name: "associate",
      address: `#/memories/${changed}`,
      prepare: async (page) => {
        await page.getByRole("button", { name: "Associate…" }).click();
        await page.getByLabel("The other one, by its words").fill("sister");
      },
    },
    { name: "told", address: `#/memories/${told}` },
    {
      name: "selected",
      address: "#/memories",
      prepare: async (page) => {
        await page.locator(".pick input").first().check();
        await page.locator(".pick input").nth(2).check();
      },
    },
    {
      name: "edit",
      address: `#/memories/${changed}`,
      prepare: async (page) => void (await page.locator(".detail-actions >> text=Edit").click()),
    },
    { name: "more", address: "#/more" },
    { name: "decide", address: "#/decide" },
    {
      name: "people",
      address: "#/people",
      prepare: async (page) => void (await page.locator(".memory-group summary").first().click()),
    },
    {
      name: "merge",
      address: "#/memories",
      prepare: async (page) => {
        await page.locator(".pick input").nth(5).check();
        await page.locator(".pick input").nth(7).check();
        await page.getByRole("button", { name: "Merge…" }).click();
      },
    },
    {
      name: "given",
      address: "#/context?q=Which+tools+do+I+use%3F",
      prepare: async (page) => {
        await page.goto(page.url().replace(/#.*/, "#/context"));
        await page.locator(".recent summary").first().click();
        await page.locator(".recent .fold .fold summary").first().click();
      },
    },
    { name: "conversations", address: "#/conversations" },
    { name: "erase", address: "#/erase" },
    {
      name: "plan",
      address: "#/erase",
      prepare: async (page) => {
        await page.getByLabel("What to erase").fill("my sister");
        await page.getByRole("button", { name: "Preview" }).click();
        await page.locator(".plan").first().waitFor();
      },
    },
    {
      name: "receipt",
      address: "#/erase",
      prepare: async (page) => void (await page.locator(".receipt-rows a").first().click()),
    },
    { name: "timeline", address: "#/timeline?at=2026-03-10" },
    { name: "known", address: "#/timeline?by=known" },
    { name: "map", address: "#/map" },
    { name: "overview", address: "#/overview" },
    { name: "sharing", address: "#/sharing" },
    { name: "context", address: "#/context?q=Plan+my+Saturday+in+the+garden" },
    { name: "recall", address: "#/context?q=Which+tools+do+I+use%3F&way=recall" },
    { name: "attachments", address: "#/attachments" },
    { name: "upkeep", address: "#/upkeep" },
    { name: "data", address: "#/data" },
    { name: "settings", address: "#/settings" },
    { name: "tour", address: "#/tour" },
    { name: "server", address: "#/server" },
    { name: "api", address: "#/api" },
    { name: "call", address: "#/api/searchMemories" },
    { name: "help", address: "#/memories", prepare: (page) => page.keyboard.press("?") },
    { name: "conversation", address: `#/conversations/${session}` },
  ];
}

await main();
