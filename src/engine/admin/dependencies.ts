import type { CallOutcome } from "../../domain/model-usage.ts";
import type { BackupPlan } from "../../ports/backup-archive.ts";
import type { CircuitState } from "../../ports/language/model-calls.ts";
import type { DependencyState } from "../api/inspection-types.ts";
import { findNewestBackup } from "../jobs/backup-job.ts";
import type { Ports } from "../ports.ts";
import type { ModelServerState, ModelServers } from "../services.ts";

/** Checks in the background whether the configured services answer. */
export interface DependencyWatch {
  /** The last known states, always in the same order. Never waits. */
  states(): readonly DependencyState[];
  stop(): void;
}

const PROBE_INTERVAL_MS = 5000;
/** Hosted indexes charge for each request. */
const HOSTED_INTERVAL_MS = 60_000;
/** A bucket charges for each list. */
const ARCHIVE_INTERVAL_MS = 60_000;
/** A backup that is so late is overdue: the job runs once an hour, and may take a while. */
const OVERDUE_MS = 2 * 3_600_000;
/** A service that has not answered by then is down. */
const PROBE_TIMEOUT_MS = 2000;
const SLOW_MS = PROBE_TIMEOUT_MS / 2;
/** An index that lacks a change older than this is behind. */
const BEHIND_MS = 60_000;
/** A user that does not exist. */
const PROBE_USER = { project: "default", user: "readiness" };

type WatchedPorts = Pick<
  Ports,
  | "store"
  | "sessions"
  | "cache"
  | "queue"
  | "followers"
  | "indexSync"
  | "modelServers"
  | "backups"
  | "clock"
  | "meter"
>;

interface DependencyProbe {
  readonly kind: string;
  readonly name?: string;
  readonly everyMs?: number;
  ask(signal: AbortSignal): Promise<unknown>;
  /** What is wrong with a service that answers, as far as this process knows; undefined if nothing is. */
  findProblem?(): DependencyFinding | undefined;
  /** When it last did what it is for (ISO 8601). */
  getLastSuccess?(): string | undefined;
}

interface DependencyName {
  readonly kind: string;
  readonly name?: string | undefined;
}

function toDependencyKey({ kind, name = "" }: DependencyName): string {
  return `${kind} ${name}`;
}

type DependencyFinding = Pick<DependencyState, "state" | "problem">;

/**
 * Starts to check the services: at once and then every five seconds, a hosted index once a minute. The timer
 * keeps no process alive. Model servers are not probed: their state follows from the regular requests.
 */
export function watchDependencies(ports: WatchedPorts): DependencyWatch {
  const { clock, meter, modelServers, indexSync } = ports;
  const lag = createLagWatch(indexSync);
  const probes = createProbes(ports, lag);
  const states = new Map<string, DependencyState>();
  const answered = new Map<DependencyProbe, { readonly found: DependencyFinding; readonly at: number }>();
  const note = (
    { kind, name }: DependencyName,
    { state, problem }: DependencyFinding,
    lastSuccess?: string,
  ): void => {
    const key = toDependencyKey({ kind, name });
    const known = states.get(key);
    const since = known?.state === state ? known.since : clock().toISOString();
    states.set(key, {
      kind,
      ...(name === undefined ? {} : { name }),
      state,
      since,
      ...(problem === undefined ? {} : { problem }),
      ...(lastSuccess === undefined ? {} : { lastSuccess }),
    });
    const labels = { kind, name: name ?? kind };
    meter?.set("keepsake_dependency_up", state === "down" ? 0 : 1, labels);
    meter?.set("keepsake_dependency_state", { up: 0, degraded: 1, down: 2 }[state], labels);
  };
  const lookAt = async (probe: DependencyProbe): Promise<void> => {
    const last = answered.get(probe);
    const isDue = last === undefined || performance.now() - last.at >= (probe.everyMs ?? 0);
    const found = isDue ? await runProbe(probe) : last.found;
    if (isDue) answered.set(probe, { found, at: performance.now() });
    const problem = found.state === "up" ? probe.findProblem?.() : undefined;
    note(probe, problem ?? found, probe.getLastSuccess?.());
  };
  let isAtWork = false;
  const look = async (): Promise<void> => {
    if (isAtWork) return;
    isAtWork = true;
    lag.look();
    await Promise.all(probes.map(lookAt));
    noteModels();
    isAtWork = false;
  };
  const noteModels = (): void => {
    for (const one of modelServers?.states() ?? []) note(one, toModelServerFinding(one));
  };
  void look();
  const timer = setInterval(() => void look(), PROBE_INTERVAL_MS);
  timer.unref();
  return {
    states() {
      noteModels();
      const places: readonly DependencyName[] = [...probes, ...(modelServers?.states() ?? [])];
      return places.flatMap((one) => states.get(toDependencyKey(one)) ?? []);
    },
    stop: () => clearInterval(timer),
  };
}

function toModelServerFinding({ circuit, hasFailed }: ModelServerState): DependencyFinding {
  if (circuit === "open") return { state: "down", problem: "circuit" };
  if (circuit === "half_open") return { state: "degraded", problem: "circuit" };
  return hasFailed ? { state: "degraded", problem: "failing" } : { state: "up" };
}

