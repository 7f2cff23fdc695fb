import { describe, expect, it } from "vitest";
import {
  type FileState,
  findSuccessor,
  followRenames,
  pickSeeded,
  readFirstDocComment,
  renderPage,
} from "./side-by-side.ts";

const file = (path: string, ...lines: string[]): FileState => ({
  path,
  text: lines.map((line) => `${line}\n`).join(""),
});
const BODY = [
  "const firstTellingLine = computeFirst();",
  "const secondTellingLine = computeSecond();",
  "const thirdTellingLine = computeThird();",
];

describe("the choice of files", () => {
  const items = Array.from({ length: 100 }, (_, index) => index);

  it("is the same for the same seed and another for another seed", () => {
    expect(pickSeeded(items, 10, 1)).toEqual(pickSeeded(items, 10, 1));
    expect(pickSeeded(items, 10, 1)).not.toEqual(pickSeeded(items, 10, 2));
  });

  it("picks each item at most once", () => {
    expect(pickSeeded(items, 200, 1).sort((one, other) => one - other)).toEqual(items);
  });
});

describe("the search for a successor", () => {
  it("follows several renames of one file in their order", () => {
    const renames = [
      { from: "src/a.ts", to: "src/b.ts" },
      { from: "src/x.ts", to: "src/y.ts" },
      { from: "src/b.ts", to: "src/c.ts" },
    ];
    expect(followRenames("src/a.ts", renames)).toBe("src/c.ts");
  });

  it("prefers a rename to another file with the same export", () => {
    const before = file("src/a.ts", "export function openIt(): void {}");
    const now = [
      file("src/other.ts", "export function openIt(): void {}"),
      file("src/b.ts", "export const x = 1;"),
    ];
    const pair = findSuccessor(before, [{ from: "src/a.ts", to: "src/b.ts" }], now);
    expect([pair.after?.path, pair.foundBy]).toEqual(["src/b.ts", "rename"]);
  });

  it("finds a merged file by its main export, else by its lines", () => {
    const before = file("src/a.ts", "export function openIt(): void {}", ...BODY);
    const named = file("src/named.ts", "export function openIt(): void {}");
    const similar = file("src/similar.ts", "export function openStore(): void {}", ...BODY);
    expect(findSuccessor(before, [], [similar, named])).toMatchObject({ after: named, foundBy: "name" });
    expect(findSuccessor(before, [], [similar])).toMatchObject({
      after: similar,
      foundBy: "lines",
      sharedLines: 3,
    });
  });

  it("finds nothing if fewer than three lines are shared", () => {
    const before = file("src/a.ts", "export function openIt(): void {}", ...BODY);
    const unrelated = file("src/b.ts", ...BODY.slice(0, 2));
    expect(findSuccessor(before, [], [unrelated])).toMatchObject({ after: undefined, foundBy: "nothing" });
  });
});

describe("the page", () => {
  it("shows names, lines, exports and the first doc comment of both sides", () => {
    const before = file("src/old.ts", "/** Reads", " * a | b. */", "export const held = 1;");
    const after = file("src/new.ts", "/** Reads the record. */", "export const readRecord = 1;", "");
    const page = renderPage([{ before, after, foundBy: "rename", sharedLines: 0 }], {
      before: "1111111",
      after: "2222222",
      seed: 7,
      files: 20,
    });
    expect(page).toContain("| Name | `old.ts` | `new.ts` |");
    expect(page).toContain("| Lines | 3 | 3 |");
    expect(page).toContain("| Exported names | `held` | `readRecord` |");
    expect(page).toContain("| First doc comment | Reads a \\| b. | Reads the record. |");
    expect(page).toContain("--seed 7 --to 2222222");
  });

  it("has an empty comment for a file without doc comments", () => {
    expect(readFirstDocComment("// only a line\n/* and a block */\n")).toBe("");
  });
});
