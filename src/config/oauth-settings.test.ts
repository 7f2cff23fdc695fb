import { describe, expect, it } from "vitest";
import { readSettings } from "./settings.ts";

const EXTERNAL = {
  KEEPSAKE_OAUTH: "external",
  KEEPSAKE_PUBLIC_URL: "https://memory.example.com",
  KEEPSAKE_OAUTH_ISSUER: "https://login.example.com/realm",
  KEEPSAKE_OAUTH_JWKS_URL: "https://login.example.com/realm/jwks",
};
const oauth = (environment: { readonly [name: string]: string }) => readSettings(environment).oauth;

describe("the settings of OAuth", () => {
  it("are off by default, with or without a public URL", () => {
    expect(oauth({})).toBeUndefined();
    expect(oauth({ KEEPSAKE_OAUTH: "off" })).toBeUndefined();
    expect(oauth({ KEEPSAKE_PUBLIC_URL: "https://memory.example.com" })).toBeUndefined();
  });

  it("name an external identity provider", () => {
    expect(oauth(EXTERNAL)).toEqual({
      publicUrl: "https://memory.example.com",
      external: {
        issuer: "https://login.example.com/realm",
        jwksUrl: "https://login.example.com/realm/jwks",
      },
    });
    expect(
      oauth({ ...EXTERNAL, KEEPSAKE_OAUTH_AUDIENCE: "api://memory", KEEPSAKE_OAUTH_USER_CLAIM: "email" })
        ?.external,
    ).toMatchObject({ audience: "api://memory", userClaim: "email" });
  });

  it("make this server issue tokens, for clients of all hosts or of some", () => {
    const on = { KEEPSAKE_OAUTH: "on", KEEPSAKE_PUBLIC_URL: "https://memory.example.com" };
    expect(oauth(on)).toEqual({ publicUrl: "https://memory.example.com" });
    expect(oauth({ ...on, KEEPSAKE_OAUTH_CLIENTS: "claude.ai, ChatGPT.com" })?.clientHosts).toEqual([
      "claude.ai",
      "chatgpt.com",
    ]);
    expect(() => oauth({ KEEPSAKE_OAUTH: "on" })).toThrow("KEEPSAKE_OAUTH=on needs KEEPSAKE_PUBLIC_URL.");
    expect(() => oauth({ ...EXTERNAL, KEEPSAKE_OAUTH_CLIENTS: "claude.ai" })).toThrow(
      "KEEPSAKE_OAUTH_CLIENTS has no effect",
    );
    expect(() => oauth({ ...on, KEEPSAKE_OAUTH_CLIENTS: "https://claude.ai" })).toThrow(
      /KEEPSAKE_OAUTH_CLIENTS/,
    );
  });

  it.each(["KEEPSAKE_PUBLIC_URL", "KEEPSAKE_OAUTH_ISSUER", "KEEPSAKE_OAUTH_JWKS_URL"])(
    "need %s for an external provider",
    (name) => {
      const { [name]: _left, ...rest } = EXTERNAL as { readonly [name: string]: string };
      expect(() => oauth(rest)).toThrow(`KEEPSAKE_OAUTH=external needs ${name}.`);
    },
  );

  it("of an external provider are refused without it", () => {
    expect(() => oauth({ ...EXTERNAL, KEEPSAKE_OAUTH: "off" })).toThrow(
      "KEEPSAKE_OAUTH_ISSUER has no effect",
    );
  });

  it.each([
    "http://memory.example.com",
    "https://memory.example.com/",
    "https://memory.example.com/path",
    "https://ana@memory.example.com",
    "https://MEMORY.example.com",
    "http://127.0.0.1.evil.example",
    "memory.example.com",
  ])("refuse the public URL %s", (url) => {
    expect(() => oauth({ ...EXTERNAL, KEEPSAKE_PUBLIC_URL: url })).toThrow(/KEEPSAKE_PUBLIC_URL/);
  });

  it("accept an address of this machine without TLS, and no other", () => {
    expect(oauth({ ...EXTERNAL, KEEPSAKE_PUBLIC_URL: "http://127.0.0.1:7420" })?.publicUrl).toBe(
      "http://127.0.0.1:7420",
    );
    expect(() => oauth({ ...EXTERNAL, KEEPSAKE_OAUTH_ISSUER: "http://login.example.com" })).toThrow(
      /KEEPSAKE_OAUTH_ISSUER/,
    );
  });
});
