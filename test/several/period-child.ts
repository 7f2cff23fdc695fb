import { writeSync } from "node:fs";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createJobRunner } from "../../src/engine/jobs/job-runner.ts";
import type { MemoryStore } from "../../src/ports/memory-store.ts";

/**
 * One of several processes that run a job on one record: `period-child.ts PLACE EVERY TAKES`. Says "begin N" and "end N" of each
 * run, with the time in ms, until it is told to stop.
 */
const [, , place = "", every = "0", takes = "0"] = process.argv;

async function open(): Promise<MemoryStore> {
  if (place === "") return createInMemoryStore();
  if (!place.startsWith("postgres")) return openSqliteStore({ path: place });
  const { openServerStore } = await import("../../src/config/backends/connections.ts");
  const secret = "a-secret-for-this-run-only-0123456789";
  return (await openServerStore({ postgres: { url: place } }, { secret })).record;
}

const record = await open();
const stopping = new AbortController();
const say = (word: string): number => writeSync(1, `${word} ${Date.now()}\n`);
const one = createJobRunner(
  { clock: () => new Date(), store: record },
  {
    name: "decay",
    about: "says when it runs",
    everyMs: Number(every),
    restFactor: 0,
    async *run(signal) {
      say("begin");
      await new Promise((resolve) => setTimeout(resolve, Number(takes)));
      signal.throwIfAborted();
      say("end");
      yield { done: 1 };
    },
  },
  stopping.signal,
);
const awake = setInterval(() => {}, 60_000);
one.start(0);
say("ready");
process.once("SIGTERM", async () => {
  stopping.abort(new Error("stopped"));
  clearInterval(awake);
  await one.end();
  await record.close();
  process.exit(0);
});
