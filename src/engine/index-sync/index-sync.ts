import type { Scope } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { NO_METER } from "../../ports/telemetry.ts";
import type { Drift, Indexes, IndexProgress } from "../api/index-types.ts";
import { createJobRunner, type JobRunner } from "../jobs/job-runner.ts";
import type { Ports } from "../ports.ts";
import type { IndexSearch, IndexSync } from "../services.ts";
import { callIndexInTurn } from "./call-index.ts";
import { dropEntries, eraseFromIndex, finishOpenErasures } from "./erase-from-indexes.ts";
import { createIndexSearch } from "./index-search.ts";
import { countUsers, createIndexUpdater, feedAllUsers, type IndexUpdater } from "./index-updater.ts";
import { repairInconsistencies } from "./repair-inconsistencies.ts";

const DEFAULT_FROM_UNITS = 50_000;
const TIMEOUT_MS = 50;
/** The first requests come first. */
const START_MS = 100;
const ERASE_MS = 5000;
const ORPHANS_MS = 30_000;
/** A command that ends leaves the rest to the next one if an index takes longer. */
const FINAL_WAIT_MS = 1000;
const POLL_MS = 10;

type IndexSyncPorts = Pick<
  Ports,
  "store" | "embedder" | "secret" | "clock" | "meter" | "followers" | "indexSearch"
>;

/** Starts feeding every index. Undefined if there is none. */
export function startIndexSync(ports: IndexSyncPorts): IndexSync | undefined {
  const { followers = [], indexSearch: { erasureMs = ERASE_MS } = {} } = ports;
  if (followers.length === 0) return undefined;
  const names = followers.map(({ name }) => name);
  if (new Set(names).size < names.length)
    throw invalid("Two indexes have the same name. Give each a different name.");
  const stopping = new AbortController();
  const feeders = followers.map((index) => createIndexUpdater(ports, index));
  const runners = new Map<IndexUpdater, JobRunner>();
  for (const feeder of feeders)
    runners.set(feeder, createJobRunner(ports, withErasureRetries(ports, feeder), stopping.signal));
  for (const one of runners.values()) one.start(START_MS);

  const search = createSearch(ports, feeders, stopping.signal, (feeder) =>
    runners.get(feeder)?.start(feeder.requestFullCheck()),
  );
  const named = (name: string): { feeder: IndexUpdater; one: JobRunner } => {
    const feeder = feeders.find(({ index }) => index.name === name);
    const one = feeder && runners.get(feeder);
    if (feeder && one) return { feeder, one };
    throw new MemoryError("not_found", `no index is called "${name}". Available: ${names.join(", ")}.`);
  };

  return {
    names,
    nearest: search.nearest,
    onCommit(scope) {
      for (const [feeder, one] of runners) {
        feeder.markChanged(scope);
        one.requestRun();
      }
    },
    erase: (scope, ids) =>
      Promise.all(feeders.map((feeder) => eraseFromIndex(ports, feeder, { scope, ids, ms: erasureMs }))),
    jobs: () => Promise.all([...runners.values()].map((one) => one.state())),
    lag: () =>
      [...runners].map(([feeder, one]) => ({
        name: feeder.index.name,
        behind: feeder.countBehind(),
        isFailing: one.problem() !== undefined,
      })),
    rebuild(name, signal) {
      const { feeder, one } = named(name);
      return one.runNow((stopped) => rebuildIndex(ports, feeder, stopped), signal);
    },
    async repairInconsistencies(name, { signal, ...rest } = {}) {
      const { feeder, one } = named(name);
      let found: Drift | undefined;
      const looking = one.runNow(async function* (stopped): AsyncGenerator<Drift, void, void> {
        await feeder.ensureReady(stopped);
        for await (const _step of feedAllUsers(ports, feeder, stopped)) stopped.throwIfAborted();
        yield await repairInconsistencies(ports, feeder, { ...rest, signal: stopped });
      }, signal);
      for await (const drift of looking) found = drift;
      if (found) return found;
      throw new MemoryError("unavailable", `the index "${name}" could not be checked.`);
    },
    async stop() {
      await waitForUpdates(runners);
      stopping.abort(new MemoryError("unavailable", "this memory has been closed."));
      await Promise.all([...runners.values()].map((one) => one.end()));
      for (const { cursors } of feeders) await cursors.flush();
    },
  };
}

function createSearch(
  ports: IndexSyncPorts,
  feeders: readonly IndexUpdater[],
  stopped: AbortSignal,
  looksAgain: (feeder: IndexUpdater) => void,
): IndexSearch {
  const { meter = NO_METER, indexSearch: { from = DEFAULT_FROM_UNITS, timeoutMs = TIMEOUT_MS } = {} } = ports;
  return createIndexSearch(
    ports,
    feeders,
    { from, timeoutMs },
    {
      onOrphans(feeder, scope, ids) {
        const { index } = feeder;
        meter.count("memory_index_strays_total", { index: index.name }, ids.length);
        // `dropEntries` puts back what it drops if the store still has it.
        const drop = (call: CallOptions) => dropEntries(ports, feeder, scope, ids, call);
        void callIndexInTurn(index, scope, ORPHANS_MS, drop, stopped).catch(() => looksAgain(feeder));
      },
      onIncomplete: looksAgain,
    },
  );
}

/** Clears an index and brings it up to date with the store. */
async function* rebuildIndex(
  ports: IndexSyncPorts,
  feeder: IndexUpdater,
  signal: AbortSignal,
): AsyncGenerator<IndexProgress, void, void> {
  await feeder.ensureReady(signal, { anew: true });
  const of = await countUsers(ports, feeder);
  for await (const { users, entries } of feedAllUsers(ports, feeder, signal)) {
    yield { users, of: Math.max(of, users), entries };
  }
  await finishOpenErasures(ports, feeder, signal);
}

/** Waits a moment at most until healthy indexes have this process's last writes. */
async function waitForUpdates(runners: ReadonlyMap<IndexUpdater, JobRunner>): Promise<void> {
  const end = performance.now() + FINAL_WAIT_MS;
  const isAtWork = ([feeder, one]: readonly [IndexUpdater, JobRunner]): boolean =>
    one.problem() === undefined && (feeder.countBehind() > 0 || one.isRunning());
  while ([...runners].some(isAtWork) && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The updater's job. After it has caught up, it also completes erasures that could not reach the index. */
function withErasureRetries(ports: IndexSyncPorts, feeder: IndexUpdater): IndexUpdater["job"] {
  return {
    ...feeder.job,
    async *run(signal) {
      yield* feeder.job.run(signal);
      await finishOpenErasures(ports, feeder, signal);
    },
  };
}

/** The indexes of a memory for its caller; `check` throws if the memory is closed. */
export function createIndexes(follow: IndexSync | undefined, check: () => void): Indexes {
  const theirs = (name: string): IndexSync => {
    check();
    if (follow) return follow;
    throw new MemoryError(
      "not_found",
      `no index is called "${name}": this memory has none. Configure one with KEEPSAKE_FOLLOWER.`,
    );
  };
  return {
    names: follow?.names ?? [],
    rebuild: (name, { signal } = {}) => theirs(name).rebuild(name, signal),
    drift: async (name, options) => theirs(name).repairInconsistencies(name, options),
  };
}

/** The same store, which reports each commit of this process once it is durable. */
export function notifyOnCommit(store: MemoryStore, written: (scope: Scope) => void): MemoryStore {
  return {
    ...store,
    async commit(scope, changes) {
      const revision = await store.commit(scope, changes);
      written(scope);
      return revision;
    },
  };
}
