import { spawnSync } from "node:child_process";
import { join } from "node:path";

/*
 * node test/oauth/count-attacks.ts
 *
 * Runs the attacks on OAuth and prints one line: how many were tried, and how many came through. Ends with 1 if one came
 * through, or if there are fewer than 50.
 */

const ROOT = join(import.meta.dirname, "../..");
const LEAST = 50;

const { stdout, status } = spawnSync(
  process.execPath,
  [
    join(ROOT, "node_modules/vitest/vitest.mjs"),
    "run",
    "--project=system",
    "--reporter=dot",
    "src/http/oauth/attacks-on-tokens.test.ts",
    "src/http/oauth/attacks-on-consent.test.ts",
  ],
  { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
);
const counts = [...stdout.matchAll(/attacks on OAuth: (\d+) tried, (\d+) came through/g)];
const sum = (part: 1 | 2): number => counts.reduce((total, count) => total + Number(count[part]), 0);
const [tried, through] = [sum(1), sum(2)];
process.stdout.write(`Attacks on OAuth: ${tried} tried, ${through} came through.\n`);
if (status !== 0 || through > 0 || tried < LEAST) {
  process.stderr.write(stdout);
  process.exitCode = 1;
}
