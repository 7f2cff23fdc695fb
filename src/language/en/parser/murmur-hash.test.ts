import { expect, it } from "vitest";
import { hashToRows, hashUtf8 } from "./murmur-hash.ts";

// Text, spaCy's number of it (`hash_string`), and thinc's rows (`NumpyOps().hash([number], 8) % 8000`).
const EXAMPLES: readonly (readonly [text: string, number: bigint, rows: readonly number[]])[] = [
  ["a", 11901859001352538922n, [2818, 6131, 7875, 844]],
  ["the", 7425985699627899538n, [1498, 909, 6599, 1364]],
  ["hello", 5983625672228268878n, [5510, 6382, 4265, 1925]],
  ["12345678", 9871996032675327904n, [3760, 2790, 2344, 3834]],
  ["123456789", 2056675840866671865n, [958, 3818, 1437, 5375]],
  ["internationally", 11070640195767574431n, [730, 2603, 5447, 3553]],
  ["é😀", 576446407974871114n, [1838, 5232, 6757, 3848]],
];

it.each(EXAMPLES)("a text's hash and its rows are those of spaCy: %s", (text, number, expected) => {
  const { low, high } = hashUtf8(text);
  expect((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)).toBe(number);
  const rows = new Uint16Array(4);
  hashToRows({ low, high }, 8, 8000, rows, 0);
  expect([...rows]).toEqual(expected);
});

it("the hash of the empty text is 0, and so are its rows", () => {
  const rows = new Uint16Array(4).fill(9);
  expect(hashUtf8("")).toEqual({ low: 0, high: 0 });
  hashToRows(hashUtf8(""), 8, 8000, rows, 0);
  expect([...rows]).toEqual([0, 0, 0, 0]);
});
