import { describe, expect, it } from "vitest";
import { type ApiKeys, apiKeys, type KeyStore, passingKeys } from "./api-keys.ts";

const START = Date.parse("2026-03-01T12:00:00Z");

function keysAt({ given, store = passingKeys() }: { given?: string; store?: KeyStore } = {}): {
  keys: ApiKeys;
  store: KeyStore;
  pass(days: number): void;
} {
  let now = START;
  const keys = apiKeys({ store, clock: () => new Date(now), given });
  return { keys, store, pass: (days) => (now += days * 86_400_000) };
}

describe("API keys", () => {
  it("a first start creates one key, which is shown once and works from then on", () => {
    const { keys, store } = keysAt();
    const first = keys.first ?? "";
    expect(first).toMatch(/^ks_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
    const again = keysAt({ store }).keys;
    expect(again.first).toBeUndefined();
    expect(again.verify(first)?.project).toBe("default");
  });

  it("the store contains only hashes of keys", () => {
    const { keys, store } = keysAt();
    const session = keys.openSession(keys.first ?? "");
    const kept = JSON.stringify(store.read());
    for (const secret of [keys.first, session?.token, session?.proof]) {
      expect(secret).toBeTruthy();
      expect(kept).not.toContain(secret);
      // The secret part, which may itself contain "_".
      expect(kept).not.toContain(secret?.slice(-43));
    }
  });

  it("a key determines its project", () => {
    const { keys } = keysAt();
    const other = keys.create({ project: "shop" }).key;
    expect(keys.verify(other)?.project).toBe("shop");
    expect(keys.verify(keys.first ?? "")?.project).toBe("default");
  });

  it.each([
    ["nothing", ""],
    ["garbage", "hunter2"],
    ["an unknown key", `ks_${"0".repeat(12)}_${"A".repeat(43)}`],
  ])("refuses %s", (_what, key) => {
    const { keys } = keysAt();
    expect(keys.verify(key)).toBeUndefined();
    expect(keys.openSession(key)).toBeUndefined();
  });

  it("refuses a known id with another secret", () => {
    const { keys } = keysAt();
    const forged = `${keys.first?.slice(0, 16)}${"A".repeat(43)}`;
    expect(keys.verify(forged)).toBeUndefined();
  });

  it("a given key is valid and not stored, and no first key is created", () => {
    const { keys, store } = keysAt({ given: "a-key-of-my-own-0123456789" });
    expect(keys.first).toBeUndefined();
    expect(keys.verify("a-key-of-my-own-0123456789")?.project).toBe("default");
    expect(keys.verify("a-key-of-my-owN")).toBeUndefined();
    expect(store.read()).toBeUndefined();
  });

  it.each(["", "short", "with a space inside", "línea-de-texto"])(
    "refuses to be given %j as a key",
    (given) => {
      expect(() => keysAt({ given })).toThrow(expect.objectContaining({ code: "invalid_input" }));
    },
  );

  it("a key removed from the store becomes invalid with its sessions", () => {
    const { keys, store } = keysAt();
    const session = keys.openSession(keys.first ?? "");
    store.write((held) => ({ ...held, keys: [] }));
    expect(keys.verify(keys.first ?? "")).toBeUndefined();
    expect(keys.verifySession(session?.token ?? "", session?.proof ?? "")).toBeUndefined();
  });
});

describe("sessions of the page", () => {
  it("need both the cookie and the proof", () => {
    const { keys } = keysAt();
    const { token, proof } = keys.openSession(keys.first ?? "") ?? { token: "", proof: "" };
    expect(keys.verifySession(token, proof)?.project).toBe("default");
    expect(keys.verifySession(token, "")).toBeUndefined();
    expect(keys.verifySession("", proof)).toBeUndefined();
    expect(keys.verifySession(token, keys.openSession(keys.first ?? "")?.proof ?? "")).toBeUndefined();
  });

  it("end after thirty days", () => {
    const { keys, pass } = keysAt();
    const { token, proof } = keys.openSession(keys.first ?? "") ?? { token: "", proof: "" };
    pass(29);
    expect(keys.verifySession(token, proof)).toBeDefined();
    pass(2);
    expect(keys.verifySession(token, proof)).toBeUndefined();
  });

  it("end when closed, without affecting others", () => {
    const { keys } = keysAt();
    const one = keys.openSession(keys.first ?? "") ?? { token: "", proof: "" };
    const other = keys.openSession(keys.first ?? "") ?? { token: "", proof: "" };
    keys.closeSession(one.token);
    expect(keys.verifySession(one.token, one.proof)).toBeUndefined();
    expect(keys.verifySession(other.token, other.proof)).toBeDefined();
  });

  it("survive a restart with the same given key, and end with another one", () => {
    const { keys, store } = keysAt({ given: "a-key-of-my-own-0123456789" });
    const { token, proof } = keys.openSession("a-key-of-my-own-0123456789") ?? { token: "", proof: "" };
    expect(
      keysAt({ given: "a-key-of-my-own-0123456789", store }).keys.verifySession(token, proof),
    ).toBeDefined();
    expect(
      keysAt({ given: "another-key-of-my-own-012345", store }).keys.verifySession(token, proof),
    ).toBeUndefined();
  });

  it("are limited in number", () => {
    const { keys, store } = keysAt();
    for (let count = 0; count < 60; count += 1) keys.openSession(keys.first ?? "");
    expect(store.read()?.sessions).toHaveLength(50);
  });
});
