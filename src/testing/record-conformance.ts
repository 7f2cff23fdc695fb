import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryRecord } from "../adapters/memory/index.ts";
import type { Scope } from "../domain/scope.ts";
import type { Record } from "../ports/record.ts";
import { AT, changes, erasure, memory, message, type Step, steps, unit } from "./change-sets.ts";

export interface RecordHarness {
  /** Shown in the test output: "sqlite", "postgres". */
  readonly name: string;
  /** A new, empty record. Nothing may leak between two of them. */
  open(): Promise<Record>;
  /** Closes a record and opens what it kept; absent where a record keeps nothing. */
  reopen?(record: Record): Promise<Record>;
  /** A second handle on the same record, as another process would have; absent where there can be none. */
  second?(record: Record): Promise<Record>;
  /** Case title -> why. Each runs and must fail; one that passes again breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

const ANN: Scope = { project: "default", user: "ann" };
const BOB: Scope = { project: "default", user: "bob" };

type Case = (record: Record) => Promise<void>;

/** One sentence of the contract in `ports/record.ts` per case. */
export const RECORD_CASES: { readonly [title: string]: Case } = {
  "a scope that was never written is empty, at revision 0": async (record) => {
    expect(await record.revision(ANN)).toBe(0);
    expect(await record.since(ANN, 0)).toEqual(EMPTY);
    expect(await record.versions(ANN)).toEqual([]);
    expect(await record.log(ANN, { limit: 10 })).toEqual([]);
    expect(await record.receipt(ANN, "k")).toBeUndefined();
    expect(await record.erasures(ANN)).toEqual([]);
  },

  "each commit raises the revision by one, and the log names what it did by id, newest first": async (
    record,
  ) => {
    expect(await record.commit(ANN, changes({ messages: [message("m1")] }))).toBe(1);
    const second = changes({ base: 1, cause: "undo", undoes: 1, memories: [memory("a")] });
    expect(await record.commit(ANN, second)).toBe(2);
    expect(await record.revision(ANN)).toBe(2);
    expect(await record.log(ANN, { limit: 10 })).toEqual([
      {
        revision: 2,
        at: AT,
        cause: "undo",
        undoes: 1,
        messages: [],
        memories: [{ id: "a", version: 1, action: "added" }],
        erased: [],
      },
      { revision: 1, at: AT, cause: "remember", messages: ["m1"], memories: [], erased: [] },
    ]);
    expect((await record.log(ANN, { limit: 1, before: 2 })).map(({ revision }) => revision)).toEqual([1]);
  },

  "a change-set thought out on another revision is refused and changes nothing": async (record) => {
    await record.commit(ANN, changes({ messages: [message("m1")] }));
    const before = await dump(record, ANN);
    for (const base of [0, 2]) {
      await expect(record.commit(ANN, changes({ base, messages: [message("m2")] }))).rejects.toMatchObject({
        code: "conflict",
      });
    }
    expect(await dump(record, ANN)).toEqual(before);
  },

  "a change-set is all or nothing": async (record) => {
    await record.commit(ANN, changes({ messages: [message("m1")], memories: [memory("a")] }));
    const before = await dump(record, ANN);
    const wrong = [
      changes({ base: 1, memories: [memory("b")], messages: [message("m2"), message("m1")] }),
      changes({ base: 1, messages: [message("m2"), message("m2")] }),
      changes({ base: 1, messages: [message("m2")], memories: [memory("b"), memory("a", 3)] }),
      changes({ base: 1, tombstones: [{ hash: "t", of: "claim", at: AT }], memories: [memory("a", 1)] }),
      changes({ base: 1, messages: [message("m2")], digests: [{ id: "nobody", digest: "done" }] }),
    ];
    for (const one of wrong)
      await expect(record.commit(ANN, one)).rejects.toMatchObject({ code: "conflict" });
    expect(await dump(record, ANN)).toEqual(before);
  },

  "messages get their turns in order, over several commits": async (record) => {
    await record.commit(ANN, changes({ messages: [message("z"), message("a")] }));
    await record.commit(ANN, changes({ base: 1, messages: [message("m")] }));
    const { messages } = await record.since(ANN, 0);
    expect(messages.map(({ id, turn }) => [id, turn])).toEqual([
      ["z", 1],
      ["a", 2],
      ["m", 3],
    ]);
  },

  "versions of a memory follow each other, several in one change-set too, and the newest is its head": async (
    record,
  ) => {
    await record.commit(ANN, changes({ memories: [memory("a", 1), memory("b", 1), memory("a", 2)] }));
    await record.commit(ANN, changes({ base: 1, memories: [memory("a", 3)] }));
    expect((await record.versions(ANN, "a")).map(({ version, revision }) => [version, revision])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
    ]);
    expect((await record.since(ANN, 0)).memories.map(({ id, version }) => [id, version])).toEqual([
      ["a", 3],
      ["b", 1],
    ]);
    expect((await record.since(ANN, 1)).memories.map(({ id }) => id)).toEqual(["a"]);
  },

