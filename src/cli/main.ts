#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "../config/node-tuning.ts";
import { findNodeProblem } from "../domain/operations/node-version.ts";

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

const isHook = process.argv[2] === "hook" && process.argv.includes("--client");
const problem = findNodeProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`keepsake: ${problem}\n`);
  // A hook never fails its client.
  process.exitCode = isHook ? 0 : 1;
} else if (isHook) {
  // A client waits for it, so it loads nothing else.
  enableCompileCache();
  await (await import("./hooks/hook.ts")).runHook(process.argv.slice(3));
} else {
  await main();
}
