import fc from "fast-check";
import { expect, it } from "vitest";
import { createIdColumn, type IdColumn } from "./columns.ts";

const anyId = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.uuid(), fc.constant("a\u0000b"));

function listed(ids: IdColumn): (string | undefined)[] {
  return Array.from({ length: ids.count }, (_, place) => ids.at(place));
}

it("gives the same ids one by one and all at once, before and after packing, with additions at any time", () => {
  fc.assert(
    fc.property(
      fc.array(anyId.map((id) => id.toWellFormed())),
      fc.array(anyId.map((id) => id.toWellFormed())),
      fc.boolean(),
      (first, more, isAskedForAll) => {
        const before = createIdColumn();
        for (const id of first) before.add(id);
        const ids = createIdColumn(before.pack());
        expect(listed(ids)).toEqual(first);
        for (const [i, id] of more.entries()) {
          if (isAskedForAll && i === 1) expect(ids.all()).toEqual([...first, ...more.slice(0, 1)]);
          ids.add(id);
        }
        const whole = [...first, ...more];
        expect(listed(ids)).toEqual(whole);
        expect([ids.at(-1), ids.at(whole.length)]).toEqual([undefined, undefined]);
        expect(listed(createIdColumn(ids.pack()))).toEqual(whole);
        expect(ids.all()).toEqual(whole);
        expect(listed(ids)).toEqual(whole);
      },
    ),
  );
});

it("keeps the number of ids that contain halves of a letter", () => {
  const halves = createIdColumn();
  for (const id of ["\ud83d", "\ude00", "after"]) halves.add(id);
  expect(listed(createIdColumn(halves.pack()))).toEqual(["\ufffd", "\ufffd", "after"]);
});
