import { expect } from "vitest";
import type { Scope } from "../../domain/scope.ts";
import type { Grant, UserGroup } from "../../domain/sharing.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { SharingStore } from "../../ports/stores/sharing-store.ts";
import { BASE_TIME } from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, requireCapability } from "./store-contents.ts";

export const makeGrant = (id: string, more: Partial<Grant> = {}): Grant => ({
  type: "grant",
  id,
  project: "default",
  owner: "ann",
  reader: { user: "bob" },
  what: { about: ["tea \0\\"] },
  at: BASE_TIME,
  declinedBy: [],
  version: 1,
  ...more,
});

export const makeGroup = (
  id: string,
  members: readonly string[],
  more: Partial<UserGroup> = {},
): UserGroup => ({
  type: "group",
  id,
  project: "default",
  owner: "ann",
  name: "home",
  members,
  at: BASE_TIME,
  version: 1,
  ...more,
});

const CLEO: Scope = { project: "default", user: "cleo" };

const idsOf = async (sharing: SharingStore, scope: Scope): Promise<string[]> =>
  (await sharing.read(scope)).map(({ id }) => id);

const sharingOf = (store: MemoryStore): SharingStore => requireCapability(store, "sharing");

export const SHARING_CASES: MemoryStoreCases = {
  "returns grants to both sides, in the order of their ids, and to nobody else": async (store) => {
    const sharing = sharingOf(store);
    const grant = makeGrant("b");
    await sharing.apply("default", {
      put: [grant, makeGrant("a", { owner: "bob", reader: { user: "cleo" } })],
    });
    expect(await sharing.read(ANN)).toEqual([grant]);
    expect(await idsOf(sharing, BOB)).toEqual(["a", "b"]);
    expect(await idsOf(sharing, CLEO)).toEqual(["a"]);
    for (const user of ["ann", "bob"]) expect(await sharing.read({ project: "other", user })).toEqual([]);
    expect(await sharing.read({ project: "default", user: "group" })).toEqual([]);
    expect(await store.revision(ANN)).toBe(0);
  },

  "returns grants to a group to its members and its owner, as long as they are": async (store) => {
    const sharing = sharingOf(store);
    const group = makeGroup("g", ["cleo"]);
    await sharing.apply("default", {
      put: [group, makeGrant("a", { owner: "bob", reader: { group: "g" } })],
    });
    for (const scope of [ANN, CLEO]) expect(await idsOf(sharing, scope)).toEqual(["a", "g"]);
    expect(await idsOf(sharing, BOB)).toEqual(["a"]);
    await sharing.apply("default", { put: [{ ...group, members: ["dan"], version: 2 }] });
    expect(await idsOf(sharing, CLEO)).toEqual([]);
    expect(await idsOf(sharing, { ...CLEO, user: "dan" })).toEqual(["a", "g"]);
    await sharing.apply("default", { drop: ["g", "nothing"] });
    expect(await idsOf(sharing, ANN)).toEqual([]);
    expect(await idsOf(sharing, BOB)).toEqual(["a"]);
  },

  "applies all changes or none, and refuses a share that is not the next version": async (store) => {
    const sharing = sharingOf(store);
    const grant = makeGrant("a");
    await sharing.apply("default", { put: [grant] });
    const wrong = [grant, { ...grant, version: 3 }, makeGrant("z", { version: 2 })];
    for (const put of wrong) {
      const changes = { put: [makeGrant("b"), put], drop: ["a"].filter((id) => id !== put.id) };
      await expect(sharing.apply("default", changes)).rejects.toMatchObject({ code: "conflict" });
      expect(await sharing.read(ANN)).toEqual([grant]);
    }
    await sharing.apply("default", { put: [{ ...grant, withdrawnAt: BASE_TIME, version: 2 }] });
    expect(await sharing.read(BOB)).toEqual([{ ...grant, withdrawnAt: BASE_TIME, version: 2 }]);
    await sharing.apply("other", { put: [{ ...grant, project: "other" }], drop: ["a"].slice(1) });
    await sharing.apply("other", { drop: ["a"] });
    expect(await idsOf(sharing, ANN)).toEqual(["a"]);
  },

  "keeps names of any length and characters apart": async (store) => {
    const sharing = sharingOf(store);
    const long = "ünï ".repeat(400);
    const users = [long, `${long}x`, "a:b", "user:bob", "B\\ob", "bo\0b"];
    for (const [i, user] of users.entries())
      await sharing.apply("default", { put: [makeGrant(`g${i}`, { reader: { user } })] });
    for (const [i, user] of users.entries())
      expect(await idsOf(sharing, { project: "default", user })).toEqual([`g${i}`]);
    expect(await idsOf(sharing, BOB)).toEqual([]);
  },
};
