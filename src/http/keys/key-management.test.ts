import { describe, expect, it } from "vitest";
import { type ApiKeys, apiKeys, type KeyStore, passingKeys } from "./api-keys.ts";

const START = Date.parse("2026-03-01T12:00:00Z");
const HOUR = 3_600_000;

function ring(store: KeyStore = passingKeys()): { keys: ApiKeys; store: KeyStore; pass(ms: number): void } {
  let now = START;
  return { keys: apiKeys({ store, clock: () => new Date(now) }), store, pass: (ms) => (now += ms) };
}

describe("a new key", () => {
  it("has the scopes read, write and erase by default", () => {
    const { keys } = ring();
    const { key, entry } = keys.create();
    expect(keys.verify(key)).toEqual({
      key: entry.id,
      project: "default",
      scopes: ["read", "write", "erase"],
    });
  });

  it("has exactly the requested scopes", () => {
    const { keys } = ring();
    for (const scope of ["read", "write", "erase", "admin"] as const) {
      expect(keys.verify(keys.create({ scopes: [scope] }).key)?.scopes).toEqual([scope]);
    }
  });

  it("names the user that it is restricted to", () => {
    const { keys } = ring();
    expect(keys.verify(keys.create({ user: "ana" }).key)?.user).toBe("ana");
    expect(keys.verify(keys.create().key)).not.toHaveProperty("user");
  });

  it.each([
    ["no scope", { scopes: [] }],
    ["admin with a user", { scopes: ["admin" as const], user: "ana" }],
    ["an expiry that has passed", { expiresAt: "2026-02-01T00:00:00Z" }],
    ["an expiry that is no time", { expiresAt: "tomorrow" }],
    ["an empty project", { project: "" }],
    ["an empty user", { user: " " }],
    ["a label of 101 bytes", { label: "x".repeat(101) }],
    ["a label with an escape", { label: "a\u001b[31m" }],
  ])("is refused with %s", (_what, wanted) => {
    const { keys } = ring();
    const before = keys.list().length;
    expect(() => keys.create(wanted)).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(keys.list()).toHaveLength(before);
  });

  it("is refused beyond a thousand in its project", () => {
    const { keys, store } = ring();
    const [one] = keys.list();
    if (!one) throw new Error("there is a first key");
    store.write((held) => ({
      ...held,
      keys: Array.from({ length: 1000 }, (_, i) => ({ ...one, id: `k${i}` })),
    }));
    expect(() => keys.create()).toThrow(expect.objectContaining({ code: "over_quota" }));
    expect(keys.create({ project: "shop" }).entry.project).toBe("shop");
  });
});

describe("an expiry", () => {
  it("ends the key and its sessions at that time", () => {
    const { keys, pass } = ring();
    const { key } = keys.create({ expiresAt: new Date(START + HOUR) });
    const page = keys.openSession(key) ?? { token: "", proof: "", expiresAt: "" };
    expect(page.expiresAt).toBe(new Date(START + HOUR).toISOString());
    pass(HOUR - 1);
    expect(keys.verify(key)).toBeDefined();
    expect(keys.verifySession(page.token, page.proof)).toBeDefined();
    pass(1);
    expect(keys.verify(key)).toBeUndefined();
    expect(keys.verifySession(page.token, page.proof)).toBeUndefined();
    expect(keys.openSession(key)).toBeUndefined();
  });
});

