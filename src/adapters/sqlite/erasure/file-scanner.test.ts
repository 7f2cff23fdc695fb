import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scanFiles } from "./scrub.ts";

it("combines waiting scans, with the same results in less time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-scan-"));
  try {
    const [one, other] = [join(folder, "one"), join(folder, "other")];
    writeFileSync(one, `${"x".repeat(20_000_000)} magnet pirate magnet`);
    writeFileSync(other, "lantern");
    const count = (file: string, texts: string[]) => scanFiles({ scan: "count", files: [file], texts });
    const begun = performance.now();
    expect(await count(one, ["magnet"])).toEqual([2]);
    await count(one, ["magnet"]);
    const single = (performance.now() - begun) / 2;
    const start = performance.now();
    const found = await Promise.all([
      count(one, ["magnet", "nobody"]),
      count(other, ["lantern", "magnet"]),
      ...Array.from({ length: 60 }, (_, i) => count(one, [`nobody${i}`, "pirate", "magnet"])),
      count(join(folder, "none"), ["magnet"]),
    ]);
    expect(found.slice(0, 2)).toEqual([
      [2, 0],
      [1, 0],
    ]);
    expect(found.slice(2, -1)).toEqual(Array.from({ length: 60 }, () => [0, 1, 2]));
    expect(found.at(-1)).toEqual([0]);
    expect(performance.now() - start).toBeLessThan(20 * single + 500);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
