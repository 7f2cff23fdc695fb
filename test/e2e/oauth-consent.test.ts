import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  callTool,
  codeParameters,
  createKey,
  createPkce,
  encode,
  type OAuthWorld,
  openWorld,
  putClient,
  RECALL,
  requestParameters,
  requestTokens,
} from "../oauth/oauth-world.ts";
import { CHROMIUM, HAS_BROWSER } from "./page-browser.ts";

describe.skipIf(!HAS_BROWSER)("the consent page in a browser", () => {
  let browser: Browser;
  let world: OAuthWorld;
  let page: Page;
  let complaints: string[];
  /** What the client was called with, at an address of another origin. */
  let calls: URL[];
  let client: { readonly redirect: string; close(): Promise<void> };

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    world = await openWorld();
    calls = [];
    const server = createServer((request, response) => {
      calls.push(new URL(request.url ?? "", "http://client"));
      // What a hosted client's page does: it tells the window that opened it, and is closed.
      const opens = `<a href="#" onclick="window.open(location.hash.slice(1)); return false">connect</a>`;
      const tells = "<script>opener?.postMessage(location.search, '*')</script>";
      response.setHeader("content-type", "text/html");
      response.end(request.url?.startsWith("/callback") ? tells : opens);
    });
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    const { port } = server.address() as AddressInfo;
    client = {
      redirect: `http://localhost:${port}/callback`,
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
    page = await browser.newPage();
    complaints = [];
    page.on("console", (line) => complaints.push(line.text()));
  });
  afterEach(async () => {
    await page.close();
    await client.close();
    await world.close();
  });

  const toAddress = (parameters: object): string =>
    `${world.url}/oauth/authorize?${encode(parameters as { [name: string]: string })}`;

  it("takes a key and brings the person back to the client, without a script", async () => {
    await world.keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    const pkce = createPkce();
    const id = putClient(world, "/client.json", { redirect_uris: [client.redirect] });
    const parameters = { ...requestParameters(world, id, pkce), redirect_uri: client.redirect };
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(toAddress(parameters));
    await plain.getByLabel("Your key").fill("ks_wrong");
    await plain.getByRole("button", { name: "Allow" }).click();
    await plain.getByText("This key is not known").waitFor();
    await plain.getByLabel("Your key").fill(createKey(world, undefined));
    await plain.getByRole("button", { name: "Allow" }).click();
    await plain.getByText("Name the user").waitFor();
    await plain.getByLabel("Your key").fill(createKey(world, undefined));
    await plain.getByLabel("Whose memory").fill("ana");
    await plain.getByLabel("Erase memories").uncheck();
    await plain.getByRole("button", { name: "Allow" }).click();
    await plain.waitForURL(/callback/);
    await context.close();
    const [call] = calls.filter(({ pathname }) => pathname === "/callback");
    const code = call?.searchParams.get("code") ?? "";
    const { body } = await requestTokens(world, {
      ...codeParameters(world, id, code, pkce),
      redirect_uri: client.redirect,
    });
    expect(body.scope).toBe("read write");
    expect((await callTool(world, body.access_token, RECALL)).text).toContain("Porto");
  });

  it("lets a client's window wait for it, and takes a refusal without a key", async () => {
    const id = putClient(world, "/client.json", { redirect_uris: [client.redirect] });
    const parameters = { ...requestParameters(world, id, createPkce()), redirect_uri: client.redirect };
    await page.goto(`${new URL(client.redirect).origin}/#${toAddress(parameters)}`);
    const message = page.evaluate(
      "new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data)))",
    );
    const [popup] = await Promise.all([page.waitForEvent("popup"), page.getByText("connect").click()]);
    await popup.getByRole("button", { name: "Refuse" }).click();
    expect(Object.fromEntries(new URLSearchParams(String(await message)))).toEqual({
      error: "access_denied",
      state: "xyz",
      iss: world.url,
    });
  });

  it("has no fault of accessibility, and breaks no rule of its own policy", async () => {
    await page.goto(toAddress(requestParameters(world, putClient(world), createPkce())));
    expect(complaints).toEqual([]);
    const { violations } = await page
      .evaluate(`${axe.source}; axe.run()`)
      .then((found) => found as axe.AxeResults);
    expect(violations.map(({ id }) => id)).toEqual([]);
  });

  it("is shown in no frame of another page", async () => {
    const address = toAddress(requestParameters(world, putClient(world), createPkce()));
    await page.setContent(`<iframe src="${address.replaceAll("&", "&amp;")}"></iframe>`);
    await expect.poll(() => complaints.join(" ")).toMatch(/frame/i);
    expect(await page.frames()[1]?.content()).not.toContain("Your key");
  });
});
