import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiKeys, httpApp, passingKeys } from "../../src/http/index.ts";
import { createMemory } from "../../src/memory.ts";
import { type Echo, echo } from "../tenants/echo.ts";

/** A server on this machine that nobody may be led to: each request to it is a fault. */
let trap: Server;
let port: number;
let hits: string[];
let model: Echo;
beforeAll(async () => {
  hits = [];
  trap = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    response.end("{}");
  });
  trap.on("connection", () => hits.push("a connection"));
  await new Promise<void>((resolve) => trap.listen(0, resolve));
  port = (trap.address() as AddressInfo).port;
  model = await echo();
});
afterAll(async () => {
  await model.close();
  await new Promise((resolve) => trap.close(resolve));
});

/** Ways to write an address of this machine that a list of forbidden names overlooks. */
const spellings = (): string[] =>
  [
    "127.0.0.1",
    "localhost",
    "127.1",
    "0.0.0.0",
    "0",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "①②⑦.⓪.⓪.①",
    "user@127.0.0.1",
    "127.0.0.1#@api.openai.com",
    "LOCALHOST",
  ].flatMap((host) => ["http", "https"].map((scheme) => `${scheme}://${host}:${port}/trap`));

it("no address in a request is ever opened: not in a field, not in a picture, not in what is said", async () => {
  await using keepsake = await createMemory({ path: ":memory:" });
  const keys = apiKeys({ store: passingKeys(), clock: () => new Date() });
  const app = httpApp({ keepsake, keys, proxy: { upstream: { baseUrl: model.url } } });
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await app.request(path, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.first}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const FIELDS = [
    "api_base",
    "base_url",
    "azure_endpoint",
    "organization",
    "extra_headers",
    "extra_body",
    "headers",
  ];
  for (const url of spellings()) {
    const picture = { type: "image_url", image_url: { url } };
    const content = [{ type: "text", text: `See ${url}` }, picture];
    const overrides = Object.fromEntries(
      FIELDS.map((name) => [name, name.startsWith("extra") ? { url } : url]),
    );
    const chat = { model: "echo", user: "ana", messages: [{ role: "user", content }], ...overrides };
    const told = await send("/v1/chat/completions", chat, {
      "x-forwarded-host": `127.0.0.1:${port}`,
      "x-original-url": encodeURI(url),
      "openai-base-url": encodeURI(url),
    });
    expect([url, told.status]).toEqual([url, 200]);
    // The picture goes on to the model, which is whose it is to look at; what would choose a server does not.
    expect(told.text).toContain("image_url");
    for (const name of FIELDS) expect(told.text).not.toContain(`\\"${name}\\"`);
    await send("/api/v1/messages", { user_id: "ana", messages: [{ role: "user", content }] });
    await send("/api/v1/conversation", { user_id: "ana", message: `Remember my page ${url}` });
    await send("/api/v1/memories", { user_id: "ana", content: `The page is ${url}`, metadata: { url } });
    await send("/api/v1/memories/ana/search", { query: url });
  }
  expect(hits).toEqual([]);
  // The trap works.
  await fetch(`http://127.0.0.1:${port}/trap`);
  expect(hits).toContain("GET /trap");
}, 60_000);
