import type { Route } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import type { ScopedMemory } from "../../src/engine/api/scoped-memory.ts";
import { HAS_BROWSER, usePage } from "./page-browser.ts";

const CONVERSATION = "**/api/v1/conversation";

describe.skipIf(!HAS_BROWSER)("the words on the page", () => {
  const open = usePage();
  let { page } = open;
  let me: ScopedMemory;
  beforeEach(() => {
    page = open.page;
    me = open.keepsake.scope({ user: "me" });
  });

  const said = (): Promise<string[]> => page.locator("#log .said").allTextContents();
  const turns = (): Promise<string[]> => page.locator(".turn-text").allTextContents();
  const send = async (text: string): Promise<void> => {
    await page.fill("#message", text);
    await page.press("#message", "Enter");
  };

  /** Stores "Line 1", "Line 2", … in a conversation. */
  async function talk(session: string, count: number): Promise<void> {
    const lines = Array.from({ length: count }, (_one, i) => ({
      role: "user" as const,
      content: `Line ${i + 1}`,
    }));
    await me.remember(lines, { session });
  }

  /** Holds back the answer to the next message until it is let go. Gives what lets go. */
  async function holdAnswers(answer: (route: Route) => Promise<void>): Promise<() => void> {
    let letGo = (): void => {};
    const isFree = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const hold = async (route: Route): Promise<void> => {
      await isFree;
      await answer(route);
    };
    await page.route(CONVERSATION, hold, { times: 1 });
    return letGo;
  }

  it("continue a long conversation at its newest message, and go back to its first", async () => {
    await talk("long", 1050);
    await open.visit("#/conversations/long");
    await page.getByRole("button", { name: "Continue" }).click();
    await expect.poll(async () => (await said()).at(-1)).toBe("Line 1050");
    expect(await said()).toHaveLength(200);
    await expect.poll(() => page.locator("#log .said").last().isVisible()).toBe(true);
    for (let clicks = 1; clicks <= 5; clicks += 1) {
      await page.getByRole("button", { name: /Show earlier messages/ }).click();
      await expect.poll(async () => (await said()).length).toBe(Math.min(1050, 200 * (clicks + 1)));
    }
    expect((await said())[0]).toBe("Line 1");
    expect(new Set(await said()).size).toBe(1050);
    expect(await page.getByRole("button", { name: /Show earlier messages/ }).count()).toBe(0);
  });

  it("show a memory's source in its conversation however far back it was said, with what stands around it", async () => {
    await talk("long", 450);
    await me.remember([{ role: "user", content: "I own a boat." }], { session: "long" });
    await talk("long", 300);
    const [memory] = (await me.list()).items;
    await open.visit(`#/memories/${memory?.id}`);
    await page.getByRole("link", { name: "Read the conversation" }).click();
    await expect.poll(() => page.locator(".pointed").innerText()).toContain("I own a boat.");
    expect(await turns()).toContain("Line 450");
    await page.getByRole("button", { name: "Read what was said before" }).click();
    await expect.poll(async () => (await turns()).length).toBe(420);
    await page.getByRole("button", { name: "Read on" }).click();
    await expect.poll(async () => (await turns()).at(-1)).toBe("Line 300");
    await page.getByRole("button", { name: "Beginning" }).click();
    await expect.poll(async () => (await turns())[0]).toBe("Line 1");
    await page.getByRole("button", { name: "End" }).click();
    await expect.poll(async () => (await turns()).at(-1)).toBe("Line 300");
  });

  it("say so when reading on fails, and read on at the next click", async () => {
    await talk("long", 250);
    await open.visit("#/conversations/long");
    await page.route("**/api/v1/sessions/me/long?*cursor*", (route) => route.abort());
    await page.getByRole("button", { name: "Read on" }).click();
    await expect.poll(() => page.locator(".more-place .problem").textContent()).toMatch(/does not answer/);
    await page.unroute("**/api/v1/sessions/me/long?*cursor*");
    await page.getByRole("button", { name: "Read on" }).click();
    await expect.poll(async () => (await turns()).length).toBe(250);
    expect(await page.locator(".more-place").count()).toBe(0);
  });

  it("arrive once, in the same conversation, when the page is loaded again before the message reached the server", async () => {
    await open.visit();
    await holdAnswers((route) => route.abort());
    await send("I live in Porto.");
    await page.locator(".waiting").waitFor();
    await page.reload();
    await page.locator(".reply").waitFor();
    expect(await said()).toEqual(["I live in Porto."]);
    expect(await page.inputValue("#message")).toBe("");
    await send("I like the sea.");
    await expect.poll(async () => (await me.sessions()).items.map(({ messages }) => messages)).toEqual([2]);
  });

  it("arrive once when the page is loaded again after the server stored the message and before it answered", async () => {
    await open.visit();
    let isStored = (): void => {};
    const stored = new Promise<void>((resolve) => {
      isStored = resolve;
    });
    const storeOnly = async (route: Route): Promise<void> => {
      await route.fetch();
      isStored();
    };
    await page.route(CONVERSATION, storeOnly, { times: 1 });
    await send("I live in Porto.");
    await stored;
    await page.reload();
    await page.locator(".reply").waitFor();
    await expect.poll(said).toEqual(["I live in Porto."]);
    expect((await me.sessions()).items.map(({ messages }) => messages)).toEqual([1]);
    expect((await me.list()).items.map(({ evidence }) => evidence)).toEqual([1]);
  });

  it("come back before what was typed since when a message cannot be sent, and survive a reload then", async () => {
    await open.visit();
    const fail = await holdAnswers((route) =>
      route.fulfill({ status: 503, json: { detail: "It is away." } }),
    );
    await send("I live in Porto.");
    await page.locator(".waiting").waitFor();
    await page.locator("#message").pressSequentially("And I like tea.");
    fail();
    await expect.poll(() => page.locator("#log .problem").textContent()).toBe("It is away.");
    expect(await page.inputValue("#message")).toBe("I live in Porto.\n\nAnd I like tea.");
    await page.reload();
    await expect.poll(() => page.inputValue("#message")).toBe("I live in Porto.\n\nAnd I like tea.");
  });

  it("are stored once when a message whose answer got lost is sent again, also after a reload", async () => {
    await open.visit();
    await page.route(CONVERSATION, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await send("I live in Porto.");
    await expect.poll(() => page.locator("#log .problem").textContent()).toMatch(/does not answer/);
    await page.unroute(CONVERSATION);
    await page.reload();
    await expect.poll(() => page.inputValue("#message")).toBe("I live in Porto.");
    await page.press("#message", "Enter");
    await page.locator(".reply").waitFor();
    expect((await me.list()).items.map(({ evidence }) => evidence)).toEqual([1]);
  });

  it("name nobody in the browser after signing out, not even who was chosen before", async () => {
    await open.visit();
    for (const name of ["eva", "ana"]) {
      await page.fill("#user", name);
      await page.press("#user", "Enter");
      await expect.poll(() => page.locator("#said").textContent()).toContain(name);
    }
    await page.fill("#message", "a word of ana's");
    await page.goto(`${open.served.url}/#/memories?q=boat`);
    await page.click("#leave");
    await page.locator("#key").waitFor();
    const kept =
      await page.evaluate(`JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href,
      document.title, document.body.innerHTML, [...document.querySelectorAll("input, textarea")].map((one) => one.value)])`);
    for (const word of ["eva", "ana", "boat", "a word"]) expect(kept).not.toContain(word);
  });

  it("say that the server was not told when signing out fails, and let nobody in without the key", async () => {
    await open.visit();
    await page.route("**/session", (route) => route.abort());
    await page.click("#leave");
    await expect.poll(() => page.locator("#door-problem").textContent()).toMatch(/not on the server/);
    await page.unroute("**/session");
    await page.reload();
    await page.locator("#key").waitFor();
  });
});
