import { expect, it } from "vitest";
import { memoryRecord } from "../../adapters/memory/index.ts";
import { changes, message, unit } from "../../testing/change-sets.ts";
import { emptyBlock, follow } from "../block/block.ts";
import { meanOf } from "../block/mean.ts";
import { scrub } from "../block/scrub.ts";
import { centreOf } from "./centre.ts";

const ANN = { project: "default", user: "ann" };

it("keeps nothing of a vector that went, though it was worked out after it had gone", async () => {
  const record = memoryRecord();
  const block = emptyBlock({ fingerprint: "test/3", dimensions: 3 });
  const ids = Array.from({ length: 100 }, (_, i) => `m${i}`);
  const units = ids.map((id) => ({
    ...unit(`${id}#0`, "passage", id),
    vector: id === "m7" ? Float32Array.of(0, 0, 1) : Float32Array.of(1, 0, 0),
  }));
  await record.commit(ANN, changes({ messages: ids.map((id) => message(id)), units }));
  follow(block, await record.since(ANN, 0));
  expect(centreOf(block).mean[2]).toBeGreaterThan(0);
  await record.commit(ANN, changes({ base: 1, dropUnits: ["m7#0"] }));
  follow(block, await record.since(ANN, 1));
  // A recall that came in between.
  expect(centreOf(block).mean[2]).toBeGreaterThan(0);
  scrub(block);
  const { mean, along } = centreOf(block);
  expect([...mean]).toEqual([...meanOf(block)]);
  expect([mean[2], along[block.dead[0] ?? -1]]).toEqual([0, 0]);
  expect(centreOf(block)).toBe(centreOf(block));
});
