import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { WorkerHandle } from "../adapters/shared/worker-channel.ts";
import { forkWorkerProcess, getGarbageCollectorFlags } from "../adapters/shared/worker-channel.ts";
import { staticEmbedder } from "../adapters/static/index.ts";
import type { Recall } from "../domain/recall.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { createMemory } from "../memory.ts";
import type { RecallRequest } from "../ports/recall-worker.ts";
import { createRecallWorkers, type RecallWorkers, type RecallWorkersOptions } from "./recall-workers.ts";

const PROGRAM = import.meta.url;
/** Beside other tests a process may have no turn for as long as one that hangs. */
const PATIENCE_MS = 60_000;
const embedder = staticEmbedder();

let folder = "";
let keepsake: Keepsake;
let opened: RecallWorkers[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-recalling-"));
  keepsake = await createMemory({ path: join(folder, "k.db") });
});
afterEach(async () => {
  for (const one of opened) await one.close();
  opened = [];
  await keepsake.close();
  rmSync(folder, { recursive: true });
});

/** Processes over the same file, which are asked from the first recall on. */
function apart(more: Partial<RecallWorkersOptions> = {}): {
  recalling: RecallWorkers;
  begun: WorkerHandle[];
} {
  const begun: WorkerHandle[] = [];
  const recalling = createRecallWorkers(
    {
      path: join(folder, "k.db"),
      embedder,
      cacheBytes: 1e7,
      processes: 2,
      shares: false,
      busy: 1,
      hangsMs: PATIENCE_MS,
      ...more,
    },
    (data) => {
      const thread = forkWorkerProcess(PROGRAM, "./recall-worker-process", data, getGarbageCollectorFlags());
      begun.push(thread);
      return thread;
    },
  );
  if (!recalling) throw new Error("there should be processes");
  opened.push(recalling);
  return { recalling, begun };
}

async function handed(
  user: string,
  query: string,
  more: Partial<RecallRequest> = {},
): Promise<RecallRequest> {
  const [vector] = await embedder.embed([query]);
  const scope = { project: "default", user };
  return { scope, query, options: {}, vector, id: `r-${query}`, now: new Date().toISOString(), ...more };
}

/** Asks until the process has started. */
async function until(recalling: RecallWorkers, what: RecallRequest) {
  await expect.poll(() => recalling.recall(what), { timeout: 30_000 }).toBeDefined();
  const back = await recalling.recall(what);
  if (!back) throw new Error("it answered a moment ago");
  return back;
}

const told = ({ items, context, tokens, abstained }: Recall): object => ({
  items,
  context,
  tokens,
  abstained,
});

it("gives the same recalls and receipts as this process, for several users", async () => {
  const { recalling, begun } = apart();
  const people = ["ana", "ben", "cleo", "dora"];
  for (const [i, user] of people.entries()) {
    await keepsake.scope({ user }).remember(`I use Shram and Magnet${i} as productivity tools.`);
  }
  const query = "What productivity tools do I use?";
  for (const user of people) {
    const { recall, receipt } = await until(recalling, await handed(user, query));
    const here = await keepsake.scope({ user }).recall(query);
    expect(told(recall)).toEqual(told(here));
    expect(recall.id).toBe(`r-${query}`);
    expect(receipt).toMatchObject({ id: recall.id, revision: 1, kind: "recall" });
    expect(receipt.items.map(({ id }) => id)).toEqual(recall.items.map(({ id }) => id));
  }
  // Two users or more on each.
  expect(begun.length).toBe(2);
});

it("supports the options and explanations of a recall", async () => {
  const { recalling } = apart();
  const me = keepsake.scope({ user: "me" });
  await me.remember([{ role: "user", content: "I use Shram as a tool.", metadata: { a: 1 } }]);
  await me.remember("I use Magnet as a tool.");
  for (const options of [
    { limit: 1 },
    { maxTokens: 10 },
    { types: ["memory"] as const },
    { explain: true },
    { where: { a: 1 } },
    { asOf: new Date(0) },
    { knownAt: new Date(0) },
  ]) {
    const { recall } = await until(recalling, await handed("me", "What tools do I use?", { options }));
    const here = await me.recall("What tools do I use?", options);
    expect(told(recall)).toEqual(told(here));
    expect(recall.explanation?.considered).toEqual(here.explanation?.considered);
  }
});

it("sees writes, changes and erasures at once", async () => {
  const { recalling } = apart();
  const me = keepsake.scope({ user: "me" });
  const tools = async (): Promise<string[]> => {
    const { recall } = await until(recalling, await handed("me", "What tools do I use?"));
    return recall.items.filter(({ status }) => status === "current").map(({ text }) => text);
  };
  for (let i = 0; i < 5; i += 1) {
    await me.remember(`I use Shram${i} and Magnet${i} as tools.`);
    expect((await tools()).join(" ")).toContain(`Magnet${i}`);
    await me.remember(`Forget that I ever mentioned Magnet${i}.`);
    await recalling.purgeUser({ project: "default", user: "me" });
    expect(JSON.stringify(await tools())).not.toContain(`Magnet${i}`);
  }
});

