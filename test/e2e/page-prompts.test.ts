import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";
import { findAxeFaults, HAS_BROWSER, usePage } from "./page-browser.ts";

describe.skipIf(!HAS_BROWSER)("what models saw, on the page", () => {
  let upstream: OpenaiServer;
  beforeAll(async () => {
    upstream = await openaiServer({ apiKey: "sk-upstream" });
  });
  afterAll(() => upstream?.close());
  const open = usePage({}, () => ({
    proxy: { upstream: { baseUrl: upstream.url, apiKey: "sk-upstream" }, retrievalMs: 5000 },
  }));

  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${open.served.url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${open.served.firstKey}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const chat = async (content: string): Promise<void> => {
    const body = { model: "m", user: "me", messages: [{ role: "user", content }] };
    await (await post("/v1/chat/completions", body, { "x-keepsake-session": "talk" })).text();
  };

  it("stands under the turn, word for word and with the reasons, and in the list of contexts, until an erasure", async () => {
    const me = open.keepsake.scope({ user: "me" });
    await me.remember("I use Quillon for work.");
    await chat("What do I use for work?");
    await expect.poll(async () => (await me.sessions()).total).toBe(1);
    await post("/api/v1/context", { user_id: "me", request: "Which tool is mine?" });
    await open.visit("#/conversations/talk");
    const fold = open.page.locator(".turn.user .given");
    await fold.locator("summary").first().click();
    await expect.poll(() => fold.locator("pre").innerText()).toContain("Quillon");
    const sent = JSON.stringify(upstream.received.at(-1)?.body);
    for (const block of (await fold.locator("pre").innerText()).split("\n\n"))
      expect(sent).toContain(JSON.stringify(block.trim()).slice(1, -1));
    expect(await fold.locator("summary").first().innerText()).toMatch(/about \d+ tokens/);
    await fold.locator(".fold summary").first().click();
    await expect.poll(() => fold.innerText()).toMatch(/Parts of the score|only the profile/);
    expect(await findAxeFaults(open.page)).toEqual([]);
    await open.page.goto(`${open.served.url}/#/context`);
    await expect.poll(() => open.page.locator(".recent q").allInnerTexts()).toHaveLength(2);
    await open.page.locator(".recent summary").first().click();
    await expect.poll(() => open.page.locator(".recent pre").first().innerText()).toContain("Quillon");
    expect(await findAxeFaults(open.page)).toEqual([]);
    await me.forget("Quillon");
    await open.page.reload();
    await open.page.locator(".view h2").waitFor();
    await open.page.waitForLoadState("networkidle");
    expect(await open.page.locator(".recent li").count()).toBe(0);
    expect(await open.page.content()).not.toContain("Quillon");
    expect(open.complaints).toEqual([]);
  });
});
