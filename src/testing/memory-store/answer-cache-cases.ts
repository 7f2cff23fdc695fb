import { expect } from "vitest";
import type { Scope } from "../../domain/scope.ts";
import type { HttpAnswer } from "../../domain/stored-answer.ts";
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
const beginAnswer = (record: MemoryStore, scope: Scope, key: string, at = AT) =>
  record.beginAnswer(scope, { key, request: `request of ${key}`, at }, LIMITS);
const makeErasureChange = (id: string) => ({
  messages: [],
  memories: [],
  rewrites: [],
  receipt: makeErasureReceipt(id),
});

/** Answers under idempotency keys. */
export const ANSWER_CACHE_CASES: MemoryStoreCases = {
  "an answer begins once, is kept at its end, and then comes back as it was given": async (record) => {
    expect(await beginAnswer(record, ANN, "k")).toBeUndefined();
    const begun = { key: "k", request: "request of k", at: AT, state: "begun" };
    expect(await beginAnswer(record, ANN, "k")).toEqual(begun);
    await record.endAnswer(ANN, "k", ANSWER, []);
    expect(await beginAnswer(record, ANN, "k")).toEqual({ ...begun, state: "done", answer: ANSWER });
    expect(await beginAnswer(record, BOB, "k")).toBeUndefined();
    expect(await beginAnswer(record, { project: "other", user: ANN.user }, "k")).toBeUndefined();
  },

  "of many that begin under one key at once, one does": async (record) => {
    const found = await Promise.all(Array.from({ length: 8 }, () => beginAnswer(record, ANN, "k")));
    expect(found.filter((one) => one === undefined)).toHaveLength(1);
  },

  "an answer that is let go, or was begun and left, or is too old makes room": async (record) => {
    await beginAnswer(record, ANN, "k");
    await record.releaseAnswer(ANN, "k");
    expect(await beginAnswer(record, ANN, "k", "2026-01-01T22:00:00.000Z")).toBeUndefined();
    expect(await beginAnswer(record, ANN, "k")).toBeUndefined();
    await beginAnswer(record, ANN, "old", "2025-12-31T00:00:00.000Z");
    await record.endAnswer(ANN, "old", ANSWER, []);
    expect(await beginAnswer(record, ANN, "old")).toBeUndefined();
  },

  "what is done is not let go, and what was not begun is not kept": async (record) => {
    await beginAnswer(record, ANN, "k");
    await record.endAnswer(ANN, "k", ANSWER, []);
    await record.releaseAnswer(ANN, "k");
    await record.endAnswer(ANN, "k", { ...ANSWER, status: 500 }, []);
    expect((await beginAnswer(record, ANN, "k"))?.answer).toEqual(ANSWER);
    await record.endAnswer(ANN, "never", ANSWER, []);
    expect(await beginAnswer(record, ANN, "never")).toBeUndefined();
  },

  "answers from before a time are dropped, of everybody": async (record) => {
    for (const scope of [ANN, BOB]) {
      await beginAnswer(record, scope, "k");
      await record.endAnswer(scope, "k", ANSWER, []);
    }
    expect(await record.dropAnswers(AT)).toBe(0);
    expect((await beginAnswer(record, ANN, "k"))?.state).toBe("done");
    expect(await record.dropAnswers("2026-01-02T00:00:00.001Z")).toBe(2);
    expect([await beginAnswer(record, ANN, "k"), await beginAnswer(record, BOB, "k")]).toEqual([
      undefined,
      undefined,
    ]);
  },

  "an erasure takes what the user's answers hold, in the same commit, and nobody else's": async (record) => {
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    for (const scope of [ANN, BOB]) {
      await beginAnswer(record, scope, "k");
      await record.endAnswer(scope, "k", ANSWER, []);
    }
    expect((await record.countDependents(ANN, [])).answers).toBe(1);
    expect((await record.scrub(ANN, ["zebra"])).some(({ found }) => found === 1)).toBe(true);
    await record.commit(ANN, makeChangeSet({ base: 1, erase: makeErasureChange("e1") }));
    expect(await beginAnswer(record, ANN, "k")).toEqual({ key: "k", request: "", at: AT, state: "erased" });
    expect((await beginAnswer(record, BOB, "k"))?.answer).toEqual(ANSWER);
    expect((await record.countDependents(ANN, [])).answers).toBe(0);
    expect((await record.scrub(ANN, ["zebra"])).every(({ found }) => found === 0)).toBe(true);
  },

  "an answer that was begun before an erasure is erased at its end, but for the request's own erasure":
    async (record) => {
      for (const key of ["mine", "other", "both"]) await beginAnswer(record, ANN, key);
      await record.commit(ANN, makeChangeSet({ erase: makeErasureChange("e1") }));
      await record.endAnswer(ANN, "mine", ANSWER, ["e1"]);
      await record.endAnswer(ANN, "other", ANSWER, []);
      await record.commit(ANN, makeChangeSet({ base: 1, erase: makeErasureChange("e2") }));
      await record.endAnswer(ANN, "both", ANSWER, ["e1"]);
      expect((await beginAnswer(record, ANN, "other"))?.state).toBe("erased");
      expect((await beginAnswer(record, ANN, "both"))?.state).toBe("erased");
      // Done before the second erasure, which took it.
      expect((await beginAnswer(record, ANN, "mine"))?.state).toBe("erased");
      await beginAnswer(record, ANN, "last");
      await record.commit(ANN, makeChangeSet({ base: 2, erase: makeErasureChange("e3") }));
      await record.endAnswer(ANN, "last", ANSWER, ["e3"]);
      expect((await beginAnswer(record, ANN, "last"))?.answer).toEqual(ANSWER);
    },

  "keeping answers changes nothing of the record": async (record) => {
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const before = await readContents(record, ANN);
    await beginAnswer(record, ANN, "k");
    await record.endAnswer(ANN, "k", ANSWER, []);
    await beginAnswer(record, BOB, "k");
    expect(await readContents(record, ANN)).toEqual(before);
    expect([await record.revision(BOB), await record.users("default")]).toEqual([0, ["ann"]]);
  },
};
