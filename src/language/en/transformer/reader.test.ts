import { expect, it } from "vitest";
import { clearWordCaches } from "../../../domain/search/search-terms.ts";
import { rateWindow } from "./reader.ts";

const WINDOW = { tokens: [2, 40, 71, 102, 9], roles: [0, 0, 1, 1, 1], clauses: [{ from: 2, to: 5 }] };

it("a window that was read is not read again until an erasure", async () => {
  clearWordCaches();
  const first = await rateWindow(WINDOW, "meant");
  expect(await rateWindow(WINDOW, "meant")).toBe(first);
  clearWordCaches();
  const again = await rateWindow(WINDOW, "meant");
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});

it("a window that is being read while words are erased is not kept", async () => {
  clearWordCaches();
  const reading = rateWindow(WINDOW, "answers");
  clearWordCaches();
  const first = await reading;
  const again = await rateWindow(WINDOW, "answers");
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
  expect(await rateWindow(WINDOW, "answers")).toBe(again);
});
