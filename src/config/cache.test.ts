import { expect, it } from "vitest";
import { chooseCacheBytes, chooseYoungMegabytes } from "./node-tuning.ts";

it.each([
  ["a small machine", 1e9, 0, 256e6],
  ["a middling one", 4e9, 0, 500e6],
  ["a large one", 64e9, 0, 1024e6],
  ["a small container on a large one", 64e9, 2.4e9, 300e6],
  // "No limit" is a number larger than any machine's memory.
  ["a container without a limit", 4e9, 2 ** 63, 500e6],
])("uses an eighth of the memory of %s, within bounds", (_what, machine, container, bytes) => {
  expect(chooseCacheBytes(machine, container)).toBe(bytes);
});

it.each([
  ["a small machine", 0.5e9, 0, 16],
  ["a middling one", 4e9, 0, 63],
  ["a large one", 64e9, 0, 128],
  ["a small container on a large one", 64e9, 1e9, 16],
])("sizes the young generation for %s, within bounds", (_what, machine, container, megabytes) => {
  expect(chooseYoungMegabytes(machine, container)).toBe(megabytes);
});
