import fc from "fast-check";
import { expect, it } from "vitest";
import { createCopyRowSplitter } from "./copy-stream.ts";

/** A message as the server sends it. */
function message(kind: string, content: Uint8Array): Buffer {
  const head = Buffer.from(`${kind}0000`, "latin1");
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const messages = fc.array(
  fc.record({ kind: fc.constantFrom("d", "D", "Z", "d"), content: fc.uint8Array({ maxLength: 40 }) }),
  { maxLength: 12 },
);
/** So many bytes come at once, then so many, and so on again. */
const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 });

function told(bytes: Buffer, lengths: readonly number[], takesRows: () => boolean) {
  const rows: string[] = [];
  const rest: Buffer[] = [];
  const take = createCopyRowSplitter({
    takesRows,
    row: (row) => void rows.push(row.toString("hex")),
    rest: (part) => void rest.push(part),
  });
  // The same memory again and again.
  const memory = Buffer.alloc(50);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const part = bytes.subarray(at, at + (lengths[turn % lengths.length] as number));
    take(memory.subarray(0, part.copy(memory)));
    at += part.length;
  }
  return { rows, rest: Buffer.concat(rest).toString("hex") };
}

it("gives each row once and in order, and all other bytes unchanged, for any split of the stream", () => {
  fc.assert(
    fc.property(messages, cuts, (sent, lengths) => {
      const bytes = Buffer.concat(sent.map(({ kind, content }) => message(kind, content)));
      const isRow = ({ kind }: { kind: string }): boolean => kind === "d";
      const others = sent.filter((one) => !isRow(one)).map(({ kind, content }) => message(kind, content));
      expect(told(bytes, lengths, () => true)).toEqual({
        rows: sent.filter(isRow).map(({ content }) => Buffer.from(content).toString("hex")),
        rest: Buffer.concat(others).toString("hex"),
      });
    }),
  );
});

it("passes rows on without a taker, and completes a row that has begun", () => {
  fc.assert(
    fc.property(messages, cuts, (sent, lengths) => {
      const bytes = Buffer.concat(sent.map(({ kind, content }) => message(kind, content)));
      expect(told(bytes, lengths, () => false)).toEqual({ rows: [], rest: bytes.toString("hex") });
      // Asked once for each row, at its beginning.
      let asked = 0;
      const everyOther = told(bytes, lengths, () => {
        asked += 1;
        return asked % 2 === 0;
      });
      const rows = sent.filter(({ kind }) => kind === "d");
      expect(asked).toBe(rows.length);
      expect(everyOther.rows).toEqual(
        rows.filter((_, i) => i % 2 === 1).map(({ content }) => Buffer.from(content).toString("hex")),
      );
    }),
  );
});

it("handles invalid lengths, and buffers no more than a partial header", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), cuts, (noise, lengths) => {
      const { rest } = told(Buffer.from(noise), lengths, () => false);
      expect(Buffer.from(noise).toString("hex").startsWith(rest)).toBe(true);
      expect(noise.length - rest.length / 2).toBeLessThan(5);
    }),
  );
});
