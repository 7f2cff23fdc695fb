import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { join } from "node:path";

const SYNCS = 300;
const PAGE_BYTES = 4096;

/** The machine in words: cores, memory, and how long its disk takes to make a page durable. */
export function describeMachine(): string {
  const { p50, p99 } = measureSyncs();
  const memory = Math.round(totalmem() / 2 ** 30);
  const system = `${process.platform} ${process.arch}, Node ${process.versions.node}`;
  return `${availableParallelism()} cores, ${memory} GiB of memory, fdatasync p50 ${p50.toFixed(2)} ms and p99 ${p99.toFixed(2)} ms, ${system}`;
}

/** Where the programs put their files. */
function measureSyncs(): { readonly p50: number; readonly p99: number } {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-syncs-"));
  const descriptor = openSync(join(folder, "page"), "w");
  try {
    const page = Buffer.alloc(PAGE_BYTES, 1);
    const took = Array.from({ length: SYNCS }, (_, at) => {
      writeSync(descriptor, page, 0, PAGE_BYTES, at * PAGE_BYTES);
      const begun = performance.now();
      fdatasyncSync(descriptor);
      return performance.now() - begun;
    }).sort((one, other) => one - other);
    return { p50: took[Math.floor(SYNCS * 0.5)] ?? 0, p99: took[Math.floor(SYNCS * 0.99)] ?? 0 };
  } finally {
    closeSync(descriptor);
    rmSync(folder, { recursive: true });
  }
}
