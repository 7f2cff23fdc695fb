import { availableParallelism } from "node:os";
import type { ViteUserConfig } from "vitest/config";
import { leftOut } from "./test/left-out.ts";

/** Tests that hold a time against a bar. Others beside them would be measured, too. */
const TIMED = [
  "src/engine/forget/much.test.ts",
  "src/http/long-turns.test.ts",
  "bench/stalls/stalls.test.ts",
  "test/crash/server-stop.test.ts",
  "test/e2e/embedders.test.ts",
  "test/faults/soak.test.ts",
];

const config: ViteUserConfig = {
  test: {
    // They end what hangs, and say nothing of speed: on a machine that others use, everything takes several times as long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", leftOut()],
    // All cores: Vitest leaves one out, which on a machine of two is half of them.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      // Beside the source, each a matter of milliseconds: they speak first.
      {
        extends: true,
        test: {
          name: "parts",
          // They change nothing of their process: threads are up sooner than processes of their own.
          pool: "threads",
          // And what they share is not changed by them: loaded once a thread, not once a file, half of the tree is there at once.
          isolate: false,
          // One more than there are cores: some of them wait for clocks and servers.
          maxWorkers: Math.max(2, availableParallelism()) + 1,
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts"],
          exclude: TIMED,
          sequence: { groupOrder: 0 },
        },
      },
      // The product as a whole: processes, the packed package, the documents.
      {
        extends: true,
        test: {
          name: "whole",
          // Makes dist/ as new as src/, for the tests that start the program, where vitest is called without npm.
          globalSetup: "test/ready.ts",
          include: ["test/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: TIMED,
          sequence: { groupOrder: 1 },
        },
      },
      // One after the other, with the machine to themselves.
      {
        extends: true,
        test: {
          name: "timed",
          globalSetup: "test/ready.ts",
          include: TIMED,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
};

// Vitest reads its settings from a default export, the one place where this tree has one.
export default config;
