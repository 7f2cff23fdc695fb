import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiKeys } from "./api-keys.ts";
import { keysFile } from "./key-stores.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-keys-"));
  path = join(folder, "memory.db.keys.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the file of keys", () => {
  it("is readable only by its owner, and leaves no other files", () => {
    const keys = apiKeys({ store: keysFile(path), clock });
    keys.openSession(keys.first ?? "");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["memory.db.keys.json"]);
  });

  it("keeps keys from one start to the next", () => {
    const { first } = apiKeys({ store: keysFile(path), clock });
    const later = apiKeys({ store: keysFile(path), clock });
    expect(later.first).toBeUndefined();
    expect(later.verify(first ?? "")?.project).toBe("default");
  });

  it("lets one of two simultaneous first starts create the key, and both know it", () => {
    const one = keysFile(path);
    const other = keysFile(path);
    expect([one.read(), other.read()]).toEqual([undefined, undefined]);
    const started = [one, other].map((store) => apiKeys({ store, clock }));
    const made = started.flatMap(({ first }) => first ?? []);
    expect(made).toHaveLength(1);
    for (const keys of started) expect(keys.verify(made[0] ?? "")).toBeDefined();
  });

  it("shows a change by another process at once", () => {
    const here = apiKeys({ store: keysFile(path), clock });
    const there = apiKeys({ store: keysFile(path), clock });
    const key = there.create({ project: "shop" }).key;
    expect(here.verify(key)?.project).toBe("shop");
    keysFile(path).write((held) => ({ ...held, keys: [] }));
    expect(here.verify(key)).toBeUndefined();
  });

  it("of version 1 keeps its keys with all scopes, and is upgraded to version 2", () => {
    const { first } = apiKeys({ store: keysFile(path), clock });
    const { keys } = keysFile(path).read() ?? { keys: [] };
    const old = keys.map(({ id, project, hash, createdAt }) => ({ id, project, hash, createdAt }));
    writeFileSync(path, JSON.stringify({ version: 1, keys: old, sessions: [] }));
    const later = apiKeys({ store: keysFile(path), clock });
    expect(later.verify(first ?? "")?.scopes).toEqual(["read", "write", "erase", "admin"]);
    later.create({ project: "shop" });
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      version: 2,
      keys: [{ id: old[0]?.id }, {}],
    });
    expect(apiKeys({ store: keysFile(path), clock }).verify(first ?? "")?.scopes).toHaveLength(4);
  });

  it("stores all properties of a key", () => {
    const keys = apiKeys({ store: keysFile(path), clock });
    const { entry } = keys.create({
      project: "shop",
      scopes: ["read"],
      user: "ana",
      label: "a label",
      expiresAt: "2027-01-01",
    });
    const { key, entry: rotated } = keys.rotate(entry.id);
    keys.verify(key);
    keys.close();
    const kept = keysFile(path)
      .read()
      ?.keys.find(({ id }) => id === entry.id);
    expect(kept).toEqual({ ...rotated, lastUsedAt: "2026-03-01T12:00:00.000Z" });
    expect(kept?.past).toHaveLength(1);
  });

  it.each(["no JSON", '{"version":1}', '{"version":3,"keys":[],"sessions":[]}'])(
    "that holds %j is refused and left as it is",
    (text) => {
      writeFileSync(path, text);
      const store = keysFile(path);
      expect(() => store.read()).toThrow(expect.objectContaining({ code: "corrupt" }));
      expect(() => store.write((held) => held)).toThrow(expect.objectContaining({ code: "corrupt" }));
      expect(statSync(path).size).toBe(text.length);
    },
  );

  it("is reported if it cannot be written", () => {
    const store = keysFile(join(folder, "no such folder", "keys.json"));
    expect(() => apiKeys({ store, clock })).toThrow(expect.objectContaining({ code: "unavailable" }));
  });
});
