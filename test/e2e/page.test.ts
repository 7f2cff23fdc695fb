import { beforeEach, describe, expect, it } from "vitest";
import { HAS_BROWSER, usePage } from "./page-browser.ts";

describe.skipIf(!HAS_BROWSER)("the page", () => {
  const open = usePage();
  let { page, context, keepsake, served, complaints } = open;
  beforeEach(() => {
    ({ page, context, keepsake, served, complaints } = open);
  });

  async function signIn(): Promise<void> {
    await page.goto(served.signInUrl ?? "");
    await page.locator("#message").waitFor();
  }

  async function say(text: string): Promise<string> {
    await page.fill("#message", text);
    await page.press("#message", "Enter");
    await page.locator("#send:not([disabled])").waitFor();
    expect(await page.locator(".problem:visible").count()).toBe(0);
    return (await page.locator(".reply .answer").last().textContent()) ?? "";
  }

  const cards = (): Promise<string[]> => page.locator(".memory .text").allTextContents();
  const bodyText = (): Promise<string> => page.locator("body").innerText();

  it("signs in by the link of the first start, and keeps the key nowhere", async () => {
    await signIn();
    expect(page.url()).toBe(`${served.url}/`);
    const kept = await page.evaluate(
      "JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie",
    );
    expect(kept).not.toContain(served.firstKey?.slice(-43));
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });

    await page.reload();
    await page.locator("#message").waitFor();
    await page.click("#leave");
    await page.locator("#key").waitFor();
    await page.reload();
    await page.locator("#key").waitFor();
    expect(complaints.filter((line) => !line.includes("401"))).toEqual([]);
  });

  it("takes a key by hand, and says when it is wrong", async () => {
    await page.goto(served.url);
    await page.fill("#key", "hunter2");
    await page.press("#key", "Enter");
    await expect.poll(() => page.locator("#door-problem").textContent()).toMatch(/Unknown key/);
    await page.fill("#key", served.firstKey ?? "");
    await page.press("#key", "Enter");
    await page.locator("#message").waitFor();
  });

  it("tells the whole story: learns, answers, shows why, changes, forgets", async () => {
    await signIn();
    expect(await page.locator(".welcome").innerText()).toContain(
      "I use Shram and Magnet as productivity tools.",
    );
    await say("I use Shram and Magnet as productivity tools.");
    expect(await page.locator(".chip.added").count()).toBe(2);
    await expect.poll(cards).toHaveLength(2);
    expect(await page.locator(".memory .source").first().innerText()).toContain("I use Shram and Magnet");

    await page.click("#fresh");
    expect(await say("What are the productivity tools that I use?")).toBe("You use Shram and Magnet.");
    await page.click(".why summary");
    expect(await page.locator(".why li").allInnerTexts()).toEqual([
      expect.stringContaining("I use Shram and Magnet as productivity tools"),
    ]);

    await say("I don't use Magnet anymore.");
    expect(await page.locator(".chip.superseded").count()).toBe(1);
    await expect.poll(cards).toHaveLength(1);
    await page.check("#before");
    await expect
      .poll(() => page.locator(".memory.past s").allTextContents())
      .toEqual([expect.stringContaining("Magnet")]);
    expect(await say("What are the productivity tools that I use?")).toBe("You use Shram.");

    await say("Forget that I ever mentioned Magnet.");
    await expect.poll(() => page.locator(".memory.past").count()).toBe(0);
    await page.click(".chip.erased summary");
    expect(await page.locator(".chip.erased").innerText()).toContain("no traces");
    expect(await bodyText()).not.toContain("Magnet");
    expect(complaints).toEqual([]);
  });

  it("shows what forgetting would take before it takes it, and the receipt after", async () => {
    await signIn();
    await say("I live in Porto.");
    await expect.poll(cards).toHaveLength(1);
    await page.click(".memory .forget");
    await page.locator("dialog .danger").waitFor();
    expect(await page.locator("dialog").innerText()).toContain("Porto");
    await page.click("dialog >> text=Cancel");
    expect(await cards()).toHaveLength(1);

    await page.click(".memory .forget");
    await page.click("dialog .danger");
    await page.locator("dialog .checked").waitFor();
    expect(await page.locator("dialog").innerText()).toMatch(/Memories\s+1/);
    await page.click("dialog >> text=Done");
    await expect.poll(cards).toEqual([]);
    expect(await bodyText()).not.toContain("Porto");
    expect(await page.locator(".note").innerText()).toContain("Forgotten: 1 memory");
  });

  it("forgets what somebody names in a few words, once they have seen the plan", async () => {
    await signIn();
    await say("My cat is called Quixote. I live in Porto.");
    await expect.poll(cards).toHaveLength(2);
    await page.fill("#forget-what", "Zanzibar");
    await page.press("#forget-what", "Enter");
    await page.locator("dialog >> text=No matches").waitFor();
    await page.click("dialog >> text=Close");
    await page.fill("#forget-what", "my cat");
    await page.click("#forget-words button");
    await page.locator("dialog .danger").waitFor();
    expect(await page.locator("dialog").innerText()).toContain("Quixote");
    await page.click("dialog .danger");
    await page.locator("dialog .checked").waitFor();
    await page.click("dialog >> text=Done");
    await expect.poll(cards).toEqual([expect.stringContaining("Porto")]);
    expect(await bodyText()).not.toContain("Quixote");
  });

  it("takes back the last thing learnt, and brings it back again", async () => {
    await signIn();
    await say("I live in Porto.");
    await expect.poll(cards).toHaveLength(1);
    await page.click(".undo");
    await expect.poll(cards).toEqual([]);
    await page.click("text=Redo");
    await expect.poll(cards).toHaveLength(1);
  });

  it("keeps the memories of two people apart", async () => {
    await signIn();
    await say("I live in Porto.");
    await expect.poll(cards).toHaveLength(1);
    await page.fill("#user", "eva");
    await page.press("#user", "Enter");
    await expect.poll(cards).toEqual([]);
    expect(await page.locator(".said").count()).toBe(0);
    await say("I live in Faro.");
    await expect.poll(cards).toEqual([expect.stringContaining("Faro")]);
    await page.fill("#user", "me");
    await page.press("#user", "Enter");
    await expect.poll(cards).toEqual([expect.stringContaining("Porto")]);
  });

  it("shows stored text as text, whatever it holds", async () => {
    const text = '<img src=x onerror="document.title=1"><script>document.title=2</script> & <b>Porto</b>';
    await keepsake.scope({ user: "me" }).add({ text });
    await signIn();
    await expect.poll(cards).toEqual([text]);
    await say(text);
    expect(await page.locator(".said").textContent()).toBe(text);
    expect(await page.title()).toBe("Keepsake");
    expect(await page.locator("main img, main script, main b:not(.chip b)").count()).toBe(0);
  });

  it("says in words that the server is gone, and gives the message back", async () => {
    await signIn();
    await served.close();
    await page.fill("#message", "I live in Porto.");
    await page.press("#message", "Enter");
    await expect.poll(() => page.locator("#log .problem").textContent()).toMatch(/does not answer/);
    expect(await page.inputValue("#message")).toBe("I live in Porto.");
  });

  it("fits a phone: nothing is cut off, and one part shows at a time", async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    await signIn();
    await say("I use Shram and Magnet as productivity tools.");
    const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(wider)).toBe(0);
    expect(await page.locator("#known").isVisible()).toBe(false);
    await page.click("#tab-known");
    await expect.poll(cards).toHaveLength(2);
    expect(await page.locator("#known").isVisible()).toBe(true);
    expect(await page.locator("#talk").isVisible()).toBe(false);
    expect(await page.evaluate(wider)).toBe(0);
  });

  it("goes by keyboard alone, and every control has a name", async () => {
    await signIn();
    await say("I live in Porto.");
    await expect.poll(cards).toHaveLength(1);
    await page.locator(".memory .forget").focus();
    await page.keyboard.press("Enter");
    await page.locator("dialog .danger").waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator("dialog").isVisible()).toBe(false);
    // A text, for it runs in the browser, whose types this tree does not hold.
    const nameless = await page.evaluate(`
      [...document.querySelectorAll("button, input, textarea")]
        .filter((one) => one.checkVisibility() && !one.textContent.trim() && !one.labels?.length && !one.ariaLabel)
        .map((one) => one.outerHTML)`);
    expect(nameless).toEqual([]);
  });
});
