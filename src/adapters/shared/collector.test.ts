import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { getGarbageCollectorFlags } from "./worker-channel.ts";

/** Makes a hundred arrays of 4 MB beside the heap, which are let go of at once; prints how often everything was collected. */
const PROGRAM = `
  const { setFlagsFromString } = require("node:v8");
  for (const word of process.argv.slice(1)) setFlagsFromString(word);
  const kept = Array.from({ length: 300000 }, (_, i) => ({ i }));
  for (let i = 0; i < 100; i += 1) new Float32Array(1_000_000).fill(i);
  globalThis.kept = kept;
`;

/** What Node says of a program with words for V8, given to it at its start or by itself. */
function run(atStart: readonly string[], byItself: readonly string[]): string {
  const ran = spawnSync(process.execPath, [...atStart, "--trace-gc", "-e", PROGRAM, ...byItself], {
    encoding: "utf8",
  });
  expect(ran.status).toBe(0);
  return ran.stdout + ran.stderr;
}

const collections = (said: string): number => said.split("Mark-Compact").length - 1;

it("gives V8 options that this Node knows, and collects no more often with them", () => {
  const without = collections(run([], []));
  for (const said of [run(getGarbageCollectorFlags(), []), run([], getGarbageCollectorFlags())]) {
    expect(said).not.toMatch(/unrecognized|bad option/);
    expect(collections(said)).toBeLessThanOrEqual(without);
  }
});

it.runIf(process.versions.v8.startsWith("13.6."))("are there for the Node whose collector needs them", () => {
  expect(collections(run([], []))).toBeGreaterThan(0);
  expect(collections(run([], getGarbageCollectorFlags()))).toBe(0);
});
