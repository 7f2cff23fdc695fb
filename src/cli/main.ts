#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "../config/node-tuning.ts";

/** The oldest release of each line of Node that brings a SQLite new enough (docs/decisions/0004-node-sqlite.md). */
const OLDEST: { readonly [major: number]: readonly [minor: number, patch: number] } = {
  22: [22, 3],
  24: [15, 0],
};
const [major = 0, minor = 0, patch = 0] = process.versions.node.split(".").map(Number);

// `| head` closes the pipe early: that is no error of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(0);
    if (stream === process.stdout) process.stderr.write(`keepsake: stdout cannot be written (${code}).\n`);
    process.exit(1);
  });
}

async function main(): Promise<void> {
  enableCompileCache();
  const { exitInterrupted: interrupted, toShownError: shownError } = await import("./exit.ts");
  process.on("SIGINT", interrupted);
  try {
    const { createProgram: program, runProgram: run } = await import("./program.ts");
    const about = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version } = JSON.parse(about) as { version: string };
    await run(program(version), process.argv.slice(2));
  } catch (error) {
    // Nothing should come here; if it does, a stack trace helps nobody who reads it.
    process.stderr.write(`keepsake: ${shownError(error).message}\n`);
    process.exitCode = 1;
  }
}

function isTooOld(): boolean {
  const oldest = OLDEST[major];
  if (!oldest) return major < 24;
  return minor < oldest[0] || (minor === oldest[0] && patch < oldest[1]);
}

if (isTooOld()) {
  process.stderr.write(
    `keepsake: it needs Node 22.22.3, or 24.15 and newer; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  await main();
}
