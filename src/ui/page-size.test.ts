import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readPageAssets } from "./index.ts";

/** Everything that a browser loads for the page, in bytes of gzip. */
const MOST_BYTES = 150_000;

describe("the files of the page", () => {
  it("are at most 150 KB together when each is compressed, with every script that another one imports", () => {
    const assets = readPageAssets();
    const served = new Set(assets.map(({ path }) => path));
    const imported = assets.flatMap(({ path, body }) =>
      [...body.matchAll(/from "(\.[\w./-]+\.js)"/g)].map(
        ([, file = ""]) => new URL(file, `http://page${path}`).pathname,
      ),
    );
    expect(imported.length).toBeGreaterThan(100);
    expect(imported.filter((path) => !served.has(path))).toEqual([]);
    const bytes = assets.reduce((sum, { body }) => sum + gzipSync(body).length, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  });
});