  "since gives what is different, and nothing at the newest revision": async (record) => {
    await record.commit(
      ANN,
      changes({ messages: [message("m1", { digest: "pending" })], units: [unit("m1#0", "passage", "m1")] }),
    );
    await record.commit(ANN, changes({ base: 1, messages: [message("m2")] }));
    await record.commit(
      ANN,
      changes({ base: 2, digests: [{ id: "m1", digest: "done" }], dropUnits: ["m1#0", "nobody"] }),
    );
    const delta = await record.since(ANN, 2);
    expect(delta.messages.map(({ id, digest }) => [id, digest])).toEqual([["m1", "done"]]);
    expect(delta.gone).toEqual({ units: ["m1#0"], memories: [] });
    expect((await record.since(ANN, 3)).messages).toEqual([]);
    await record.commit(ANN, changes({ base: 3, units: [unit("m1#0", "passage", "m1", "new terms")] }));
    const last = await record.since(ANN, 2);
    expect(last.gone.units).toEqual([]);
    expect(last.units[0]).toEqual(unit("m1#0", "passage", "m1", "new terms"));
  },

  "a scope cannot see or change what is in another, however its names are put together": async (record) => {
    const pairs: Scope[] = [
      { project: "a", user: "b:c" },
      { project: "a:b", user: "c" },
      { project: "a", user: 'b","c' },
      { project: 'a","b', user: "c" },
      { project: "a", user: "B:C" },
    ];
    const marks = ["kiwi", "mango", "guava", "plum", "lychee"];
    for (const [i, scope] of pairs.entries()) {
      await record.commit(scope, full(marks[i] ?? ""));
      expect(await record.revision(scope)).toBe(1);
    }
    for (const [i, scope] of pairs.entries()) {
      const held = JSON.stringify(await dump(record, scope));
      expect(marks.filter((mark) => held.includes(mark))).toEqual([marks[i]]);
    }
    const [first, second] = pairs as [Scope, Scope];
    const before = await dump(record, second);
    await record.commit(
      first,
      changes({
        base: 1,
        dropUnits: ["memory-mango"],
        liftTombstones: ["tombstone-mango"],
        erase: { messages: [], memories: ["memory-mango"], rewrites: [], receipt: erasure("e2") },
      }),
    );
    expect(await dump(record, second)).toEqual(before);
  },

  "users are listed by project": async (record) => {
    await record.commit({ project: "p", user: "b" }, changes());
    await record.commit({ project: "p", user: "a" }, changes());
    await record.commit({ project: "q", user: "c" }, changes());
    expect(await record.users("p")).toEqual(["a", "b"]);
    expect(await record.users("nobody")).toEqual([]);
  },

  "tombstones stand until they are lifted": async (record) => {
    await record.commit(
      ANN,
      changes({
        tombstones: [
          { hash: "b", of: "words", at: AT },
          { hash: "a", of: "claim", at: AT },
        ],
      }),
    );
    expect((await record.since(ANN, 1)).tombstones.map(({ hash }) => hash)).toEqual(["a", "b"]);
    await record.commit(ANN, changes({ base: 1, liftTombstones: ["a", "nobody"] }));
    expect((await record.since(ANN, 2)).tombstones).toEqual([{ hash: "b", of: "words", at: AT }]);
  },

  "a receipt is found again under its key, with its revision": async (record) => {
    const kept = {
      key: "k",
      body: "b",
      messages: ["m1"],
      memories: [{ id: "a", action: "added" as const, version: 1 }],
      pending: 0,
    };
    await record.commit(ANN, changes({ receipt: kept }));
    expect(await record.receipt(ANN, "k")).toEqual({ ...kept, revision: 1 });
    expect(await record.receipt(BOB, "k")).toBeUndefined();
  },

