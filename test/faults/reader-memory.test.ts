import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** 31 to 73 MB where windows were read side by side, up to 5 MB where they are read one after the other. */
const MOST_MEGABYTES = 25;

it("windows that 32 requests have read at once take no more memory than windows read one by one", async ({
  skip,
}) => {
  if (process.platform !== "linux") skip("another system does not tell anonymous memory apart");
  const program = join(import.meta.dirname, "reader-memory.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  const { before, after } = JSON.parse(stdout) as { before: number; after: number };
  expect(before).toBeGreaterThan(50);
  expect(after - before).toBeLessThan(MOST_MEGABYTES);
});
