import { afterAll, describe, expect, it } from "vitest";
import { keyWrapperConformance } from "../../testing/key-wrapper-conformance.ts";
import { startVaultServer, VAULT_TOKEN } from "../../testing/vault-server.ts";
import { vaultKeyWrapper } from "./index.ts";

const server = await startVaultServer();
afterAll(() => server.stop());

const open = (key: string, options: { readonly token?: string; readonly namespace?: string } = {}) =>
  vaultKeyWrapper({ address: `${server.url}/`, token: VAULT_TOKEN, key, timeoutMs: 2000, ...options });

keyWrapperConformance({
  name: "vault (a server of the documented API of the transit engine, not Vault itself)",
  open: async () => open("one"),
  openOther: async () => open("two"),
});

const KEY = Buffer.alloc(32, 7);
const CONTEXT = JSON.stringify(["default", "ana", "0123"]);

describe("a master key in Vault", () => {
  it("tells the server no name of a user, and names the namespace and the key", async () => {
    server.requests.length = 0;
    const wrapper = open("one", { namespace: "team/memory" });
    await wrapper.unwrap(await wrapper.wrap(KEY, CONTEXT), CONTEXT);
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/v1/transit/encrypt/one",
      "/v1/transit/decrypt/one",
    ]);
    for (const { headers, body } of server.requests) {
      expect(headers["x-vault-namespace"]).toBe("team/memory");
      expect(Buffer.from(body.associated_data ?? "", "base64").toString("latin1")).not.toContain("ana");
    }
  });

  it.each([
    ["forbidden", "a token that is not allowed", 403, { errors: ["permission denied"] }],
    ["forbidden", "a key that is not there", 400, { errors: ["encryption key not found"] }],
    [
      "forbidden",
      "a version of the key that is not allowed any more",
      400,
      { errors: ["disallowed by policy (too old)"] },
    ],
    ["forbidden", "a mount that is not there", 404, { errors: [] }],
    ["unavailable", "a sealed server", 503, { errors: ["Vault is sealed"] }],
    ["unavailable", "a server that is busy", 429, { errors: [] }],
  ] as const)(
    "is %s with %s: a key that is only out of reach is never taken for a lost one",
    async (code, _what, status, body) => {
      const wrapper = open("one");
      const wrapped = await wrapper.wrap(KEY, CONTEXT);
      server.fail({ status, body });
      try {
        await expect(wrapper.unwrap(wrapped, CONTEXT)).rejects.toMatchObject({ code });
        await expect(wrapper.wrap(KEY, CONTEXT)).rejects.toMatchObject({ code });
      } finally {
        server.fail(undefined);
      }
    },
  );

  it("is unavailable if nobody answers, and no error shows the token", async () => {
    const wrapper = vaultKeyWrapper({ address: "http://127.0.0.1:9", token: VAULT_TOKEN, key: "one" });
    const error = (await wrapper.wrap(KEY, CONTEXT).catch((cause: unknown) => cause)) as Error;
    expect(error).toMatchObject({ code: "unavailable" });
    expect(`${error.message} ${error.cause}`).not.toContain(VAULT_TOKEN);
  });
});
