import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, firefox, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { type Served, type ServeOptions, serve } from "../../src/http/index.ts";
import { createMemory } from "../../src/memory.ts";
import type { MemoryOptions } from "../../src/memory-options.ts";

/** The browser that the tests of pages use. */
export const CHROMIUM: string = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
/** Whether there is a browser to try the page in. */
export const HAS_BROWSER: boolean = existsSync(CHROMIUM);
if (!HAS_BROWSER) {
  const missing = `${CHROMIUM} is not there: set CHROMIUM_PATH to a Chromium.`;
  // Where it is decided whether a change is good, a page that nobody looked at is no good page.
  if (process.env.CI === "true") throw new Error(missing);
  process.stderr.write(`The page is not tried in a browser: ${missing}\n`);
}

const FIREFOX = process.env.FIREFOX_PATH ?? "/usr/bin/firefox-esr";
/** Whether the page can be tried in Firefox too. */
export const HAS_FIREFOX: boolean = existsSync(FIREFOX);
/** `PAGE_BROWSER=firefox` runs every test of the page in Firefox, by WebDriver BiDi. */
const IS_FIREFOX_ASKED = process.env.PAGE_BROWSER === "firefox";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts Chromium, or Firefox by WebDriver BiDi. */
function launchBrowser(name: "chromium" | "firefox"): Promise<Browser> {
  if (name === "chromium") return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const executablePath = join(import.meta.dirname, "firefox.mjs");
  return firefox.launch({
    channel: "moz-firefox",
    executablePath,
    timeout: 180_000,
    env: { ...process.env, FIREFOX_PATH: FIREFOX },
  });
}

/** A server with an empty memory and a page of it in a browser, new for each test. */
export interface OpenPage {
  browser: Browser;
  context: BrowserContext;
  page: Page;
  keepsake: Keepsake;
  served: Served;
  /** What the browser complained of, and every request to another server. */
  complaints: string[];
  /** Signs in, and goes to an address of the page. */
  visit(address?: string): Promise<void>;
}

/**
 * Registers what opens and closes a page for each test of a suite. `options` are those of its memory, `serving` gives more for
 * the server.
 */
export function usePage(
  options: MemoryOptions = {},
  serving: () => Partial<ServeOptions> = () => ({}),
  browserName: "chromium" | "firefox" = IS_FIREFOX_ASKED ? "firefox" : "chromium",
): OpenPage {
  const open = {} as OpenPage;
  let folder: string;

  beforeAll(async () => {
    open.browser = await launchBrowser(browserName);
  }, 180_000);
  afterAll(() => open.browser?.close());

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "keepsake-page-"));
    const path = join(folder, "memory.db");
    open.keepsake = await createMemory({ path, ...options });
    open.served = await serve({
      keepsake: open.keepsake,
      clock: () => new Date(),
      port: 0,
      keysPath: `${path}.keys.json`,
      ...serving(),
    });
    open.context = await open.browser.newContext({ viewport: { width: 1280, height: 800 } });
    // It ends what hangs, and says nothing of speed: on a busy machine a page takes many times as long.
    open.context.setDefaultTimeout(60_000);
    open.page = await open.context.newPage();
    open.complaints = [];
    open.page.on("pageerror", (error) => open.complaints.push(error.message));
    open.page.on("console", (line) => {
      if (line.type() === "error" || line.type() === "warning") open.complaints.push(line.text());
    });
    open.page.on("request", (request) => {
      const isOwn = request.url().startsWith(open.served.url) || request.url().startsWith("blob:");
      if (!isOwn) open.complaints.push(`asked for ${request.url()}`);
    });
    open.visit = async (address = "") => {
      await open.page.goto(open.served.signInUrl ?? "");
      await open.page.locator("#message").waitFor();
      if (address !== "") await open.page.goto(`${open.served.url}/${address}`);
    };
  });
  afterEach(async () => {
    await open.context.close();
    await open.served.close();
    await open.keepsake.close();
    rmSync(folder, { recursive: true });
  });
  return open;
}

/** Gives the faults that axe-core finds on a page as it is shown, each with the elements. */
export async function findAxeFaults(page: Page): Promise<string[]> {
  // The policy of the page lets no script in that is not its own, so it comes through the debugger.
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 160)).join(" | ")))`);
}
