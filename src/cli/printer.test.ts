import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createProgressBar, dimText, formatCount, formatTable, toShortLine } from "./printer.ts";

it("shows what somebody said on one line that obeys no escape", () => {
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

it("lines columns up, and leaves out those that nobody fills", () => {
  expect(formatTable([])).toEqual([]);
  expect(
    formatTable([
      ["id", "", "text"],
      ["longer", "", "other text"],
    ]),
  ).toEqual(["id      text", "longer  other text"]);
});

it("counts in words", () => {
  expect([formatCount(1, "line"), formatCount(2, "line"), formatCount(0, "memory", "memories")]).toEqual([
    "1 line",
    "2 lines",
    "0 memories",
  ]);
});

/** A stream that keeps what is written. */
function stream(isTTY: boolean): NodeJS.WriteStream & { readonly written: string[] } {
  const written: string[] = [];
  const write = (text: string): boolean => written.push(text) > 0;
  return { isTTY, columns: 40, written, write, getColorDepth: () => 1 } as unknown as NodeJS.WriteStream & {
    readonly written: string[];
  };
}

it("dims nothing where there is no terminal", () => {
  expect(dimText("quiet", new PassThrough() as unknown as NodeJS.WriteStream)).toBe("quiet");
});

it("draws a bar that is no wider than the terminal, and takes it away", () => {
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

it("says nothing of short work where there is no terminal, and nothing at all where it is quiet", () => {
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
