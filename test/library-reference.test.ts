import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { libraryReference } from "../scripts/library-reference.ts";

const ROOT = join(import.meta.dirname, "..");

it("the library's page is what the doc comments say, and every public name and option has one", {
  timeout: 60_000,
}, () => {
  const { page, undocumented } = libraryReference();
  expect(undocumented).toEqual([]);
  expect(page).toBe(readFileSync(join(ROOT, "docs/reference/library.md"), "utf8"));
});

it("a public option, or a function, that loses its doc comment is named", { timeout: 60_000 }, () => {
  const copy = mkdtempSync(join(tmpdir(), "keepsake-reference-"));
  try {
    for (const path of ["src", "package.json", "tsconfig.json"]) {
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    remove(join(copy, "src/engine/api/transfer-types.ts"), "  /** Messages per commit (200). */\n");
    remove(join(copy, "src/http/keys/key-ring.ts"), /\/\*\*[^/]*\*\/\n(?=export function passingKeys)/);
    expect(libraryReference(copy).undocumented).toEqual([
      "keepsake ImportOptions.batch",
      "keepsake/http passingKeys",
    ]);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

function remove(file: string, what: string | RegExp): void {
  const before = readFileSync(file, "utf8");
  const after = before.replace(what, "");
  expect(after).not.toBe(before);
  writeFileSync(file, after);
}
