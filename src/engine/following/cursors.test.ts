import { beforeEach, expect, it } from "vitest";
import { memoryRecord } from "../../adapters/memory/index.ts";
import type { Record } from "../../ports/record.ts";
import { changes, message } from "../../testing/change-sets.ts";
import { cursorsOf } from "./cursors.ts";

const ANN = { project: "default", user: "ann" };
const NAME = "following shaky";
const noted = async (record: Record): Promise<number | undefined> =>
  (await record.visit(NAME, ANN))?.revision;

let record: Record;
beforeEach(async () => {
  record = memoryRecord();
  await record.commit(ANN, changes({ messages: [message("m1")] }));
  await record.commit(ANN, changes({ base: 1, messages: [message("m2")] }));
});

it("a cursor is known at once, and noted a little later", async () => {
  const cursors = cursorsOf(record, NAME);
  expect(await cursors.of(ANN)).toBe(0);
  cursors.moved(ANN, 2);
  expect([await cursors.of(ANN), await noted(record)]).toEqual([2, undefined]);
  await cursors.flush();
  expect(await noted(record)).toBe(2);
});

it("a cursor that another process has set back meanwhile stays where it was set", async () => {
  const cursors = cursorsOf(record, NAME);
  cursors.moved(ANN, 1);
  await cursors.flush();
  // Somebody clears the index and fills it anew.
  await record.noteVisits(NAME, [{ scope: ANN, visit: { revision: 0 } }]);
  cursors.moved(ANN, 2);
  await cursors.flush();
  expect(await noted(record)).toBe(0);
  expect(await cursors.of(ANN)).toBe(0);
});

it("a cursor that another process has moved on may be noted as it is known here", async () => {
  const cursors = cursorsOf(record, NAME);
  expect(await cursors.of(ANN)).toBe(0);
  await record.noteVisits(NAME, [{ scope: ANN, visit: { revision: 1 } }]);
  cursors.moved(ANN, 2);
  await cursors.flush();
  expect(await noted(record)).toBe(2);
});
