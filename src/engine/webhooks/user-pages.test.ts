import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { WebhookStore } from "../../ports/stores/webhook-store.ts";
import { makeChangeSet, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { createUserPages, findUnseenRanges } from "./user-pages.ts";

const rangesOf = (sums: ReadonlyMap<number, number>, seen: Map<number, number> = new Map()) =>
  [...findUnseenRanges(sums, seen)].map(({ after, upTo }) => [after, upTo]);

describe("pages of users", () => {
  it("are unseen until they are marked, and again after a commit of one of their users", async () => {
    const store = createInMemoryStore();
    const commit = (user: string, base: number) =>
      store.commit(
        { project: "default", user },
        makeChangeSet({ base, messages: [makeMessage(`m${base}`)] }),
      );
    for (let i = 0; i < 250; i += 1) await commit(`user ${i}`, 0);
    const pages = createUserPages(store.webhooks as WebhookStore);
    expect([await pages.refresh(), await pages.refresh()]).toEqual([true, false]);
    const seen = new Map<number, number>();
    expect(rangesOf(pages.sums, seen)).toEqual([[0, 300]]);
    for (const range of findUnseenRanges(pages.sums, seen)) range.markSeen();
    expect(rangesOf(pages.sums, seen)).toEqual([]);
    await commit("user 120", 1);
    expect(await pages.refresh()).toBe(true);
    expect(rangesOf(pages.sums, seen)).toEqual([[100, 200]]);
  });

  it("that follow each other are looked at together, up to ten", () => {
    const sums = new Map(
      [0, 1, 2, 5, ...Array.from({ length: 12 }, (_, i) => 10 + i)].map((page) => [page, 1]),
    );
    expect(rangesOf(sums)).toEqual([
      [0, 300],
      [500, 600],
      [1000, 2000],
      [2000, 2200],
    ]);
  });
});
