import { execFileSync } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** Runs once before all tests. */
export function setup(): void {
  // Hundreds of programs are started by tests: what Node compiled for one serves the next.
  process.env.NODE_COMPILE_CACHE ??= join(ROOT, "node_modules/.cache/compiled");
  execFileSync(process.execPath, [join(ROOT, "scripts/ready.mjs")], {
    stdio: ["ignore", 2, 2],
  });
}
