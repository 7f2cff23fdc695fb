import { describe, expect, it } from "vitest";
import { createFrameReader, encodeFrame } from "./python-worker.ts";

const FRAMES = [
  { header: { id: 1, text: "Zoë 🦄" }, body: Buffer.from([1, 2, 3]) },
  { header: { id: 2 }, body: Buffer.alloc(0) },
  { header: { id: 3 }, body: Buffer.alloc(5000, 7) },
];

describe("frames", () => {
  it("decodes frames that arrive in any pieces", () => {
    const all = Buffer.concat(FRAMES.map(({ header, body }) => encodeFrame(header, body)));
    for (const size of [1, 3, 8, 13, 4096, all.length]) {
      const read = createFrameReader();
      const found = [];
      for (let at = 0; at < all.length; at += size) found.push(...read(all.subarray(at, at + size)));
      expect(found.map(({ header, body }) => ({ header, body: Buffer.from(body) }))).toEqual(FRAMES);
    }
  });

  it("refuses invalid frames", () => {
    const long = Buffer.alloc(8, 0xff);
    expect(() => createFrameReader()(long)).toThrow("invalid answer");
    const odd = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 0, 0, 0]), Buffer.from("no!")]);
    expect(() => createFrameReader()(odd)).toThrow("invalid answer");
    const text = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from("42")]);
    expect(() => createFrameReader()(text)).toThrow("invalid answer");
  });
});
