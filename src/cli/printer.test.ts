import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createProgressBar, dimText, formatCount, formatTable, toShortLine } from "./printer.ts";

it("shows a text on one line without escape sequences", () => {
  expect(toShortLine("a\n\tb  c ")).toBe("a b c");
  expect(toShortLine("red \u001b[31mtext\u001b[0m, \u001b[2Jcleared")).toBe("red text, cleared");
  expect(toShortLine("bell \u0007, delete \u007f, turned \u202eround")).toBe(
    "bell �, delete �, turned �round",
  );
});

it("cuts a long text between letters, not inside one", () => {
  expect(toShortLine("💡".repeat(11), 10)).toBe(`${"💡".repeat(9)}…`);
  expect(toShortLine("x".repeat(10), 10)).toBe("x".repeat(10));
});

it("aligns columns and leaves out empty ones", () => {
  expect(formatTable([])).toEqual([]);
  expect(
    formatTable([
      ["id", "", "text"],
      ["longer", "", "other text"],
    ]),
  ).toEqual(["id      text", "longer  other text"]);
});

it("uses the plural for every count but one", () => {
  expect([formatCount(1, "line"), formatCount(2, "line"), formatCount(0, "memory", "memories")]).toEqual([
    "1 line",
    "2 lines",
    "0 memories",
  ]);
});

/** A stream that records the text written to it. */
function stream(isTTY: boolean): NodeJS.WriteStream & { readonly written: string[] } {
  const written: string[] = [];
  const write = (text: string): boolean => written.push(text) > 0;
  return { isTTY, columns: 40, written, write, getColorDepth: () => 1 } as unknown as NodeJS.WriteStream & {
    readonly written: string[];
  };
}

it("dims nothing if the stream is not a terminal", () => {
  expect(dimText("quiet", new PassThrough() as unknown as NodeJS.WriteStream)).toBe("quiet");
});

it("draws a bar no wider than the terminal, and removes it at the end", () => {
  const terminal = stream(true);
  const bar = createProgressBar(false, terminal);
  bar.show(50, 100, "50 of 100 messages, and a long tail of other words");
  bar.end();
  bar.end();
  const [drawn = "", ...rest] = terminal.written;
  expect(drawn).toContain(`${"█".repeat(12)}${"░".repeat(12)}  50 % `);
  expect(drawn.slice("\r\u001b[2K".length).length).toBeLessThan(40);
  expect(rest).toEqual(["\r\u001b[2K"]);
});

it("prints nothing for short work without a terminal, and nothing if quiet", () => {
  for (const [isQuiet, isTTY] of [
    [false, false],
    [true, true],
  ] as const) {
    const target = stream(isTTY);
    const bar = createProgressBar(isQuiet, target);
    bar.show(1, 2, "half");
    bar.end();
    expect(target.written).toEqual([]);
  }
});
