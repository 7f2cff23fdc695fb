import { expect } from "vitest";
import type { Scope } from "../../domain/scope.ts";

import { makeChangeSet, makeErasureReceipt, makeMemory, makeMessage, makeUnit } from "./change-sets.ts";
import {
  ANN,
  BOB,
  EMPTY_DELTA,
  type MemoryStoreCases,
  makeFullChangeSet,
  readContents,
} from "./store-contents.ts";

/** Guarantees of reads, and the separation of scopes. */
export const READ_CASES: MemoryStoreCases = {
  "reads a scope that was never written as empty, at revision 0": async (store) => {
    expect(await store.revision(ANN)).toBe(0);
    expect(await store.since(ANN, 0)).toEqual(EMPTY_DELTA);
    expect(await store.versions(ANN)).toEqual([]);
    expect(await store.log(ANN, { limit: 10 })).toEqual([]);
    expect(await store.receipt(ANN, "k")).toBeUndefined();
    expect(await store.erasures.list(ANN)).toEqual([]);
  },

  "returns changes with since, and none at the newest revision": async (store) => {
    await store.commit(
      ANN,
      makeChangeSet({
        messages: [makeMessage("m1", { digest: "pending" })],
        units: [makeUnit("m1#0", "passage", "m1")],
      }),
    );
    await store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    await store.commit(
      ANN,
      makeChangeSet({ base: 2, digests: [{ id: "m1", digest: "done" }], dropUnits: ["m1#0", "nobody"] }),
    );
    const delta = await store.since(ANN, 2);
    expect(delta.messages.map(({ id, digest }) => [id, digest])).toEqual([["m1", "done"]]);
    expect(delta.gone).toEqual({ units: ["m1#0"], memories: [] });
    expect((await store.since(ANN, 3)).messages).toEqual([]);
    await store.commit(
      ANN,
      makeChangeSet({ base: 3, units: [makeUnit("m1#0", "passage", "m1", "new terms")] }),
    );
    const last = await store.since(ANN, 2);
    expect(last.gone.units).toEqual([]);
    expect((await store.since(ANN, 0)).gone).toEqual({ units: [], memories: [] });
    expect(last.units[0]).toEqual(makeUnit("m1#0", "passage", "m1", "new terms"));
  },

  "returns everything but units with since without units": async (store) => {
    await store.commit(ANN, makeFullChangeSet("kiwi"));
    const delta = await store.since(ANN, 0);
    expect(await store.since(ANN, 0, { units: false })).toEqual({ ...delta, units: [] });
    expect(delta.units.length).toBeGreaterThan(0);
  },

  "reads messages and memories by id, in the requested order": async (store) => {
    await store.commit(ANN, makeFullChangeSet("kiwi"));
    const { messages, memories } = await store.since(ANN, 0);
    const ids = { messages: ["nobody", "message-kiwi"], memories: ["other-kiwi", "nobody", "memory-kiwi"] };
    expect(await store.read(ANN, ids)).toEqual({
      messages,
      memories: ["other-kiwi", "memory-kiwi"].map((id) => memories.find((one) => one.id === id)),
    });
    expect(await store.read(BOB, ids)).toEqual({ messages: [], memories: [] });
  },

  "reads vectors by unit and space": async (store) => {
    await store.commit(ANN, makeFullChangeSet("kiwi"));
    const { units } = await store.since(ANN, 0);
    const [first] = units;
    const ids = [first?.id ?? "", "nobody"];
    const space = first?.space ?? "";
    expect(await store.vectors(ANN, ids, space)).toEqual([first?.vector, undefined]);
    expect(await store.vectors(ANN, ids, "another space")).toEqual([undefined, undefined]);
    expect(await store.vectors(BOB, ids, space)).toEqual([undefined, undefined]);
  },

  "separates scopes, however their names are composed": async (store) => {
    const pairs: Scope[] = [
      { project: "a", user: "b:c" },
      { project: "a:b", user: "c" },
      { project: "a", user: 'b","c' },
      { project: 'a","b', user: "c" },
      { project: "a", user: "B:C" },
    ];
    const marks = ["kiwi", "mango", "guava", "plum", "lychee"];
    for (const [i, scope] of pairs.entries()) {
      await store.commit(scope, makeFullChangeSet(marks[i] ?? ""));
      expect(await store.revision(scope)).toBe(1);
    }
    for (const [i, scope] of pairs.entries()) {
      const contents = JSON.stringify(await readContents(store, scope));
      expect(marks.filter((mark) => contents.includes(mark))).toEqual([marks[i]]);
    }
    const [first, second] = pairs as [Scope, Scope];
    const before = await readContents(store, second);
    await store.commit(
      first,
      makeChangeSet({
        base: 1,
        dropUnits: ["memory-mango"],
        liftTombstones: ["tombstone-mango"],
        erase: { messages: [], memories: ["memory-mango"], rewrites: [], receipt: makeErasureReceipt("e2") },
      }),
    );
    expect(await readContents(store, second)).toEqual(before);
  },

  "lists users by project": async (store) => {
    await store.commit({ project: "p", user: "b" }, makeChangeSet());
    await store.commit({ project: "p", user: "a" }, makeChangeSet());
    await store.commit({ project: "q", user: "c" }, makeChangeSet());
    await store.commit({ project: "p", user: "d" }, makeChangeSet({ base: 7 })).catch(() => undefined);
    expect(await store.users("p")).toEqual(["a", "b"]);
    expect(await store.users("nobody")).toEqual([]);
  },

  "returns ids of 64 KB and texts of every script unchanged": async (store) => {
    const id = "ключ👩‍👩‍👧".repeat(2521).slice(0, 25_210);
    const content = 'naïve 漢字 مرحبا 🦄\u2028 "quoted" \\ back\n'.repeat(3000);
    await store.commit(
      ANN,
      makeChangeSet({
        messages: [makeMessage(id, { content })],
        memories: [makeMemory(id, 1, { text: content })],
      }),
    );
    const { messages, memories } = await store.since(ANN, 0);
    expect(messages[0]).toMatchObject({ id, content });
    expect(memories[0]).toMatchObject({ id, text: content });
    expect(await store.versions(ANN, id)).toHaveLength(1);
  },

  "rejects a scope whose name has half a surrogate pair": async (store) => {
    for (const half of ["\ud83e", "\udd8a"]) {
      const scope = { project: "default", user: half };
      await expect(store.commit(scope, makeChangeSet())).rejects.toMatchObject({ code: "invalid_input" });
      await expect(store.since(scope, 0)).rejects.toMatchObject({ code: "invalid_input" });
    }
    expect(await store.users("default")).toEqual([]);
  },

  "passes its own check": async (store) => {
    await store.commit(ANN, makeFullChangeSet("0"));
    expect(await store.check()).toEqual([]);
  },

  "is unavailable after it was closed": async (store) => {
    await store.commit(ANN, makeFullChangeSet("0"));
    await store.close();
    await expect(store.revision(ANN)).rejects.toMatchObject({ code: "unavailable" });
    await expect(store.commit(ANN, makeChangeSet({ base: 1 }))).rejects.toMatchObject({
      code: "unavailable",
    });
    await store.close();
  },

  "has an identity of its own, which no commit changes": async (store) => {
    const name = await store.identity();
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    expect(await store.identity()).toBe(name);
  },
};
