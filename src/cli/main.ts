#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "../config/node-tuning.ts";

/** The oldest supported release of each Node line. Earlier ones bundle an SQLite with a known corruption bug (docs/decisions/0004-node-sqlite.md). */
const OLDEST: { readonly [major: number]: readonly [minor: number, patch: number] } = {
  22: [22, 3],
  24: [15, 0],
};
const [major = 0, minor = 0, patch = 0] = process.versions.node.split(".").map(Number);

// `| head` closes the pipe early, which is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(0);
    if (stream === process.stdout) process.stderr.write(`keepsake: cannot write to stdout (${code}).\n`);
    process.exit(1);
  });
}

async function main(): Promise<void> {
  enableCompileCache();
  const { exitInterrupted, toShownError } = await import("./exit.ts");
  process.on("SIGINT", exitInterrupted);
  try {
    const { createProgram, runProgram } = await import("./program.ts");
    const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version } = JSON.parse(manifest) as { version: string };
    await runProgram(createProgram(version), process.argv.slice(2));
  } catch (error) {
    // Unexpected. Users get the message without a stack trace.
    process.stderr.write(`keepsake: ${toShownError(error).message}\n`);
    process.exitCode = 1;
  }
}

function isTooOld(): boolean {
  const oldest = OLDEST[major];
  if (!oldest) return major < 24;
  return minor < oldest[0] || (minor === oldest[0] && patch < oldest[1]);
}

if (isTooOld()) {
  process.stderr.write(`keepsake: requires Node 22.22.3+ or 24.15+; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  await main();
}
