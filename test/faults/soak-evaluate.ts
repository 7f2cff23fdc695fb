import type { ProcessSample } from "./soak-monitor.ts";

/** What the load's side sees of the server, once an interval. Sizes in bytes. */
export interface LoadSample {
  readonly role: "load";
  readonly at: number;
  readonly wal: number;
  readonly database: number;
  readonly live: number;
  readonly jobsLeft: number;
  /** Resident memory of the server with the processes that it started, in MB. */
  readonly treeMegabytes: number;
  readonly users: number;
  readonly sent: number;
  readonly shed: number;
}

export interface StartSample {
  readonly role: "start";
  readonly at: number;
  readonly minutes: number;
  readonly warmUpMinutes: number;
  readonly rate: number;
  readonly seed: number;
  readonly cacheMegabytes: number;
}

/** What was found after the load: facts whose write was acknowledged, and facts whose erasure was. */
export interface EndSample {
  readonly role: "end";
  readonly at: number;
  readonly acked: number;
  readonly erased: number;
  readonly lost: number;
  readonly resurrected: number;
  readonly exit: number | string;
  readonly doctor: number;
  /** What doctor found, by place and problem, and how often. */
  readonly findings: { readonly [what: string]: number };
  readonly unexpected: { readonly [what: string]: number };
}

export type SoakSample = StartSample | ProcessSample | LoadSample | EndSample;

/** A straight line through points: its slope, with the bounds of 95 %. */
export interface Slope {
  readonly perHour: number;
  readonly lower: number;
  readonly upper: number;
}

const HOUR_MS = 3_600_000;
/**
 * The bars. Slopes are of MB an hour after the warm-up. Anonymous memory holds what the heap does not: buffers, SQLite's pages,
 * what the allocator keeps. It moves by whole arenas, so its bar is on the lower bound of its slope.
 */
const BARS = { slopeMB: 1, upperMB: 2, anonymousMB: 10, loopP99Ms: 50, walMB: 64, liveRatio: 1.3 };

/** The timer itself is due after 10. */
const BUSY_MACHINE_MS = 20;

/** Least squares; `x` in milliseconds, the slope per hour. */
export function slopeOf(points: readonly (readonly [number, number])[]): Slope {
  const count = points.length;
  if (count < 3) return { perHour: Number.NaN, lower: Number.NaN, upper: Number.NaN };
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  const error = Math.sqrt(rest / (count - 2) / spread);
  // Student's t, two-sided, to within 1 % from 5 points on.
  const quantile = 1.96 + 2.4 / (count - 2) + 5 / (count - 2) ** 2;
  const perHour = (value: number): number => Math.round(value * HOUR_MS * 1000) / 1000;
  return {
    perHour: perHour(slope),
    lower: perHour(slope - quantile * error),
    upper: perHour(slope + quantile * error),
  };
}

export interface SoakResult {
  readonly test: "R13";
  readonly figures: SoakFigures;
  readonly end: EndSample | undefined;
  /** A leak for certain: the lower bound of the slope of the heap or of the anonymous memory is over its bar. */
  readonly isLeaking: boolean;
  readonly faults: readonly string[];
}

/** The figures of a soak, from its samples, and what is over its bar; a run that was cut off has no end. */
export function evaluateSoak(samples: readonly SoakSample[]): SoakResult {
  const figures = figuresOf(samples);
  const end = samples.find((sample): sample is EndSample => sample.role === "end");
  const { heapSlopeMBh: heap, anonymousSlopeMBh: anonymous } = figures;
  const checks: readonly (readonly [boolean, string])[] = [
    [heap.perHour <= BARS.slopeMB && heap.upper <= BARS.upperMB, "the slope of the heap"],
    [anonymous.lower <= BARS.anonymousMB, "the slope of the anonymous memory"],
    [figures.filesOpen <= 0 && figures.socketsOpen <= 0, "the open descriptors"],
    [isLoopFree(figures), "the delay of the event loop"],
    [figures.walMaxMB <= BARS.walMB, "the size of the write-ahead log"],
    [figures.liveRatio <= BARS.liveRatio, "the size of the database over what lives in it"],
    ...(end === undefined ? ([[false, "the run has no end"]] as const) : checksOf(end)),
  ];
  const faults = checks.filter(([isMet]) => !isMet).map(([, what]) => what);
  return {
    test: "R13",
    figures,
    end,
    isLeaking: heap.lower > BARS.slopeMB || anonymous.lower > BARS.anonymousMB,
    faults,
  };
}