  "an erasure takes memories with all versions, units and links, and the words of messages; the log stays":
    async (record) => {
      const first = changes({
        messages: [
          message("m1", {
            content: "zebra and lion",
            metadata: { tag: "zebra" },
            parts: [{ type: "text", text: "zebra and lion" }],
          }),
        ],
        memories: [
          memory("a", 1, { text: "zebra" }),
          memory("a", 2, { text: "zebras" }),
          memory("b", 1, { text: "lion" }),
        ],
        units: [
          unit("a", "memory", "a", "zebra"),
          unit("m1#0", "passage", "m1", "zebra lion"),
          unit("b", "memory", "b"),
        ],
        links: [{ from: "b", type: "extends", to: "a", strength: 1 }],
      });
      await record.commit(ANN, first);
      const log = await record.log(ANN, { limit: 10 });
      await record.commit(
        ANN,
        changes({
          base: 1,
          cause: "forget",
          dropUnits: ["m1#0"],
          units: [unit("m1#0", "passage", "m1", "lion")],
          erase: {
            messages: [{ id: "m1", content: "lion", keepMetadata: false }],
            memories: ["a"],
            rewrites: [
              memory("b", 1, {
                text: "lion",
                sources: [{ message: "m1", start: 0, end: 4, quote: "lion" }],
                revision: 1,
              }),
            ],
            receipt: erasure("e1"),
          },
        }),
      );
      const left = await dump(record, ANN);
      expect(JSON.stringify(left)).not.toContain("zebra");
      expect(left.all.links).toEqual([]);
      expect(left.all.memories.map(({ id, sources }) => [id, sources.length])).toEqual([["b", 1]]);
      expect((await record.since(ANN, 1)).gone.memories).toEqual(["a"]);
      expect((await record.since(ANN, 1)).memories.map(({ id }) => id)).toEqual(["b"]);
      expect((await record.log(ANN, { limit: 10 })).slice(1)).toEqual(log);
      expect((await record.log(ANN, { limit: 1 }))[0]?.erased).toEqual(["m1", "a"]);
      expect((await record.scrub(ANN, ["zebra"])).every(({ found }) => found === 0)).toBe(true);
      expect((await record.scrub(ANN, ["LION"])).some(({ found }) => found === 1)).toBe(true);
    },

  "receipts of erasures come in the order in which they were made, and can be sealed once more": async (
    record,
  ) => {
    const erase = (id: string) => ({ messages: [], memories: [], rewrites: [], receipt: erasure(id) });
    await record.commit(ANN, changes({ erase: erase("z") }));
    await record.commit(BOB, changes({ erase: erase("b") }));
    await record.commit(ANN, changes({ base: 1, erase: erase("a") }));
    await record.seal(ANN, erasure("z", { complete: true }));
    expect((await record.erasures()).map(({ id }) => id)).toEqual(["z", "b", "a"]);
    expect((await record.erasures(ANN)).map(({ id, complete }) => [id, complete])).toEqual([
      ["z", true],
      ["a", false],
    ]);
    await expect(record.seal(ANN, erasure("b"))).rejects.toMatchObject({ code: "not_found" });
  },

  "what a call gives is the caller's to keep": async (record) => {
    const given = message("m1", { metadata: { tag: "x" } });
    await record.commit(ANN, changes({ messages: [given], units: [unit("m1#0", "passage", "m1")] }));
    const [held] = (await record.since(ANN, 0)).units;
    held?.vector.fill(9);
    Object.assign(given.metadata ?? {}, { tag: "y" });
    const again = await record.since(ANN, 0);
    expect(again.units[0]?.vector[0]).toBe(0.5);
    expect(again.messages[0]?.metadata).toEqual({ tag: "x" });
  },

  "long ids and texts of every script come back as they were": async (record) => {
    const id = `${"ключ👩‍👩‍👧".repeat(40)}`;
    const content = `${"naïve 漢字 مرحبا 🦄\u2028".repeat(3000)}`;
    await record.commit(
      ANN,
      changes({ messages: [message(id, { content })], memories: [memory(id, 1, { text: content })] }),
    );
    const { messages, memories } = await record.since(ANN, 0);
    expect(messages[0]).toMatchObject({ id, content });
    expect(memories[0]).toMatchObject({ id, text: content });
  },

  "its own check finds nothing wrong": async (record) => {
    await record.commit(ANN, full("0"));
    expect(await record.check()).toEqual([]);
  },
};

