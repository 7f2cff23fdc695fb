import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { makeChangeSet, makeMessage, makeRecallReceipt } from "../../testing/memory-store/change-sets.ts";
import { countRanks, createRecallReceiptStore } from "./receipts.ts";

const ANN = { project: "default", user: "ann" };

async function keeper() {
  const record = createInMemoryStore();
  await record.commit(ANN, makeChangeSet({ base: 0, messages: [makeMessage("m1")] }));
  return { record, recalls: createRecallReceiptStore(record) };
}

it("adds notes to a receipt that is already written", async () => {
  const { record, recalls } = await keeper();
  recalls.keep(ANN, "r1", () => makeRecallReceipt("r1"));
  recalls.keep(ANN, "r2", () => makeRecallReceipt("r2"));
  await recalls.flush();
  recalls.note(ANN, "r1", { kind: "answer", session: "talk" });
  recalls.note(ANN, "r1", { used: ["memory"] });
  const wanted = { id: "r1", kind: "answer", session: "talk", used: ["memory"] };
  expect(await recalls.lastAnswer(ANN, "talk")).toMatchObject(wanted);
  expect(await recalls.find(ANN, "r1")).toMatchObject(wanted);
  await recalls.flush();
  expect(await record.recallReceipts.list(ANN, { id: "r1", limit: 1 })).toMatchObject([wanted]);
  expect(await record.recallReceipts.list(ANN, { limit: 10 })).toHaveLength(2);
});

it("adds notes to a receipt while it is being written, and ignores an unknown one", async () => {
  const { record, recalls } = await keeper();
  recalls.keep(ANN, "r1", () => makeRecallReceipt("r1"));
  const writing = recalls.flush();
  recalls.note(ANN, "r1", { kind: "answer" });
  recalls.note(ANN, "none", { kind: "answer" });
  await writing;
  await recalls.flush();
  expect((await record.recallReceipts.list(ANN, { limit: 10 })).map(({ id, kind }) => [id, kind])).toEqual([
    ["r1", "answer"],
  ]);
});

describe("the ranks of scores", () => {
  it("are one more than the number of greater values, for every score", () => {
    const value = fc.float({ noNaN: true, min: Math.fround(-1), max: 1 });
    fc.assert(
      fc.property(fc.array(value), fc.array(fc.nat()), (values, places) => {
        const scores = places.flatMap((place) => values[place % Math.max(1, values.length)] ?? []);
        const ranks = countRanks(Float32Array.from(values), scores);
        for (const score of scores)
          expect(ranks.get(score)).toBe(1 + values.filter((one) => one > score).length);
      }),
    );
  });
});