interface LagWatch {
  look(): void;
  isBehind(name: string): boolean;
}

/** Tracks since when each index has had pending changes. */
function createLagWatch(indexSync: Ports["indexSync"]): LagWatch {
  const since = new Map<string, number>();
  return {
    look() {
      for (const { name, behind, isFailing } of indexSync?.lag() ?? []) {
        if (behind === 0 && !isFailing) since.delete(name);
        else if (!since.has(name)) since.set(name, performance.now());
      }
    },
    isBehind: (name) => performance.now() - (since.get(name) ?? Number.POSITIVE_INFINITY) > BEHIND_MS,
  };
}

function createProbes(ports: WatchedPorts, lag: LagWatch): DependencyProbe[] {
  const { store, sessions, cache, queue, followers = [], backups } = ports;
  const probes: DependencyProbe[] = [
    { kind: "record", name: store.name, ask: () => store.revision(PROBE_USER) },
  ];
  if (sessions) probes.push({ kind: "sessions", ask: (signal) => sessions.active(PROBE_USER, { signal }) });
  if (cache) probes.push({ kind: "cache", ask: (signal) => cache.get(PROBE_USER, "readiness", { signal }) });
  if (queue) probes.push({ kind: "queue", ask: async () => (await queue.isUp()) || Promise.reject() });
  for (const one of followers) {
    probes.push({
      kind: "index",
      name: one.name,
      everyMs: one.isHosted ? HOSTED_INTERVAL_MS : 0,
      ask: (signal) => one.held(PROBE_USER, ["readiness"], { signal }),
      findProblem: () => (lag.isBehind(one.name) ? { state: "degraded", problem: "behind" } : undefined),
    });
  }
  if (backups) probes.push(createBackupsProbe(ports, backups));
  return probes;
}

/** Asks the place of the backups for its list, and knows from the store when the newest checked backup was made. */
function createBackupsProbe({ store, clock }: WatchedPorts, plan: BackupPlan): DependencyProbe {
  const startedAt = clock().getTime();
  let newest: number | undefined;
  return {
    kind: "backups",
    name: plan.archive.name,
    everyMs: ARCHIVE_INTERVAL_MS,
    async ask(signal) {
      newest = await findNewestBackup({ store, clock });
      await plan.archive.list({ signal });
    },
    findProblem() {
      // The first one is due at the start.
      const dueAt = newest === undefined ? startedAt : newest + plan.everyMs;
      const isOverdue = clock().getTime() > dueAt + OVERDUE_MS;
      return isOverdue ? { state: "degraded", problem: "overdue" } : undefined;
    },
    getLastSuccess: () => (newest === undefined ? undefined : new Date(newest).toISOString()),
  };
}

/**
 * Asks a second time if the first answer failed or was slow; then the second decides. The first request also opens the
 * connection, and a busy moment of this process looks like a slow service.
 */
async function runProbe(probe: DependencyProbe): Promise<DependencyFinding> {
  const first = await askOnce(probe);
  return first.state === "up" ? first : askOnce(probe);
}

async function askOnce(probe: DependencyProbe): Promise<DependencyFinding> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  const begun = performance.now();
  const late = new Promise<false>((resolve) => {
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
  const hasAnswered = await Promise.race([
    // Within a promise, because a third-party adapter may throw synchronously.
    Promise.resolve()
      .then(() => probe.ask(signal))
      .then(
        () => true,
        () => false,
      ),
    late,
  ]);
  if (!hasAnswered) return { state: "down", problem: "silent" };
  return performance.now() - begun > SLOW_MS ? { state: "degraded", problem: "slow" } : { state: "up" };
}

/** Outcomes that show whether the server answers; the others say nothing about it. */
const FAILURE_OUTCOMES: ReadonlySet<CallOutcome> = new Set<CallOutcome>([
  "rate_limited",
  "timeout",
  "unreachable",
  "rejected",
  "failed",
]);
const RESPONSE_OUTCOMES: ReadonlySet<CallOutcome> = new Set<CallOutcome>(["ok", "invalid", "refused", "cut"]);

export function createModelServers(): ModelServers {
  const known = new Map<ModelServerState["kind"], { circuit: CircuitState; hasFailed: boolean }>();
  const shown = new Set<ModelServerState["kind"]>();
  const of = (kind: ModelServerState["kind"]): { circuit: CircuitState; hasFailed: boolean } => {
    const found = known.get(kind) ?? { circuit: "closed", hasFailed: false };
    known.set(kind, found);
    return found;
  };
  return {
    states: () => [...shown].map((kind) => ({ kind, ...of(kind) })),
    add: (kind) => void shown.add(kind),
    observe: (kind, hooks) => ({
      ...hooks,
      onCall(report, whose) {
        if (FAILURE_OUTCOMES.has(report.outcome)) of(kind).hasFailed = true;
        else if (RESPONSE_OUTCOMES.has(report.outcome)) of(kind).hasFailed = false;
        hooks.onCall?.(report, whose);
      },
      onCircuit(state, host) {
        of(kind).circuit = state;
        hooks.onCircuit?.(state, host);
      },
    }),
  };
}
