import { describe, expect, it } from "vitest";
import { createMemoryDocuments } from "../../adapters/memory/shared-documents.ts";
import { MemoryError } from "../../errors.ts";
import type { Documents } from "../../ports/stores/documents.ts";
import { type ApiKeys, apiKeys } from "./api-keys.ts";
import { sharedKeys } from "./key-stores.ts";

const NOW = new Date("2026-03-01T12:00:00Z");

/** A server's keys over what several share. */
async function server(documents: Documents, makesFirst = false): Promise<ApiKeys> {
  const store = sharedKeys(documents);
  await store.refresh();
  return apiKeys({ store, clock: () => NOW, makesFirst });
}

/** Documents whose writing can be made to fail. */
function failing(): { documents: Documents; fail(isFailing: boolean): void } {
  const held = createMemoryDocuments();
  let isFailing = false;
  return {
    documents: {
      read: held.read,
      async change(name, change) {
        if (isFailing) throw new MemoryError("unavailable", "it cannot be written.");
        return held.change(name, change);
      },
    },
    fail: (wanted) => {
      isFailing = wanted;
    },
  };
}

describe("keys that several servers share", () => {
  it("are valid on every server once stored, and on none once revoked", async () => {
    const documents = createMemoryDocuments();
    const [one, other] = [await server(documents), await server(documents)];
    const { key, entry } = one.create({ project: "shop" });
    await one.kept();
    expect(other.verify(key)).toBeUndefined();
    await other.refresh();
    expect(other.verify(key)?.project).toBe("shop");
    other.revoke(entry.id);
    await other.kept();
    await one.refresh();
    expect(one.verify(key)).toBeUndefined();
  });

  it("are read again if one is written during a read", async () => {
    const held = createMemoryDocuments();
    let meanwhile: (() => void) | undefined;
    const documents: Documents = {
      ...held,
      async read(name, known) {
        const found = await held.read(name, known);
        const work = meanwhile;
        meanwhile = undefined;
        work?.();
        return found;
      },
    };
    const [one, other] = [await server(documents), await server(held)];
    const { key } = one.create();
    await one.kept();
    await one.refresh();
    meanwhile = () => void one.create({ project: "made meanwhile" });
    await one.refresh();
    expect(one.verify(key)).toBeDefined();
    const { key: theirs } = other.create({ project: "shop" });
    await other.kept();
    meanwhile = () => void one.create({ project: "made meanwhile" });
    await one.refresh();
    expect([one.verify(theirs)?.project, one.list("made meanwhile").length]).toEqual(["shop", 2]);
  });

  it("sign a page in everywhere, and out everywhere", async () => {
    const documents = createMemoryDocuments();
    const [one, other] = [await server(documents), await server(documents)];
    const { key } = one.create();
    const page = one.openSession(key) ?? { token: "", proof: "" };
    await one.kept();
    await other.refresh();
    expect(other.verifySession(page.token, page.proof)).toBeDefined();
    other.closeSession(page.token);
    await other.kept();
    await one.refresh();
    expect(one.verifySession(page.token, page.proof)).toBeUndefined();
  });

  it("are all stored if two servers create some at once, and the first one is created once", async () => {
    const documents = createMemoryDocuments();
    const servers = [await server(documents, true), await server(documents, true)];
    const firsts = servers.map(({ first }) => first ?? "");
    await Promise.all(servers.map((each) => each.kept()));
    const made = servers.flatMap((each) => Array.from({ length: 5 }, () => each.create().key));
    await Promise.all(servers.map((each) => each.kept()));
    for (const each of servers) {
      await each.refresh();
      expect(made.every((key) => each.verify(key))).toBe(true);
      expect(firsts.filter((key) => each.verify(key))).toHaveLength(1);
      expect(each.list()).toHaveLength(11);
    }
  });

  it("are refused and become invalid if they cannot be stored", async () => {
    const { documents, fail } = failing();
    const keys = await server(documents);
    const old = keys.create().key;
    await keys.kept();
    fail(true);
    const { key } = keys.create();
    await expect(keys.kept()).rejects.toMatchObject({ code: "unavailable" });
    await keys.refresh();
    expect([keys.verify(key), keys.verify(old) !== undefined]).toEqual([undefined, true]);
    fail(false);
    await keys.kept();
  });

  it("keep every stored time of last use, and report none that was not stored", async () => {
    const { documents, fail } = failing();
    const [keys, other] = [await server(documents), await server(documents)];
    const { key } = keys.create();
    await keys.kept();
    keys.verify(key);
    keys.close();
    await keys.kept();
    await other.refresh();
    expect(other.list()[0]?.lastUsedAt).toBe(NOW.toISOString());
    fail(true);
    other.verify(key);
    other.close();
    await other.kept();
  });

  it("are not found if another server revokes them at the same moment", async () => {
    const documents = createMemoryDocuments();
    const [one, other] = [await server(documents), await server(documents)];
    const { entry } = one.create();
    await one.kept();
    await other.refresh();
    one.revoke(entry.id);
    other.revoke(entry.id);
    await one.kept();
    await expect(other.kept()).rejects.toMatchObject({ code: "not_found" });
  });

  it("are refreshed after each request, with few reads for many requests", async () => {
    const held = createMemoryDocuments();
    let looks = 0;
    const documents: Documents = {
      ...held,
      async read(name, known) {
        looks += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
        return held.read(name, known);
      },
    };
    const [one, other] = [await server(documents), await server(held)];
    const { key } = other.create();
    looks = 0;
    const early = one.refresh();
    await other.kept();
    const asked = Array.from({ length: 50 }, () => one.refresh());
    await Promise.all([early, ...asked]);
    expect(one.verify(key)).toBeDefined();
    expect(looks).toBeLessThanOrEqual(3);
  });

  it("report a document with other content", async () => {
    const documents = createMemoryDocuments();
    await documents.change("keys", () => "no keys");
    await expect(server(documents)).rejects.toMatchObject({ code: "corrupt" });
  });
});
