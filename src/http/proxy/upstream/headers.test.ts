import { expect, it } from "vitest";
import { headersOn } from "./headers.ts";

const KEY = `ks_${"0".repeat(12)}_${"A".repeat(43)}`;

it("the client's own key goes on where it brings one, and the server's where it has one", () => {
  const headers = new Headers({ authorization: "Bearer sk-theirs", "x-keepsake-key": KEY });
  expect(headersOn(headers, { isClients: true }).authorization).toBe("Bearer sk-theirs");
  expect(headersOn(headers, { isClients: false, apiKey: "sk-ours" }).authorization).toBe("Bearer sk-ours");
  expect(headersOn(headers, { isClients: false })).not.toHaveProperty("authorization");
});

it("a key of this server never goes on, wherever the client put it", () => {
  const headers = new Headers({ authorization: `Bearer ${KEY}`, "x-keepsake-key": KEY });
  for (const account of [
    { isClients: true },
    { isClients: false },
    { isClients: false, apiKey: "sk-ours" },
  ]) {
    expect(JSON.stringify(headersOn(headers, account))).not.toContain("ks_");
  }
});

it("a header from which some servers take the path or the method does not go on", () => {
  const names = ["x-original-url", "x-rewrite-url", "x-http-method-override", "x-original-method"];
  const headers = new Headers(names.map((name) => [name, "/v1/responses/resp_bob"]));
  expect(Object.keys(headersOn(headers, { isClients: false, apiKey: "sk-ours" })).sort()).toEqual([
    "accept-encoding",
    "authorization",
  ]);
});
