import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import type { RunOptions } from "./report.ts";

/** A folder of made-up data for a test, gone after it. `files`: path -> what stands in it as JSON. */
export function madeUp(files: { readonly [path: string]: unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-eval-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.isBuffer(content) ? content : JSON.stringify(content));
  }
  return folder;
}

/** Options of a run over a folder, without progress. */
export function options(data: string): RunOptions {
  return { data, embedder: staticEmbedder(), progress: () => undefined };
}
