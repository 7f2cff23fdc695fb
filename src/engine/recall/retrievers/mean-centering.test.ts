import { expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import { englishPhrases as phrases } from "../../../language/en/phrases.ts";
import { makeChangeSet, makeMessage, makeUnit } from "../../../testing/memory-store/change-sets.ts";
import {
  applyIndexDelta,
  createSearchIndex,
  meanVectorOf,
  scrubIndex,
} from "../../search-index/search-index.ts";
import { getMeanCentering } from "./mean-centering.ts";

const ANN = { project: "default", user: "ann" };

it("retains nothing of a deleted vector when computed after the deletion", async () => {
  const record = createInMemoryStore();
  const searchIndex = createSearchIndex({ fingerprint: "test/3", dimensions: 3 });
  const ids = Array.from({ length: 100 }, (_, i) => `m${i}`);
  const units = ids.map((id) => ({
    ...makeUnit(`${id}#0`, "passage", id),
    vector: id === "m7" ? Float32Array.of(0, 0, 1) : Float32Array.of(1, 0, 0),
  }));
  await record.commit(ANN, makeChangeSet({ messages: ids.map((id) => makeMessage(id)), units }));
  applyIndexDelta(searchIndex, await record.since(ANN, 0), phrases);
  expect(getMeanCentering(searchIndex).mean[2]).toBeGreaterThan(0);
  await record.commit(ANN, makeChangeSet({ base: 1, dropUnits: ["m7#0"] }));
  applyIndexDelta(searchIndex, await record.since(ANN, 1), phrases);
  // A recall that came in between.
  expect(getMeanCentering(searchIndex).mean[2]).toBeGreaterThan(0);
  scrubIndex(searchIndex);
  const { mean, along } = getMeanCentering(searchIndex);
  expect([...mean]).toEqual([...meanVectorOf(searchIndex)]);
  expect([mean[2], along[searchIndex.deadSlots[0] ?? -1]]).toEqual([0, 0]);
  expect(getMeanCentering(searchIndex)).toBe(getMeanCentering(searchIndex));
});
