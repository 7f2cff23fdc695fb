#!/usr/bin/env node
import { readFileSync } from "node:fs";

const OLDEST = [22, 18] as const;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

// `| head` closes the pipe early: that is no error of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `keepsake: it needs Node ${OLDEST.join(".")} or newer; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  const { program, run } = await import("./program.ts");
  const about = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  await run(program(about.version), process.argv.slice(2));
}
