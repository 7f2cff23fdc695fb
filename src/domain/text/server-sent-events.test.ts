import { expect, it } from "vitest";
import { createServerSentEventReader } from "./server-sent-events.ts";

function readData(text: string, size: number, maxLength = 1000): { data: string[]; tooLong: number } {
  const data: string[] = [];
  let tooLong = 0;
  const reader = createServerSentEventReader({
    onData: (one) => data.push(one),
    maxLength,
    onTooLong: () => {
      tooLong += 1;
    },
  });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) reader.take(bytes.subarray(at, at + size));
  reader.end();
  return { data, tooLong };
}

it("gives the same events for any split, any line ends and a byte order mark", () => {
  const plain = ": hello\n\ndata: é🦊\n\nevent: x\ndata: one\ndata: two\nid: 7\n\ndata:[DONE]\n\n";
  for (const end of ["\n", "\r\n", "\r"]) {
    for (const size of [1, 2, 3, 7, 1000]) {
      const { data } = readData(`\uFEFF${plain.replaceAll("\n", end)}`, size);
      expect(data).toEqual(["é🦊", "one\ntwo", "[DONE]"]);
    }
  }
});

it("gives a last event without an empty line, and no event without data", () => {
  for (const size of [1, 5, 1000]) {
    expect(readData("data:\n\ndata\n\nevent: x\n\ndata: last", size).data).toEqual(["last"]);
    expect(readData("data: last\r", size).data).toEqual(["last"]);
  }
});

it("drops an event with a line that is too long, and reads on", () => {
  const { data, tooLong } = readData(`data: a\n\ndata: ${"x".repeat(2000)}\n\ndata: b\n\n`, 100);
  expect(data).toEqual(["a", "b"]);
  expect(tooLong).toBe(1);
});

it("drops an event with too many lines", () => {
  const { data, tooLong } = readData(`${"data: x\n".repeat(2000)}\n`, 100);
  expect(data.every((one) => one.length <= 1000)).toBe(true);
  expect(tooLong).toBeGreaterThan(0);
});

it("reads a long line in small pieces in time proportional to its length", () => {
  const begun = performance.now();
  const { data } = readData(`data: ${"x".repeat(16_000_000)}\n\n`, 16_384, 32_000_000);
  expect(data.map(({ length }) => length)).toEqual([16_000_000]);
  expect(performance.now() - begun).toBeLessThan(4000);
});
