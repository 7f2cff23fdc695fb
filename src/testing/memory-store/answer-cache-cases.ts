import { expect } from "vitest";
import type { HttpAnswer } from "../../domain/operations/stored-answer.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeErasureReceipt, makeMessage } from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, readContents } from "./store-contents.ts";

const AT = "2026-01-02T00:00:00.000Z";
const LIMITS = { outdated: "2026-01-01T00:00:00.000Z", abandoned: "2026-01-01T23:00:00.000Z" };
const ANSWER: HttpAnswer = {
  status: 201,
  headers: { "content-type": "application/json", location: "/somewhere" },
  body: '{"text":"a zebra"}',
};
const beginAnswer = (store: MemoryStore, scope: Scope, key: string, at = AT) =>
  store.answers.beginAnswer(scope, { key, request: `request of ${key}`, at }, LIMITS);
const makeErasureChange = (id: string) => ({
  messages: [],
  memories: [],
  rewrites: [],
  receipt: makeErasureReceipt(id),
});

/** Answers under idempotency keys. */
export const ANSWER_CACHE_CASES: MemoryStoreCases = {
  "starts an answer once, keeps it at its end, and returns it unchanged": async (store) => {
    expect(await beginAnswer(store, ANN, "k")).toBeUndefined();
    const begun = { key: "k", request: "request of k", at: AT, state: "begun" };
    expect(await beginAnswer(store, ANN, "k")).toEqual(begun);
    await store.answers.endAnswer(ANN, "k", ANSWER, []);
    expect(await beginAnswer(store, ANN, "k")).toEqual({ ...begun, state: "done", answer: ANSWER });
    expect(await beginAnswer(store, BOB, "k")).toBeUndefined();
    expect(await beginAnswer(store, { project: "other", user: ANN.user }, "k")).toBeUndefined();
  },

  "starts one of many simultaneous answers under one key": async (store) => {
    const found = await Promise.all(Array.from({ length: 8 }, () => beginAnswer(store, ANN, "k")));
    expect(found.filter((one) => one === undefined)).toHaveLength(1);
  },

  "replaces an answer that was released, abandoned or is too old": async (store) => {
    await beginAnswer(store, ANN, "k");
    await store.answers.releaseAnswer(ANN, "k");
    expect(await beginAnswer(store, ANN, "k", "2026-01-01T22:00:00.000Z")).toBeUndefined();
    expect(await beginAnswer(store, ANN, "k")).toBeUndefined();
    await beginAnswer(store, ANN, "old", "2025-12-31T00:00:00.000Z");
    await store.answers.endAnswer(ANN, "old", ANSWER, []);
    expect(await beginAnswer(store, ANN, "old")).toBeUndefined();
  },

  "neither releases a finished answer nor keeps one that was not started": async (store) => {
    await beginAnswer(store, ANN, "k");
    await store.answers.endAnswer(ANN, "k", ANSWER, []);
    await store.answers.releaseAnswer(ANN, "k");
    await store.answers.endAnswer(ANN, "k", { ...ANSWER, status: 500 }, []);
    expect((await beginAnswer(store, ANN, "k"))?.answer).toEqual(ANSWER);
    await store.answers.endAnswer(ANN, "never", ANSWER, []);
    expect(await beginAnswer(store, ANN, "never")).toBeUndefined();
  },

  "deletes the answers of all users from before a time": async (store) => {
    for (const scope of [ANN, BOB]) {
      await beginAnswer(store, scope, "k");
      await store.answers.endAnswer(scope, "k", ANSWER, []);
    }
    expect(await store.answers.dropAnswers(AT)).toBe(0);
    expect((await beginAnswer(store, ANN, "k"))?.state).toBe("done");
    expect(await store.answers.dropAnswers("2026-01-02T00:00:00.001Z")).toBe(2);
    expect([await beginAnswer(store, ANN, "k"), await beginAnswer(store, BOB, "k")]).toEqual([
      undefined,
      undefined,
    ]);
  },

  "erases a user's answers with an erasure, in the same commit, and no one else's": async (store) => {
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    for (const scope of [ANN, BOB]) {
      await beginAnswer(store, scope, "k");
      await store.answers.endAnswer(scope, "k", ANSWER, []);
    }
    expect((await store.erasures.countDependents(ANN, [])).answers).toBe(1);
    expect((await store.erasures.scrub(ANN, ["zebra"])).some(({ found }) => found === 1)).toBe(true);
    await store.commit(ANN, makeChangeSet({ base: 1, erase: makeErasureChange("e1") }));
    expect(await beginAnswer(store, ANN, "k")).toEqual({ key: "k", request: "", at: AT, state: "erased" });
    expect((await beginAnswer(store, BOB, "k"))?.answer).toEqual(ANSWER);
    expect((await store.erasures.countDependents(ANN, [])).answers).toBe(0);
    expect((await store.erasures.scrub(ANN, ["zebra"])).every(({ found }) => found === 0)).toBe(true);
  },

  "erases an answer at its end if an erasure came in between, except the request's own erasure": async (
    store,
  ) => {
    for (const key of ["mine", "other", "both"]) await beginAnswer(store, ANN, key);
    await store.commit(ANN, makeChangeSet({ erase: makeErasureChange("e1") }));
    await store.answers.endAnswer(ANN, "mine", ANSWER, ["e1"]);
    await store.answers.endAnswer(ANN, "other", ANSWER, []);
    await store.commit(ANN, makeChangeSet({ base: 1, erase: makeErasureChange("e2") }));
    await store.answers.endAnswer(ANN, "both", ANSWER, ["e1"]);
    expect((await beginAnswer(store, ANN, "other"))?.state).toBe("erased");
    expect((await beginAnswer(store, ANN, "both"))?.state).toBe("erased");
    // It was done before the second erasure, which erased it.
    expect((await beginAnswer(store, ANN, "mine"))?.state).toBe("erased");
    await beginAnswer(store, ANN, "last");
    await store.commit(ANN, makeChangeSet({ base: 2, erase: makeErasureChange("e3") }));
    await store.answers.endAnswer(ANN, "last", ANSWER, ["e3"]);
    expect((await beginAnswer(store, ANN, "last"))?.answer).toEqual(ANSWER);
  },

  "keeps answers without a change of the store": async (store) => {
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const before = await readContents(store, ANN);
    await beginAnswer(store, ANN, "k");
    await store.answers.endAnswer(ANN, "k", ANSWER, []);
    await beginAnswer(store, BOB, "k");
    expect(await readContents(store, ANN)).toEqual(before);
    expect([await store.revision(BOB), await store.users("default")]).toEqual([0, ["ann"]]);
  },
};
