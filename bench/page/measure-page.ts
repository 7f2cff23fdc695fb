import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { filled } from "../speed/filling.ts";
import { type Machine, machineOf } from "../speed/machine.ts";
import { person } from "../speed/made-up.ts";
import { rounded, type Spread, spreadOf } from "../speed/measure.ts";
import { phase } from "../speed/progress.ts";
import { watchedServer } from "../stalls/server.ts";

/** The browser that the page is measured in. */
export const CHROMIUM: string = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

/** What a browser measures of the page of memories. Times in milliseconds. */
export interface PageFigures {
  readonly memories: number;
  /** From an address to rows on the screen: once with a server that has just started, then again. */
  readonly firstList: { readonly cold: number; readonly warm: Spread };
  /** From a change of the page to rows on the screen, in a page that is open. */
  readonly opened: Spread;
  /** From a keystroke in the search to its result on the screen. */
  readonly keystroke: Spread;
  /** The frames while somebody scrolls. */
  readonly frame: Spread & { readonly longest: number };
  readonly machine: Machine;
}

interface MeasuredPage {
  readonly url: string;
  readonly key: string;
  readonly user: string;
  readonly memories: number;
  /** How often each thing is measured. */
  readonly rounds: number;
}

const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
const QUERIES = ["sister porto", "painted the door", "dentist", "what did my boss sell", "hugo in lyon"];
/** Between two keystrokes of somebody who types fast. */
const TYPING_MS = 80;
const LIST = ".scroller";

/**
 * Runs in the browser. `untilShown` waits for rows that are no placeholders; `untilFound` for the result of the last search;
 * both give the time at which the frame with them was made.
 */
const IN_PAGE = `
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
  const waitFor = async (isThere) => {
    for (;;) {
      const at = await nextFrame();
      if (isThere()) return at;
    }
  };
  globalThis.untilShown = () => waitFor(() => document.querySelector(".row .row-text a"));
  globalThis.untilFound = () => waitFor(() => document.querySelector("${LIST}")?.ariaBusy === "false");
  globalThis.nextFrame = nextFrame;
`;

const ROOT = join(import.meta.dirname, "../..");
/** Nothing asks a model here. */
const NO_UPSTREAM = "http://127.0.0.1:9";

/** How much is measured. */
export interface PageBenchOptions {
  readonly memories: number;
  readonly rounds: number;
  readonly keep?: string | undefined;
}

/** Fills a file, serves it, and measures the page. */
export async function runPageBench({ memories, rounds, keep }: PageBenchOptions): Promise<PageFigures> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-page-bench-"));
  try {
    const database = join(folder, "memory.db");
    await filled(database, {
      users: 1,
      perUser: memories,
      ...(keep === undefined ? {} : { kept: keep }),
    });
    phase("a server and a browser");
    const server = await watchedServer({ checkout: ROOT, database, upstream: NO_UPSTREAM });
    try {
      const { url, key } = server;
      return await measurePage({ url, key, user: person(1).name, memories, rounds });
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures the page of memories in a browser of its own. The server must have just started. */
async function measurePage(measured: MeasuredPage): Promise<PageFigures> {
  const machine = machineOf();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const page = await openPage(browser, measured);
    const address = `${measured.url}/#/memories`;
    const cold = await timeFirstList(page, address);
    const warm: number[] = [];
    const opened: number[] = [];
    for (let round = 0; round < measured.rounds; round += 1) {
      warm.push(await timeFirstList(page, address));
      opened.push(await timeOpening(page));
    }
    const keystroke = await timeKeystrokes(page, measured.rounds);
    const frames = await timeFrames(page);
    return {
      memories: measured.memories,
      firstList: { cold: rounded(cold), warm: spreadOf(warm) },
      opened: spreadOf(opened),
      keystroke: spreadOf(keystroke),
      frame: { ...spreadOf(frames), longest: rounded(Math.max(...frames)) },
      machine: machine(),
    };
  } finally {
    await browser.close();
  }
}

/** Signs in, and leaves a page that loads no memories. */
async function openPage(browser: Browser, { url, key, user }: MeasuredPage): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.addInitScript(IN_PAGE);
  await page.addInitScript(`localStorage.setItem("keepsake.user", ${JSON.stringify(user)})`);
  await page.goto(`${url}/#key=${key}`);
  await page.locator("#nav").waitFor();
  await page.goto(`${url}/#/more`);
  return page;
}

/** From the beginning of the navigation, with everything that the page loads. */
async function timeFirstList(page: Page, address: string): Promise<number> {
  await page.goto("about:blank");
  await page.goto(address);
  // The clock of a page begins with its navigation.
  return page.evaluate("untilShown()");
}

async function timeOpening(page: Page): Promise<number> {
  await page.evaluate(`location.hash = "#/more"`);
  await page.locator(".more-list").waitFor();
  return page.evaluate(`(async () => {
    const from = performance.now();
    location.hash = "#/memories";
    await nextFrame();
    return (await untilShown()) - from;
  })()`);
}

/** Types queries letter by letter. Each letter is timed until its result is shown, or the next letter comes. */
async function timeKeystrokes(page: Page, rounds: number): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const query = QUERIES[round % QUERIES.length] ?? "";
    const times: (number | null)[] = await page.evaluate(`(async () => {
      const field = document.querySelector("input[type=search]");
      const times = [];
      const typed = [];
      for (const length of Array.from(${JSON.stringify(query)}, (_one, i) => i + 1)) {
        const from = performance.now();
        const place = times.push(null) - 1;
        field.value = ${JSON.stringify(query)}.slice(0, length);
        field.dispatchEvent(new Event("input", { bubbles: true }));
        // A result that comes after the next letter is the next letter's.
        typed.push(untilFound().then((at) => { if (times.length === place + 1) times[place] = at - from; }));
        await new Promise((resolve) => setTimeout(resolve, ${TYPING_MS}));
      }
      await Promise.all(typed);
      field.value = "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      await untilFound();
      return times;
    })()`);
    // A letter whose result nobody saw, because the next one came before, took until the last one's at least.
    taken.push(...toWaits(times));
  }
  return taken;
}

/** The wait of each letter for a result: its own, or that of the next letter which got one. */
function toWaits(times: readonly (number | null)[]): number[] {
  let after = 0;
  return [...times]
    .reverse()
    .map((time) => {
      after = time ?? after + TYPING_MS;
      return after;
    })
    .reverse();
}

/** Scrolls through the list as a wheel does, then in leaps as a dragged bar does; gives the length of each frame. */
async function timeFrames(page: Page): Promise<number[]> {
  return page.evaluate(`(async () => {
    const list = document.querySelector("${LIST}");
    const frames = [];
    let before = await nextFrame();
    const step = async (move) => {
      move();
      const now = await nextFrame();
      frames.push(now - before);
      before = now;
    };
    for (let i = 0; i < 180; i += 1) await step(() => { list.scrollTop += 120; });
    for (let i = 0; i < 120; i += 1) await step(() => { list.scrollTop = (list.scrollHeight * i) / 120; });
    return frames;
  })()`);
}
