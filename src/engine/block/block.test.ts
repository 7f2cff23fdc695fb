import fc from "fast-check";
import { expect, it } from "vitest";
import { memoryRecord } from "../../adapters/memory/index.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta } from "../../ports/record.ts";
import { changes, message, unit } from "../../testing/change-sets.ts";
import { fitted, type Step, steps } from "../../testing/record-steps.ts";
import { type Block, emptyBlock, follow, isPassage, passagesIn, release, unitId } from "./block.ts";
import { packBlock, unpackBlock } from "./pack.ts";

const SPACE = { fingerprint: "test/3", dimensions: 3 };
const ANN: Scope = { project: "default", user: "ann" };
const QUERY = Float32Array.from([0.6, 0.8, 0]);

/** What a block says of each unit, by id; slots and rows may differ between blocks that say the same. */
function told(block: Block): Map<string, object> {
  const { units, memories, turns, words, vectors } = block;
  const products = new Float32Array(units.count);
  vectors.dot(QUERY, units.count, products);
  const all = new Map<string, object>();
  for (let slot = 0; slot < units.count; slot += 1) {
    if (!words.isAlive(slot)) continue;
    const row = units.columns.row[slot] as number;
    const turn = units.columns.turn[slot] as number;
    all.set(unitId(block, slot), {
      isPassage: isPassage(block, slot),
      message: turns.ids[turn],
      span: row < 0 ? [units.columns.start[slot], units.columns.end[slot]] : [],
      flags: turn < 0 ? undefined : turns.columns.flags[turn],
      key: units.columns.key[slot],
      length: words.lengths[slot],
      product: Math.round((products[slot] as number) * 1e5),
      memory: row < 0 ? undefined : [memories.columns.status[row], memories.columns.evidence[row]],
    });
  }
  return all;
}

/** Units of what is there alone, as the engine writes them. */
function grounded(drawn: Step["changes"], held: Delta): Step["changes"] {
  const messages = [...held.messages, ...(drawn.messages ?? [])].map(({ id }) => id);
  const erased = drawn.erase?.memories ?? [];
  const memories = [...held.memories, ...(drawn.memories ?? [])]
    .map(({ id }) => id)
    .filter((id) => !erased.includes(id));
  const units = (drawn.units ?? []).filter(({ type, owner }) =>
    (type === "memory" ? memories : messages).includes(owner),
  );
  return { ...drawn, units };
}

it("follows a history step by step, and says what one says that takes it in at once or out of its packing", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const record = memoryRecord();
      const following = emptyBlock(SPACE);
      for (const { changes: drawn } of history) {
        const held = await record.since(ANN, 0);
        await record
          .commit(ANN, changes({ ...grounded(fitted(drawn, held), held), base: held.revision }))
          .catch((error: { code?: string }) => expect(error.code).toBe("conflict"));
        const delta = await record.since(ANN, following.revision);
        follow(following, delta);
        // Taken in twice, it changes nothing.
        follow(following, delta);
      }
      const atOnce = emptyBlock(SPACE);
      follow(atOnce, await record.since(ANN, 0));
      expect(told(following)).toEqual(told(atOnce));
      expect(following.words.size).toBe(told(atOnce).size);
      const packed = packBlock(following);
      if (!packed) return;
      const taken = unpackBlock(packed, SPACE);
      expect(taken && told(taken)).toEqual(told(following));
      expect(taken?.revision).toBe(following.revision);
    }),
  );
});

it("keeps on following once it is taken out of its packing", async () => {
  const record = memoryRecord();
  const first = emptyBlock(SPACE);
  await record.commit(ANN, changes({ messages: [message("m1")], units: [unit("m1#0", "passage", "m1")] }));
  follow(first, await record.since(ANN, 0));
  const taken = unpackBlock(packBlock(first) ?? new Uint8Array(), SPACE);
  if (!taken) throw new Error("the block was not taken up");
  await record.commit(
    ANN,
    changes({
      base: 1,
      messages: [message("m2")],
      units: [unit("m2#0", "passage", "m2")],
      dropUnits: ["m1#0"],
    }),
  );
  follow(taken, await record.since(ANN, 1));
  expect([...told(taken).keys()]).toEqual(["m2#0"]);
  expect(passagesIn(taken, "m2")).toEqual(["m2#0"]);
  expect(passagesIn(taken, "m1")).toEqual([]);
  release(taken);
  expect(taken.isReleased).toBe(true);
});

it.each([
  ["nothing", new Uint8Array(0)],
  ["another file", new Uint8Array(Buffer.from("SQLite format 3".repeat(20)))],
])("takes up no block of %s", (_what, bytes) => {
  expect(unpackBlock(bytes, SPACE)).toBeUndefined();
});

it("takes up no block that is cut off, nor one of another space", async () => {
  const record = memoryRecord();
  const block = emptyBlock(SPACE);
  await record.commit(ANN, changes({ messages: [message("m1")], units: [unit("m1#0", "passage", "m1")] }));
  follow(block, await record.since(ANN, 0));
  const packed = packBlock(block) ?? new Uint8Array();
  expect(unpackBlock(packed.subarray(0, packed.length - 40), SPACE)).toBeUndefined();
  expect(unpackBlock(packed, { ...SPACE, fingerprint: "other/3" })).toBeUndefined();
});