it("starts no process until there are many recalls per second", async () => {
  const { recalling, begun } = apart({ busy: 20, processes: 1 });
  await keepsake.scope({ user: "me" }).remember("I use Shram as a tool.");
  const what = await handed("me", "What tools do I use?");
  for (let i = 0; i < 5; i += 1) expect(await recalling.recall(what)).toBeUndefined();
  expect(begun).toEqual([]);
  expect(recalling.hasStarted()).toBe(false);
  for (let i = 0; i < 60; i += 1) await recalling.recall(what);
  expect(recalling.hasStarted()).toBe(true);
  const often = async () => {
    for (let i = 0; i < 20; i += 1) await recalling.recall(what);
    return recalling.recall(what);
  };
  await expect.poll(often, { timeout: 30_000 }).toBeDefined();
});

it("gives undefined if its process ends or cannot start, and the recall runs in this process", async () => {
  const { recalling, begun } = apart({ processes: 1 });
  await keepsake.scope({ user: "me" }).remember("I use Shram as a tool.");
  const what = await handed("me", "What tools do I use?");
  await until(recalling, what);
  const going = recalling.recall(what);
  await begun[0]?.terminate();
  await going;
  expect(await recalling.recall(what)).toBeUndefined();
  expect(recalling.hasStarted()).toBe(false);
  const lost = { path: "k.db", embedder, cacheBytes: 1, processes: 1, shares: false, busy: 1 };
  const none = createRecallWorkers(lost, () => {
    throw new Error("no process to be had");
  });
  expect(await none?.recall(what)).toBeUndefined();
  expect(createRecallWorkers({ path: "k.db", embedder, cacheBytes: 1, processes: 0 })).toBeUndefined();
});

it("leaves a fixed share of the users to the main process", async () => {
  const { recalling } = apart({ processes: 1, shares: true });
  await keepsake.scope({ user: "user-0" }).remember("I use Shram as a tool.");
  const asked = await Promise.all(Array.from({ length: 100 }, (_, i) => handed(`user-${i}`, "Which tools?")));
  const elsewhere = async (): Promise<string[]> => {
    const backs = await Promise.all(asked.map((one) => recalling.recall(one)));
    return asked.filter((_, i) => backs[i]).map(({ scope }) => scope.user);
  };
  await expect.poll(async () => (await elsewhere()).length, { timeout: 30_000 }).toBeGreaterThan(0);
  const first = await elsewhere();
  expect(first.length).toBeGreaterThan(30);
  expect(first.length).toBeLessThan(70);
  expect(await elsewhere()).toEqual(first);
});

/** The process over this test's file. Linux alone tells. */
function pidOfOther(): number {
  const words = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      // Gone a moment ago.
      return "";
    }
  };
  const pids = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && pid !== `${process.pid}`);
  return Number(pids.find((pid) => words(pid).includes(folder)));
}

it.skipIf(!existsSync("/proc/self/cmdline"))(
  "stops a process that hangs, without waiting for it",
  async () => {
    const { recalling } = apart({ processes: 1, hangsMs: 5000 });
    await keepsake.scope({ user: "me" }).remember("I use Shram as a tool.");
    const what = await handed("me", "What tools do I use?");
    await until(recalling, what);
    const pid = pidOfOther();
    process.kill(pid, "SIGSTOP");
    expect(await recalling.recall(what)).toBeUndefined();
    expect(recalling.hasStarted()).toBe(false);
    expect(() => process.kill(pid, 0)).toThrow();
  },
);

it("rejects when the caller's signal fires, and leaves uncopyable requests to this process", async () => {
  const { recalling } = apart({ processes: 1 });
  await keepsake.scope({ user: "me" }).remember("I use Shram as a tool.");
  const what = await handed("me", "What tools do I use?");
  await until(recalling, what);
  const stopping = new AbortController();
  const asked = recalling.recall(what, { signal: stopping.signal });
  stopping.abort(new Error("enough"));
  await expect(asked).rejects.toThrow("enough");
  await expect(recalling.recall(what, { signal: stopping.signal })).rejects.toThrow("enough");
  const strange = { ...what, options: { limit: (() => 1) as unknown as number } };
  expect(await recalling.recall(strange)).toBeUndefined();
  expect(await recalling.recall(what)).toBeDefined();
});

it("adds its cache hits to the metrics of the main process", async () => {
  const counted: string[] = [];
  const meter = { count: (name: string) => void counted.push(name), observe() {}, set() {} };
  const recalling = createRecallWorkers(
    { path: join(folder, "k.db"), embedder, cacheBytes: 1e7, processes: 1, shares: false, busy: 1, meter },
    (data) => forkWorkerProcess(PROGRAM, "./recall-worker-process", data, getGarbageCollectorFlags()),
  );
  if (!recalling) throw new Error("there should be a process");
  opened.push(recalling);
  await keepsake.scope({ user: "me" }).remember("I use Shram as a tool.");
  await until(recalling, await handed("me", "What tools do I use?"));
  expect(counted).toContain("cache_misses_total");
  expect(counted).toContain("cache_hits_total");
});
