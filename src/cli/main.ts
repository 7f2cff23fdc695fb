#!/usr/bin/env node
import { readFileSync } from "node:fs";

const OLDEST = [22, 18] as const;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

// `| head` closes the pipe early: that is no error of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(0);
    if (stream === process.stdout) process.stderr.write(`keepsake: stdout cannot be written (${code}).\n`);
    process.exit(1);
  });
}

async function main(): Promise<void> {
  const { interrupted, shownError } = await import("./exit.ts");
  process.on("SIGINT", interrupted);
  try {
    const { program, run } = await import("./program.ts");
    const about = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version } = JSON.parse(about) as { version: string };
    await run(program(version), process.argv.slice(2));
  } catch (error) {
    // Nothing should come here; if it does, a stack trace helps nobody who reads it.
    process.stderr.write(`keepsake: ${shownError(error).message}\n`);
    process.exitCode = 1;
  }
}

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `keepsake: it needs Node ${OLDEST.join(".")} or newer; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  await main();
}