const EMPTY = {
  revision: 0,
  messages: [],
  memories: [],
  units: [],
  gone: { units: [], memories: [] },
  tombstones: [],
  links: [],
};

/** A change-set that touches every table, with ids that end in the mark. */
function full(mark: string): ReturnType<typeof changes> {
  return changes({
    messages: [message(`message-${mark}`)],
    memories: [memory(`memory-${mark}`), memory(`other-${mark}`)],
    links: [{ from: `memory-${mark}`, type: "extends", to: `other-${mark}`, strength: 0.5 }],
    units: [
      unit(`memory-${mark}`, "memory", `memory-${mark}`),
      unit(`other-${mark}`, "memory", `other-${mark}`),
      unit(`message-${mark}#0`, "passage", `message-${mark}`),
    ],
    tombstones: [{ hash: `tombstone-${mark}`, of: "words", at: AT }],
    receipt: { key: `key-${mark}`, body: "b", messages: [], memories: [], pending: 0 },
    erase: { messages: [], memories: [], rewrites: [], receipt: erasure(`erasure-${mark}`) },
  });
}

/** Everything that can be read of a scope. */
async function dump(record: Record, scope: Scope) {
  return {
    revision: await record.revision(scope),
    all: await record.since(scope, 0),
    versions: await record.versions(scope),
    log: await record.log(scope, { limit: 100 }),
    erasures: await record.erasures(scope),
    receipts: await Promise.all(
      ["a", "b", "c", "ä", "x".repeat(60)].map((key) => record.receipt(scope, key)),
    ),
  };
}

/** Runs the whole contract against one adapter. Call it at the top level of a test file. */
export function recordConformance(harness: RecordHarness): void {
  const gaps = harness.knownGaps ?? {};
  describe(`Record: ${harness.name}`, () => {
    let record: Record;
    beforeEach(async () => {
      record = await harness.open();
    });
    afterEach(() => record.close());

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in RECORD_CASES))).toEqual([]);
    });

    for (const [title, run] of Object.entries(RECORD_CASES)) {
      const test = title in gaps ? it.fails : it;
      test(title in gaps ? `${title} [known gap: ${gaps[title]}]` : title, () => run(record));
    }

    const { reopen, second } = harness;
    if (reopen) {
      it("keeps everything over a reopening", async () => {
        await record.commit(ANN, full("0"));
        await record.commit(ANN, changes({ base: 1, memories: [memory("memory-0", 2)] }));
        const before = await dump(record, ANN);
        record = await reopen(record);
        expect(await dump(record, ANN)).toEqual(before);
      });
    }
    if (second) {
      it("shows a commit to every handle at once, and refuses the slower of two writers", async () => {
        const other = await second(record);
        await record.commit(ANN, changes({ messages: [message("m1")] }));
        expect((await other.since(ANN, 0)).messages).toHaveLength(1);
        await other.commit(ANN, changes({ base: 1, messages: [message("m2")] }));
        await expect(
          record.commit(ANN, changes({ base: 1, messages: [message("m3")] })),
        ).rejects.toMatchObject({ code: "conflict" });
        expect((await record.since(ANN, 1)).messages.map(({ id }) => id)).toEqual(["m2"]);
        await other.close();
      });
    }

    it("agrees with the reference record on random histories", async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (drawn) => {
          const [ours, reference] = [await harness.open(), memoryRecord()];
          try {
            for (const step of drawn) await agree(ours, reference, step);
          } finally {
            await ours.close();
          }
        }),
        { numRuns: 150 },
      );
    });
  });
}

/** Takes a step on both, and compares what they answer and all that can be read then. */
export async function agree(ours: Record, reference: Record, step: Step): Promise<void> {
  const scope: Scope = { project: "default", user: step.user };
  const base = (await reference.revision(scope)) + step.stale;
  const whole = changes({ ...step.changes, base });
  expect(await outcome(ours, scope, whole)).toEqual(await outcome(reference, scope, whole));
  for (const each of [ANN, BOB]) {
    expect(await dump(ours, each)).toEqual(await dump(reference, each));
    expect(await ours.since(each, 1)).toEqual(await reference.since(each, 1));
  }
}

async function outcome(record: Record, scope: Scope, whole: ReturnType<typeof changes>): Promise<unknown> {
  try {
    return await record.commit(scope, whole);
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}
