import { expect } from "vitest";
import { changes, erasure, memory, message, unit } from "./change-sets.ts";
import { ANN, BOB, dump, type RecordCases } from "./record-dump.ts";

/** What an erasure promises. */
export const ERASURE_CASES: RecordCases = {
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
};
