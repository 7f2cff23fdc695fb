import type { Meter } from "../../ports/meter.ts";
import type { Ports } from "../ports.ts";

/** A service that the memory stands on. */
export interface DependencyState {
  /** No address: "record", "sessions", "cache", "queue", or "index" with the name of its adapter. */
  readonly kind: string;
  readonly name?: string;
  readonly state: "up" | "down";
  /** Since when (ISO 8601, UTC). */
  readonly since: string;
}

/** Looks in the background whether what is configured answers. */
export interface DependencyWatch {
  /** As it was found last. Never waits. */
  states(): readonly DependencyState[];
  stop(): void;
}

const EVERY_MS = 5000;
/** One that has not answered by then is down. */
const PROBE_MS = 2000;
/** A user nobody has. */
const NOBODY = { project: "default", user: "readiness" };

type WatchedPorts = Pick<Ports, "record" | "sessions" | "cache" | "queue" | "followers" | "clock" | "meter">;

interface Probe {
  readonly kind: string;
  readonly name?: string;
  ask(signal: AbortSignal): Promise<unknown>;
}

/** Begins to look, at once and then every five seconds; the timer keeps no process alive. */
export function watchDependencies(ports: WatchedPorts): DependencyWatch {
  const probes = probesOf(ports);
  const states = new Map<Probe, DependencyState>();
  const note = (probe: Probe, state: "up" | "down"): void => {
    const { kind, name } = probe;
    if (states.get(probe)?.state !== state) {
      const since = ports.clock().toISOString();
      states.set(probe, { kind, ...(name === undefined ? {} : { name }), state, since });
    }
    tell(ports.meter, probe, state);
  };
  let isAtWork = false;
  const look = async (): Promise<void> => {
    if (isAtWork) return;
    isAtWork = true;
    await Promise.all(probes.map(async (probe) => note(probe, (await answers(probe)) ? "up" : "down")));
    isAtWork = false;
  };
  void look();
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return { states: () => [...states.values()], stop: () => clearInterval(timer) };
}

function tell(meter: Meter | undefined, { kind, name }: Probe, state: "up" | "down"): void {
  meter?.set("keepsake_dependency_up", state === "up" ? 1 : 0, { kind, name: name ?? kind });
}

function probesOf({ record, sessions, cache, queue, followers = [] }: WatchedPorts): Probe[] {
  const probes: Probe[] = [{ kind: "record", name: record.name, ask: () => record.revision(NOBODY) }];
  if (sessions) probes.push({ kind: "sessions", ask: (signal) => sessions.active(NOBODY, { signal }) });
  if (cache) probes.push({ kind: "cache", ask: (signal) => cache.get(NOBODY, "readiness", { signal }) });
  if (queue) probes.push({ kind: "queue", ask: async () => (await queue.isUp()) || Promise.reject() });
  for (const one of followers) {
    probes.push({
      kind: "index",
      name: one.name,
      ask: (signal) => one.held(NOBODY, ["readiness"], { signal }),
    });
  }
  return probes;
}

async function answers(probe: Probe): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_MS);
  const late = new Promise<false>((resolve) => {
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
  return Promise.race([
    probe.ask(signal).then(
      () => true,
      () => false,
    ),
    late,
  ]);
}
