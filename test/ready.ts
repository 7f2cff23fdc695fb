import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Runs once before all tests. */
export function setup(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, "../scripts/ready.mjs")], {
    stdio: ["ignore", 2, 2],
  });
}
