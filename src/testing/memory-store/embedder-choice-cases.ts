import { expect } from "vitest";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { EmbedderChoices } from "../../ports/stores/embedder-choices.ts";
import { ANN, BOB, type MemoryStoreCases, makeFullChangeSet, requireCapability } from "./store-contents.ts";

const choicesOf = (store: MemoryStore): EmbedderChoices => requireCapability(store, "embedders");
const OTHER_ANN = { project: "other", user: "ann" };

export const EMBEDDER_CHOICE_CASES: MemoryStoreCases = {
  "gives a user's own choice of embedder, otherwise the project's, also before the first write": async (
    store,
  ) => {
    const choices = choicesOf(store);
    expect(await choices.read(ANN)).toBeUndefined();
    await choices.save({ project: "default", embedder: "small" });
    await choices.save({ ...ANN, embedder: "large" });
    expect(await Promise.all([ANN, BOB, OTHER_ANN].map(choices.read))).toEqual(["large", "small", undefined]);
    await choices.save({ ...ANN, embedder: "other" });
    expect(await choices.read(ANN)).toBe("other");
    await choices.remove(ANN);
    await choices.remove(OTHER_ANN);
    expect(await Promise.all([ANN, BOB, OTHER_ANN].map(choices.read))).toEqual(["small", "small", undefined]);
    await choices.remove({ project: "default" });
    expect(await choices.read(ANN)).toBeUndefined();
    expect(await store.revision(ANN)).toBe(0);
  },

  "lists the choices of a project, its own first, then by the names of its users": async (store) => {
    const choices = choicesOf(store);
    const long = "ü".repeat(300);
    const saved = [long, "bob", "ann"].map((user) => ({ project: "default", user, embedder: "large" }));
    for (const choice of saved) await choices.save(choice);
    await choices.save({ project: "default", embedder: "small" });
    await choices.save({ project: "other", embedder: "large" });
    expect(await choices.list("default")).toEqual([
      { project: "default", embedder: "small" },
      ...saved.toReversed(),
    ]);
    expect(await choices.list("nothing")).toEqual([]);
    expect(await choices.read({ project: "default", user: long })).toBe("large");
  },

  "finds users with stale vectors among those of one embedder, or among those without a choice": async (
    store,
  ) => {
    const choices = choicesOf(store);
    const carl = { project: "default", user: "carl" };
    for (const scope of [BOB, ANN, carl, OTHER_ANN]) await store.commit(scope, makeFullChangeSet(scope.user));
    const find = async (space: string, chosen: string | null, limit = 10) =>
      (await store.staleEmbeddings.users(space, limit, { chosen })).map(({ scope, units }) => [scope, units]);
    expect(await find("new/3", null)).toHaveLength(4);
    expect(await find("new/3", "large")).toEqual([]);
    await choices.save({ project: "default", embedder: "large" });
    await choices.save({ ...ANN, embedder: "small" });
    await choices.save({ project: "nothing", user: "ann", embedder: "large" });
    expect(await find("new/3", null)).toEqual([[OTHER_ANN, 3]]);
    expect(await find("new/3", "small")).toEqual([[ANN, 3]]);
    expect(await find("new/3", "large")).toEqual([
      [BOB, 3],
      [carl, 3],
    ]);
    expect(await find("new/3", "large", 1)).toEqual([[BOB, 3]]);
    expect(await find("new/3", "unknown")).toEqual([]);
    // They are in the space "test/3".
    for (const chosen of [null, "small", "large"]) expect(await find("test/3", chosen)).toEqual([]);
    await choices.save({ ...BOB, embedder: "large" });
    expect(await find("new/3", "large")).toHaveLength(2);
    expect(await store.staleEmbeddings.users("new/3", 10)).toHaveLength(4);
  },
};
