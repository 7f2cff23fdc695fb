import { describe, expect, it } from "vitest";
import { findAxeFaults, HAS_BROWSER, type OpenPage, usePage } from "./page-browser.ts";

describe.skipIf(!HAS_BROWSER)("the page's tour", () => {
  const open: OpenPage = usePage();

  /** What is left of the made-up people: memories of any state, sessions with words, and the names themselves. */
  async function leftOfTours(): Promise<{ names: number; memories: number; sessions: number }> {
    const names = (await open.keepsake.users()).filter((name) => name.startsWith("tour-"));
    let [memories, sessions] = [0, 0];
    for (const user of names) {
      const memory = open.keepsake.scope({ user });
      memories += (await memory.list({ status: "all" })).total;
      sessions += (await memory.sessions()).total;
    }
    return { names: names.length, memories, sessions };
  }

  const says = (i: number) => open.page.locator(".tour > li").nth(i);
  const click = async (i: number) => {
    await says(i).locator("button.tour-says").click();
    await says(i).locator(".tour-reply .small").last().waitFor();
  };

  it("begins on the empty page, tells the story in four clicks, and leaves nothing behind, twice", async () => {
    await open.visit();
    await open.page.getByRole("link", { name: "Take the tour" }).click();
    for (const round of [1, 2]) {
      await expect.poll(() => open.page.locator(".tour button:enabled").count()).toBe(1);
      await click(0);
      expect(await says(0).innerText()).toMatch(/Learnt[\s\S]*Shram/);
      await click(1);
      expect(await says(1).innerText()).toMatch(/Replaced[\s\S]*Porto/);
      await click(2);
      expect(await says(2).locator(".answer").innerText()).toBe("You live in Faro.");
      await click(3);
      expect(await says(3).innerText()).toContain("Your browser verified the receipt.");
      await expect.poll(() => open.page.locator("#view").innerText()).toContain("Its memory was erased:");
      expect([round, await leftOfTours()]).toEqual([round, { names: 1, memories: 0, sessions: 0 }]);
      if (round === 1) {
        expect(await findAxeFaults(open.page)).toEqual([]);
        await open.page.setViewportSize({ width: 390, height: 800 });
        expect(await open.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
        await open.page.getByRole("button", { name: "Once more" }).click();
      }
    }
    expect((await open.keepsake.scope({ user: "me" }).stats()).messages).toBe(0);
    expect(open.complaints).toEqual([]);
  });

  // A browser waits half a second for a page that is left, and then ends it. On a busy machine nothing of it may have run by then: the
  // next visit erases what is left.
  it("erases what was said when one goes elsewhere, signs out, or closes the tab", { retry: 2 }, async () => {
    const leave = {
      elsewhere: () => open.page.goto(`${open.served.url}/#/memories`),
      out: () => open.page.getByRole("button", { name: "Sign out" }).click(),
      // As a closed tab, nothing of the page runs there any more.
      closed: () => open.page.goto("about:blank"),
    };
    await open.visit("#/tour");
    await click(0);
    expect((await leftOfTours()).memories).toBeGreaterThan(0);
    await leave.elsewhere();
    await expect.poll(leftOfTours).toEqual({ names: 1, memories: 0, sessions: 0 });
    await open.page.goto(`${open.served.url}/#/tour`);
    await click(0);
    expect((await leftOfTours()).memories).toBeGreaterThan(0);
    await leave.closed();
    await expect.poll(leftOfTours).toEqual({ names: 1, memories: 0, sessions: 0 });
    await open.page.goto(`${open.served.url}/#/tour`);
    await click(0);
    await leave.out();
    await expect.poll(leftOfTours).toEqual({ names: 1, memories: 0, sessions: 0 });
  });

  it("begins anew when one comes back: nothing goes on that was erased", async () => {
    await open.visit("#/tour");
    await click(0);
    await click(1);
    await open.page.goto(`${open.served.url}/#/memories`);
    await expect.poll(leftOfTours).toEqual({ names: 1, memories: 0, sessions: 0 });
    await open.page.goto(`${open.served.url}/#/tour`);
    await expect.poll(() => open.page.locator(".tour button:enabled").count()).toBe(1);
    expect(await open.page.locator(".tour .answer").count()).toBe(0);
    for (const i of [0, 1, 2]) await click(i);
    expect(await says(2).locator(".answer").innerText()).toBe("You live in Faro.");
    expect(open.complaints).toEqual([]);
  });

  it("says nothing with a key that may not erase, and tells why", async () => {
    await open.visit("#/settings");
    await open.page.getByRole("button", { name: "Make a key" }).click();
    const key = await open.page.locator(".issued-key").inputValue();
    await open.page.getByRole("button", { name: "Sign out" }).click();
    await open.page.getByLabel("Key", { exact: true }).fill(key);
    await open.page.getByRole("button", { name: "Sign in" }).click();
    await open.page.locator("#message").waitFor();
    await open.page.goto(`${open.served.url}/#/tour`);
    await expect
      .poll(() => open.page.locator("#view").innerText())
      .toContain("This key may not erase what the made-up person says");
    expect(await open.page.locator(".tour button:enabled").count()).toBe(0);
    expect(await leftOfTours()).toEqual({ names: 0, memories: 0, sessions: 0 });
  });
});
