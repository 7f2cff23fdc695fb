import { Hono } from "hono";
import { expect, it } from "vitest";
import type { AppEnvironment } from "../../request-context.ts";
import type { ProviderName } from "../request/dialects.ts";
import { getUpstreamAccount, toUpstreamHeaders } from "./upstream-request.ts";

const KEY = `ks_${"0".repeat(12)}_${"A".repeat(43)}`;
/** A key of this server from the settings, which looks like no generated one. */
const GIVEN = "a-key-from-the-settings";

/** What goes on of the headers of a request, where the settings hold this key of the model's server. */
async function passedOn(headers: { [name: string]: string }, apiKey?: string, name: ProviderName = "openai") {
  const upstream = { baseUrl: "http://127.0.0.1:9/v1", ...(apiKey === undefined ? {} : { apiKey }) };
  const app = new Hono<AppEnvironment>();
  app.get("/", (exchange) => {
    const account = getUpstreamAccount({ exchange }, { name, upstream });
    return exchange.json({ ...toUpstreamHeaders(exchange.req.raw.headers, account) });
  });
  return (await (await app.request("/", { headers })).json()) as { [name: string]: string };
}

it("forwards the client's own key if it sends one, otherwise the server's", async () => {
  const theirs = { authorization: "Bearer sk-theirs", "x-keepsake-key": KEY };
  expect((await passedOn(theirs, "sk-ours")).authorization).toBe("Bearer sk-theirs");
  const named = { authorization: `Bearer ${KEY}`, "x-keepsake-upstream-key": "sk-theirs" };
  expect((await passedOn(named, "sk-ours")).authorization).toBe("Bearer sk-theirs");
  const none = { authorization: `Bearer ${KEY}` };
  expect((await passedOn(none, "sk-ours")).authorization).toBe("Bearer sk-ours");
  expect(await passedOn(none)).not.toHaveProperty("authorization");
});

it("never forwards a Keepsake key, in whichever header the client sends it", async () => {
  for (const key of [KEY, GIVEN]) {
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { "x-keepsake-key": key },
      { authorization: `Bearer ${key}`, "x-keepsake-key": key },
      { authorization: `Bearer ${key}`, "x-keepsake-upstream-key": "sk-theirs" },
      { authorization: `bearer  ${key} `, "x-keepsake-key": key },
    ] as { [name: string]: string }[]) {
      for (const apiKey of [undefined, "sk-ours"])
        expect(JSON.stringify(await passedOn(headers, apiKey))).not.toContain(key);
    }
  }
});

it("sends Anthropic's server a key in its own header, the client's first", async () => {
  const sent = (headers: { [name: string]: string }) => passedOn(headers, "sk-ant-ours", "anthropic");
  const ours = { "x-api-key": KEY };
  expect(await sent(ours)).toMatchObject({ "x-api-key": "sk-ant-ours" });
  expect(await sent({ authorization: `Bearer ${KEY}` })).toEqual({
    "accept-encoding": "identity",
    "x-api-key": "sk-ant-ours",
  });
  const named = { ...ours, "x-keepsake-upstream-key": "sk-ant-theirs" };
  expect(await sent(named)).toMatchObject({ "x-api-key": "sk-ant-theirs" });
  const apart = { "x-keepsake-key": KEY, "x-api-key": "sk-ant-theirs" };
  expect(await sent(apart)).toMatchObject({ "x-api-key": "sk-ant-theirs" });
  const signedIn = await sent({ "x-keepsake-key": KEY, authorization: "Bearer sk-ant-oat-theirs" });
  expect([signedIn.authorization, signedIn["x-api-key"]]).toEqual(["Bearer sk-ant-oat-theirs", undefined]);
  for (const key of [KEY, GIVEN]) {
    for (const headers of [
      { "x-api-key": key },
      { "x-api-key": key, "x-keepsake-key": key },
      { "x-api-key": key, authorization: `Bearer ${key}`, "x-keepsake-key": key },
      { "x-api-key": key, "x-keepsake-upstream-key": "sk-ant-theirs" },
    ])
      expect(JSON.stringify(await sent(headers))).not.toContain(key);
  }
});

it("sends no key of Anthropic to OpenAI's server, and the reverse", async () => {
  const both = { authorization: "Bearer sk-openai", "x-api-key": "sk-ant-theirs", "api-key": "azure" };
  expect(await passedOn(both, "sk-ours")).toEqual({
    "accept-encoding": "identity",
    authorization: "Bearer sk-ours",
  });
  expect(await passedOn({ ...both, "x-keepsake-key": KEY }, "sk-ours")).not.toHaveProperty("x-api-key");
  expect(await passedOn(both, "sk-ant-ours", "anthropic")).toEqual({
    "accept-encoding": "identity",
    "x-api-key": "sk-ant-ours",
  });
});

it("does not forward headers from which some servers take the path or the method", async () => {
  const names = ["x-original-url", "x-rewrite-url", "x-http-method-override", "x-original-method"];
  const headers = Object.fromEntries(names.map((name) => [name, "/v1/responses/resp_bob"]));
  expect(Object.keys(await passedOn(headers, "sk-ours")).sort()).toEqual([
    "accept-encoding",
    "authorization",
  ]);
});