describe("rotation", () => {
  it("replaces the secret, and the old one stays valid for a day", () => {
    const { keys, pass } = ring();
    const old = keys.create({ label: "shop's server", scopes: ["read"] });
    const fresh = keys.rotate(old.entry.id);
    expect(fresh.entry).toMatchObject({ id: old.entry.id, label: "shop's server", scopes: ["read"] });
    expect(keys.verify(old.key)).toEqual(keys.verify(fresh.key));
    pass(24 * HOUR - 1);
    expect(keys.verify(old.key)).toBeDefined();
    pass(1);
    expect(keys.verify(old.key)).toBeUndefined();
    expect(keys.verify(fresh.key)).toBeDefined();
  });

  it("without grace ends the old secret and its sessions at once", () => {
    const { keys } = ring();
    const old = keys.create();
    const page = keys.openSession(old.key) ?? { token: "", proof: "" };
    const fresh = keys.rotate(old.entry.id, { graceMs: 0 });
    expect(keys.verify(old.key)).toBeUndefined();
    expect(keys.verifySession(page.token, page.proof)).toBeUndefined();
    const later = keys.openSession(fresh.key) ?? { token: "", proof: "" };
    expect(keys.verifySession(later.token, later.proof)).toBeDefined();
  });

  it("ends a session opened with the old secret when that expires", () => {
    const { keys, pass } = ring();
    const old = keys.create();
    keys.rotate(old.entry.id, { graceMs: HOUR });
    const page = keys.openSession(old.key) ?? { token: "", proof: "" };
    expect(keys.verifySession(page.token, page.proof)).toBeDefined();
    pass(HOUR);
    expect(keys.verifySession(page.token, page.proof)).toBeUndefined();
  });

  it("twice within the grace keeps each old secret for its own time", () => {
    const { keys, pass } = ring();
    const one = keys.create();
    const two = keys.rotate(one.entry.id, { graceMs: HOUR });
    pass(HOUR / 2);
    const three = keys.rotate(one.entry.id, { graceMs: HOUR });
    const counting = () => [one, two, three].map(({ key }) => keys.verify(key) !== undefined);
    expect(counting()).toEqual([true, true, true]);
    pass(HOUR / 2);
    expect(counting()).toEqual([false, true, true]);
    pass(HOUR / 2);
    expect(counting()).toEqual([false, false, true]);
  });

  it("is refused for an expired or unknown key, and with an invalid grace", () => {
    const { keys, pass } = ring();
    const { entry } = keys.create({ expiresAt: new Date(START + HOUR) });
    for (const graceMs of [-1, Number.NaN, 31 * 24 * HOUR]) {
      expect(() => keys.rotate(entry.id, { graceMs })).toThrow(
        expect.objectContaining({ code: "invalid_input" }),
      );
    }
    pass(HOUR);
    expect(() => keys.rotate(entry.id)).toThrow(expect.objectContaining({ code: "conflict" }));
    expect(() => keys.rotate("000000000000")).toThrow(expect.objectContaining({ code: "not_found" }));
  });
});

describe("revoking", () => {
  it("ends the key, its old secrets and its sessions at once", () => {
    const { keys } = ring();
    const old = keys.create();
    const fresh = keys.rotate(old.entry.id);
    const page = keys.openSession(fresh.key) ?? { token: "", proof: "" };
    keys.revoke(old.entry.id);
    expect([keys.verify(old.key), keys.verify(fresh.key)]).toEqual([undefined, undefined]);
    expect(keys.verifySession(page.token, page.proof)).toBeUndefined();
    expect(keys.list().map(({ id }) => id)).not.toContain(old.entry.id);
  });

  it("does not find the keys of another project", () => {
    const { keys } = ring();
    const { key, entry } = keys.create({ project: "shop" });
    const said = (work: () => unknown): string => {
      try {
        work();
      } catch (error) {
        return JSON.stringify([error, (error as Error).message]);
      }
      return "done";
    };
    const foreign = said(() => keys.revoke(entry.id, { project: "default" }));
    expect(foreign).toBe(said(() => keys.revoke("000000000000", { project: "default" })));
    expect(said(() => keys.rotate(entry.id, { project: "default" }))).toBe(foreign);
    expect(keys.list("default").map(({ id }) => id)).not.toContain(entry.id);
    expect(keys.verify(key)).toBeDefined();
  });
});

describe("the last use of a key", () => {
  it("is known at once in its process, and stored later in one write for all keys", () => {
    let writes = 0;
    const held = passingKeys();
    const store: KeyStore = {
      read: held.read,
      write(change) {
        writes += 1;
        held.write(change);
      },
    };
    const { keys, pass } = ring(store);
    const made = [keys.create(), keys.create()];
    writes = 0;
    for (let count = 0; count < 100; count += 1) for (const { key } of made) keys.verify(key);
    pass(5000);
    keys.verify(made[0]?.key ?? "");
    const used = () => keys.list().flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
    expect(used()).toEqual(["2026-03-01T12:00:05.000Z", "2026-03-01T12:00:00.000Z"]);
    expect(writes).toBe(0);
    keys.close();
    expect(writes).toBe(1);
    expect(store.read()?.keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? [])).toEqual(used());
    keys.close();
    expect(writes).toBe(1);
  });

  it("does not change when somebody guesses its id", () => {
    const { keys } = ring();
    const { entry } = keys.create();
    keys.verify(`ks_${entry.id}_${"A".repeat(43)}`);
    expect(keys.list().every(({ lastUsedAt }) => lastUsedAt === undefined)).toBe(true);
  });
});
