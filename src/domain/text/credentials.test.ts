import { describe, expect, it } from "vitest";
import { hasCredential, maskCredentials, redactCredentials } from "./credentials.ts";

// Invented, and assembled here so that no scanner takes it for a real key.
const KEY = `sk-${"proj1Ab2Cd3Ef4Gh5"}`;
const CARD = ["4111", "1111", "1111", "1111"].join(" ");
const TOKEN = `eyJ${"hbGciOiJIUzI1NiJ9"}.${"eyJzdWIiOiIxMjM0NTYifQ"}.c2lnbmF0dXJl`;
const PEM = `-----BEGIN ${"PRIVATE KEY"}-----\nMIIBVgIBADANBg\n-----END ${"PRIVATE KEY"}-----`;
const SEED = "apple river stone cloud lemon tiger ocean maple candle forest silver basket";

describe("redactCredentials", () => {
  it.each([
    ["API key", KEY],
    ["API key", `ghp_${"a1B2c3D4e5F6g7H8i9J0"}`],
    ["API key", `AKIA${"ABCDEFGH12345678"}`],
    ["token", TOKEN],
    ["private key", PEM],
    ["card number", CARD],
  ])("replaces a credential with a mark: %s", (what, value) => {
    const { text, removedKinds: left } = redactCredentials(`Use ${value} for the shop.`);
    expect(text).toBe(`Use [${what} left out] for the shop.`);
    expect(left).toEqual([what]);
  });

  it("treats words as a seed phrase only if the text calls them one", () => {
    expect(redactCredentials(`my seed phrase: ${SEED}`).text).toBe("my seed phrase: [seed phrase left out]");
    expect(redactCredentials(SEED).removedKinds).toEqual([]);
  });

  it.each([
    "Order 1234 5678 9012 3456 has shipped.",
    "The keypad code is 5821.",
    "Call me at +351 912 345 678.",
    "sk-8 is a size of ski.",
    "my password is hunter2",
    "2026-11-21T13:45:00Z",
  ])("is none of: %s", (text) => {
    expect(redactCredentials(text)).toEqual({ text, removedKinds: [] });
  });
});

describe("A secret in words", () => {
  it.each([
    "my password is hunter2",
    "PIN: 4821",
    "the api key is abcdef",
    "DE89 3704 0044 0532 0130 00",
    CARD,
    TOKEN,
  ])("makes no memory: %s", (text) => {
    expect(hasCredential(text)).toBe(true);
  });

  it.each([
    "My password is too long.",
    "I forgot my PIN.",
    "the pin is in the drawer",
    "DE89 3704 0044 0532 0130 01",
  ])("is none of: %s", (text) => {
    expect(hasCredential(text)).toBe(false);
  });

  it("is not said where its sentence is shown", () => {
    expect(maskCredentials("you said: “my wifi password is hunter2, ask Bo”")).toBe(
      "you said: “my wifi password is [not shown], ask Bo”",
    );
    expect(maskCredentials("The keypad code is 5821.")).toBe("The keypad code is 5821.");
  });
});