/**
 * The delay counts where the machine is at rest. Where a process that does nothing is late as well, others have the processors:
 * then the time counts for which the program itself held the loop.
 */
function isLoopFree({ loopP99Ms, idleP99Ms, heldP99Ms }: SoakFigures): boolean {
  if (heldP99Ms > BARS.loopP99Ms) return false;
  return loopP99Ms <= BARS.loopP99Ms || idleP99Ms > BUSY_MACHINE_MS;
}

function checksOf(end: EndSample): (readonly [boolean, string])[] {
  return [
    [end.lost === 0, "a fact that was acknowledged is gone"],
    [end.resurrected === 0, "a fact that was erased is there"],
    [end.doctor === 0, "doctor"],
    [end.exit === 0, "the end of the server"],
    [Object.keys(end.unexpected).length === 0, "answers that were not expected"],
  ];
}

/** Sizes in MB, delays in milliseconds. */
export interface SoakFigures {
  readonly minutes: number;
  readonly samples: number;
  readonly seed: number;
  readonly rate: number;
  readonly sent: number;
  readonly shed: number;
  readonly heapMB: Edges;
  readonly heapSlopeMBh: Slope;
  readonly rssMB: Edges;
  readonly rssSlopeMBh: Slope;
  /** Of the resident memory, what is no page of a file. */
  readonly anonymousMB: Edges;
  readonly anonymousSlopeMBh: Slope;
  /** With the processes that the server started. */
  readonly treeMB: Edges;
  /** How many more are open at the end than after the warm-up, while nobody is connected. */
  readonly filesOpen: number;
  readonly socketsOpen: number;
  /** What they are, sockets aside. */
  readonly openedMore: { readonly [target: string]: number };
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  readonly worstIntervalP99Ms: number;
  /** How long the program held the loop itself, in time of the processor. */
  readonly heldP99Ms: number;
  readonly heldMaxMs: number;
  /** Of a process that does nothing, at the same time: what the machine itself is late by. */
  readonly idleP99Ms: number;
  readonly idleWorstIntervalP99Ms: number;
  readonly walMaxMB: number;
  readonly databaseMB: number;
  readonly liveRatio: number;
  readonly jobsLeftMax: number;
}

function figuresOf(samples: readonly SoakSample[]): SoakFigures {
  const start = samples.find((sample): sample is StartSample => sample.role === "start");
  if (start === undefined) throw new Error("the samples have no start");
  const warm = start.at + start.warmUpMinutes * 60_000;
  const server = samples.filter((sample): sample is ProcessSample => sample.role === "server");
  const load = samples.filter((sample): sample is LoadSample => sample.role === "load");
  const lastLoad = load.at(-1);
  const settled = load.filter(({ at }) => at >= warm);
  return {
    minutes: Math.round(((samples.at(-1)?.at ?? start.at) - start.at) / 6000) / 10,
    seed: start.seed,
    rate: start.rate,
    ...memoryOf(server.filter(({ at, isMark }) => at >= warm && !isMark)),
    treeMB: edgesOf(settled.map(({ treeMegabytes }) => treeMegabytes)),
    ...descriptorsOf(server),
    ...delaysOf(samples, server, warm),
    sent: lastLoad?.sent ?? 0,
    shed: lastLoad?.shed ?? 0,
    walMaxMB: round(Math.max(...load.map(({ wal }) => wal)) / 2 ** 20),
    databaseMB: round((lastLoad?.database ?? 0) / 2 ** 20),
    liveRatio: lastLoad === undefined ? Number.NaN : round(lastLoad.database / lastLoad.live),
    jobsLeftMax: Math.max(...load.map(({ jobsLeft }) => jobsLeft)),
  };
}

