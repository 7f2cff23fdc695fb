import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PYTHON_FILES } from "./python-client.ts";

const FOLDER = join(import.meta.dirname, "../clients/python/src/keepsake_client");

describe("the Python client", () => {
  it.each(Object.keys(PYTHON_FILES))(
    "has %s as the API's table makes it (node scripts/python-client.ts)",
    (file) => {
      expect(readFileSync(join(FOLDER, file), "utf8")).toBe(PYTHON_FILES[file]?.());
    },
  );

  it("has a method for each operation under /api/v1", () => {
    const module = readFileSync(join(FOLDER, "_generated.py"), "utf8");
    const count = (pattern: RegExp): number => module.match(pattern)?.length ?? 0;
    expect(count(/^ {4}def /gm)).toBeGreaterThan(40);
    expect(count(/^ {4}async def /gm)).toBe(count(/^ {4}def /gm));
  });
});
