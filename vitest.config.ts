import { availableParallelism } from "node:os";
import type { ViteUserConfig } from "vitest/config";
import { leftOut } from "./test/left-out.ts";

/** Tests that hold a time against a bar. Other tests beside them would be measured, too. */
const TIMED = [
  "src/language/en/forget-requests/much.test.ts",
  "src/http/long-turns.test.ts",
  "bench/stalls/stalls.test.ts",
  "test/crash/server-stop.test.ts",
  "test/e2e/embedders.test.ts",
  "test/faults/soak.test.ts",
  "test/pains/writing.test.ts",
];

/** Tests against real servers and installed models: `test/services/up` starts the servers. */
const SERVICES = [
  "src/adapters/{bullmq,chroma,cross-encoder,faiss,mariadb,minilm,pinecone,postgres,postgres-index,redis,s3-vectors,sentence-transformers}/**/*.test.ts",
  "src/adapters/backups/s3-archive.test.ts",
  "test/{backends,mariadb,several}/**/*.test.ts",
];

/** Tests in Firefox, by WebDriver BiDi: where `firefox-esr` is installed. Every task of the page is tested in Chromium by the others. */
const IN_FIREFOX = ["test/e2e/page-firefox.test.ts"];

/** Tests beside the source that start threads and processes, or wait for readers of a file: tens of seconds each. */
const OF_PROCESSES = [
  "src/adapters/rules/thread.test.ts",
  "src/adapters/sqlite/writing-thread.test.ts",
  "src/adapters/sqlite/erasure/scrub.test.ts",
  "src/adapters/sqlite/erasure/erase-in-steps.test.ts",
  "src/wiring/recall-workers.test.ts",
  "scripts/ready.test.ts",
];

/** Tests beside the source that play many samples, attacks or random histories through a whole memory: tens of seconds each. */
const OF_SAMPLES = [
  "scripts/conflicts.test.ts",
  "src/adapters/encryption/sealed-store.test.ts",
  "src/engine/properties.test.ts",
  "src/engine/associations/properties.test.ts",
  "src/engine/{replay,sharing}/histories.test.ts",
  "src/http/oauth/attacks-on-{consent,tokens}.test.ts",
  "src/language/en/grammar/stories.test.ts",
  "src/language/en/grammar/changes/changes.test.ts",
];

/** Tests of the whole tree that read sources and start nothing. */
const OF_THE_TREE = ["test/architecture.test.ts", "test/names.test.ts", "test/left-out.test.ts"];

const sourceOf = (path: string): string => new URL(`./src/${path}`, import.meta.url).pathname;

const config: ViteUserConfig = {
  test: {
    // They end what hangs, and say nothing of speed: on a machine that others use, everything takes several times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    reporters: ["default", leftOut()],
    // All cores: Vitest leaves one out, which on a machine of two is half of them.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      // `npm test`: in this process, with nothing but Node.
      {
        extends: true,
        // Examples import the package by its name. Here that is the source, which needs no build.
        resolve: {
          alias: [
            { find: /^keepsake$/, replacement: sourceOf("index.ts") },
            { find: /^keepsake\/testing$/, replacement: sourceOf("testing/index.ts") },
            { find: /^keepsake\/adapters\/memory$/, replacement: sourceOf("adapters/memory/index.ts") },
          ],
        },
        test: {
          name: "fast",
          // They change nothing of their process: threads are up sooner than processes of their own.
          pool: "threads",
          // What they share is not changed by them. It is loaded once a thread, not once a file, and half of the tree is there at once.
          isolate: false,
          // One more than there are cores: some of them wait for clocks.
          maxWorkers: Math.max(2, availableParallelism()) + 1,
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts", "examples/**/*.test.ts", ...OF_THE_TREE],
          exclude: [...TIMED, ...SERVICES, ...OF_PROCESSES, ...OF_SAMPLES],
          sequence: { groupOrder: 0 },
        },
      },
      // `npm run test:services`.
      {
        extends: true,
        test: {
          name: "services",
          globalSetup: "test/ready.ts",
          include: SERVICES,
          sequence: { groupOrder: 1 },
        },
      },
      // `npm run test:system`: the product as a whole. Processes, kills, faults, the packed package, the documents, large samples.
      {
        extends: true,
        test: {
          name: "system",
          // Makes dist/ as new as src/, for the tests that start the program, where vitest is called without npm.
          globalSetup: "test/ready.ts",
          include: ["test/**/*.test.ts", "bench/**/*.test.ts", ...OF_PROCESSES, ...OF_SAMPLES],
          exclude: [...TIMED, ...SERVICES, ...OF_THE_TREE, ...IN_FIREFOX],
          sequence: { groupOrder: 2 },
        },
      },
      // `npx vitest run --project firefox`: the page in the other engine.
      {
        extends: true,
        test: {
          name: "firefox",
          globalSetup: "test/ready.ts",
          include: IN_FIREFOX,
          sequence: { groupOrder: 4 },
        },
      },
      // The same, one after the other, with the machine to themselves.
      {
        extends: true,
        test: {
          name: "timed",
          globalSetup: "test/ready.ts",
          include: TIMED,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
};

// Vitest reads its settings from a default export, the one place where this tree has one.
export default config;