function memoryOf(
  steady: readonly ProcessSample[],
): Pick<
  SoakFigures,
  "samples" | "heapMB" | "heapSlopeMBh" | "rssMB" | "rssSlopeMBh" | "anonymousMB" | "anonymousSlopeMBh"
> {
  return {
    samples: steady.length,
    heapMB: edgesOf(steady.map(({ heapUsed }) => heapUsed / 1e6)),
    heapSlopeMBh: slopeOf(steady.map(({ at, heapUsed }) => [at, heapUsed / 1e6])),
    rssMB: edgesOf(steady.map(({ rss }) => rss / 1e6)),
    rssSlopeMBh: slopeOf(steady.map(({ at, rss }) => [at, rss / 1e6])),
    anonymousMB: edgesOf(steady.map(({ anonymous }) => anonymous / 1e6)),
    anonymousSlopeMBh: slopeOf(steady.map(({ at, anonymous }) => [at, anonymous / 1e6])),
  };
}

/** Between the marks, at which nobody is connected; NaN where the run was cut off before the second. */
function descriptorsOf(
  server: readonly ProcessSample[],
): Pick<SoakFigures, "filesOpen" | "socketsOpen" | "openedMore"> {
  const [first, last] = server.filter(({ isMark }) => isMark);
  const more = Object.entries(last?.opened ?? {}).flatMap(([target, count]) => {
    const added = count - (first?.opened[target] ?? 0);
    return added > 0 ? [[target, added] as const] : [];
  });
  return {
    filesOpen: (last?.files ?? Number.NaN) - (first?.files ?? Number.NaN),
    socketsOpen: (last?.sockets ?? Number.NaN) - (first?.sockets ?? Number.NaN),
    openedMore: Object.fromEntries(more),
  };
}

function delaysOf(
  samples: readonly SoakSample[],
  server: readonly ProcessSample[],
  warm: number,
): Pick<
  SoakFigures,
  | "loopP99Ms"
  | "loopMaxMs"
  | "heldP99Ms"
  | "heldMaxMs"
  | "worstIntervalP99Ms"
  | "idleP99Ms"
  | "idleWorstIntervalP99Ms"
> {
  const idle = samples.filter(
    (sample): sample is ProcessSample => sample.role === "idle" && sample.at >= warm,
  );
  const steady = server.filter(({ at, isMark }) => at >= warm && !isMark);
  const marks = server.filter(({ isMark }) => isMark);
  // Of the whole time between the marks; up to the last sample where the run was cut off.
  const closing = marks[1] ?? steady.at(-1);
  const whole = closing?.loopSinceMark;
  const idleP99 = idle.map(({ loop }) => loop.p99).toSorted((one, other) => one - other);
  return {
    loopP99Ms: whole?.p99 ?? Number.NaN,
    loopMaxMs: whole?.max ?? Number.NaN,
    heldP99Ms: closing?.heldSinceMark.p99 ?? Number.NaN,
    heldMaxMs: closing?.heldSinceMark.max ?? Number.NaN,
    worstIntervalP99Ms: Math.max(...steady.map(({ loop }) => loop.p99)),
    idleP99Ms: idleP99[Math.floor(idleP99.length / 2)] ?? Number.NaN,
    idleWorstIntervalP99Ms: idleP99.at(-1) ?? Number.NaN,
  };
}

export interface Edges {
  readonly first: number;
  readonly last: number;
  readonly max: number;
}

function edgesOf(values: readonly number[]): Edges {
  return {
    first: round(values[0] ?? Number.NaN),
    last: round(values.at(-1) ?? Number.NaN),
    max: round(Math.max(...values)),
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
