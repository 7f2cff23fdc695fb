import { type Random, seeded } from "../speed/vocabulary.ts";
import type { ScaleFigures } from "./results.ts";

/** What is assumed of users, machines, failures and prices. Every number is a parameter. */
export interface ScaleAssumptions {
  /** The share of users who come on a day; they come this often, each time for so many recalls and messages. */
  readonly activeShare: number;
  readonly visitsPerDay: number;
  readonly recallsPerVisit: number;
  readonly messagesPerVisit: number;
  /** The share of users with 1,000 memories. The others have 50. */
  readonly largeShare: number;
  /** The busiest hour of a day as a multiple of the mean. */
  readonly peakFactor: number;
  /** How long a server keeps an idle user in memory, in minutes. */
  readonly hotMinutes: number;
  /** A node of a database, and a server in front of it. */
  readonly nodeCores: number;
  readonly nodeDiskGb: number;
  readonly serverCores: number;
  /** How much of processors and disks is used at the peak. */
  readonly cpuShare: number;
  readonly diskShare: number;
  /** Copies of each row on a disk: the primary and its standby. */
  readonly copies: number;
  /** The most users of a cell, and the most workers of its cluster. */
  readonly cellUsers: number;
  readonly cellWorkers: number;
  /** Users idle for so long that the cold tier could hold them, and their size there as a share of their size in tables. */
  readonly idleShare: number;
  readonly coldBytesShare: number;
  /** Failures of a node in a year, and minutes until its standby serves. */
  readonly nodeFailures: number;
  readonly failoverMinutes: number;
  /** Failures of a whole cell in a year, and minutes until it serves again. */
  readonly cellFailures: number;
  readonly cellMinutes: number;
  /** US dollars a month: of a core with 4 GB of memory, of a GB of disk, of a GB of objects. */
  readonly coreDollars: number;
  readonly diskDollars: number;
  readonly objectDollars: number;
}

export const ASSUMPTIONS: ScaleAssumptions = {
  activeShare: 0.1,
  visitsPerDay: 2,
  recallsPerVisit: 5,
  messagesPerVisit: 5,
  largeShare: 0.02,
  peakFactor: 2.5,
  hotMinutes: 15,
  nodeCores: 16,
  nodeDiskGb: 4000,
  serverCores: 8,
  cpuShare: 0.5,
  diskShare: 0.7,
  copies: 2,
  cellUsers: 1_000_000,
  cellWorkers: 8,
  idleShare: 0.5,
  coldBytesShare: 0.3,
  nodeFailures: 1,
  failoverMinutes: 1,
  cellFailures: 0.2,
  cellMinutes: 60,
  coreDollars: 30,
  diskDollars: 0.1,
  objectDollars: 0.023,
};

/** What a million users ask for in a second of the busiest hour, and how many of them are in memory. */
export interface SimulatedLoad {
  readonly coldRecalls: number;
  readonly hotRecalls: number;
  readonly messages: number;
  readonly usersInMemory: number;
}

const DAY_MINUTES = 1440;
const SAMPLE = 40_000;
const MILLION = 1_000_000;

/**
 * Lets a sample of users come and go for two days, and counts in the second one. Visits come at random, by a daily wave. A recall
 * is cold where the user has not been here for `hotMinutes`.
 */
export function simulateLoad(assumed: ScaleAssumptions, seed = 1): SimulatedLoad {
  const random = seeded(seed);
  const { peakFactor, hotMinutes, recallsPerVisit, messagesPerVisit } = assumed;
  const lastSeen = new Map<number, number>();
  const perMinute = (SAMPLE * assumed.activeShare * assumed.visitsPerDay) / DAY_MINUTES;
  // Users who come on a day are drawn from those who may: each has a day in `1 / activeShare`.
  const pickUser = (day: number): number => {
    const period = Math.round(1 / assumed.activeShare);
    return Math.floor(random() * (SAMPLE / period)) * period + (day % period);
  };
  let [cold, visits, inMemory] = [0, 0, 0];
  for (let minute = 0; minute < 2 * DAY_MINUTES; minute += 1) {
    const wave = 1 + (peakFactor - 1) * Math.sin((2 * Math.PI * minute) / DAY_MINUTES - Math.PI / 2);
    const isPeak = minute >= DAY_MINUTES && Math.abs((minute % DAY_MINUTES) - DAY_MINUTES / 2) < 30;
    for (let i = drawPoisson(random, perMinute * Math.max(0, wave)); i > 0; i -= 1) {
      const user = pickUser(Math.floor(minute / DAY_MINUTES));
      const isCold = minute - (lastSeen.get(user) ?? -DAY_MINUTES) > hotMinutes;
      lastSeen.set(user, minute);
      if (!isPeak) continue;
      visits += 1;
      if (isCold) cold += 1;
    }
    if (minute === DAY_MINUTES * 1.5)
      inMemory = [...lastSeen.values()].filter((at) => minute - at <= hotMinutes).length;
  }
  const toPerSecond = (count: number): number => ((count / 59) * MILLION) / SAMPLE / 60;
  return {
    coldRecalls: toPerSecond(cold),
    hotRecalls: toPerSecond(visits * recallsPerVisit - cold),
    messages: toPerSecond(visits * messagesPerVisit),
    usersInMemory: (inMemory * MILLION) / SAMPLE,
  };
}

function drawPoisson(random: Random, mean: number): number {
  // By the gaps between arrivals, which are exponential.
  let count = -1;
  for (let sum = 0; sum < mean; count += 1) sum -= Math.log(1 - random());
  return Math.max(0, count);
}

/** What a number of users needs. */
export interface ScalePlan {
  readonly users: number;
  readonly cells: number;
  /** Nodes of databases with their standbys and coordinators, and servers. */
  readonly nodes: number;
  readonly servers: number;
  /** Which need decides the number of workers. */
  readonly boundBy: "processors" | "disks";
  readonly diskTb: number;
  readonly dollarsAMonth: number;
  /** The same with idle users in the cold tier, which does not exist yet. */
  readonly coldTier: { readonly diskTb: number; readonly objectTb: number; readonly dollarsAMonth: number };
  /** In a simulated year: minutes away for a user in the mean, and the most users who were away at once. */
  readonly minutesAway: number;
  readonly mostAway: number;
}

/** The figures of the two sizes of users, as measured on the cluster. */
export interface ScaleInputs {
  readonly small: ScaleFigures;
  readonly large: ScaleFigures;
}

export function planScale(
  users: number,
  { small, large }: ScaleInputs,
  assumed: ScaleAssumptions,
): ScalePlan {
  const load = simulateLoad(assumed);
  const mixed = (of: (one: ScaleFigures) => number): number =>
    of(small) * (1 - assumed.largeShare) + of(large) * assumed.largeShare;
  const cells = Math.max(1, Math.ceil(users / assumed.cellUsers));
  const perCell = users / cells;
  const coresFor = (kind: "databaseMs" | "serverMs"): number => {
    const msOf = (name: "cold" | "hot" | "remember"): number =>
      mixed(({ operations }) => operations[name][kind]);
    const busy =
      load.coldRecalls * msOf("cold") + load.hotRecalls * msOf("hot") + load.messages * msOf("remember");
    return ((busy / 1000) * (perCell / MILLION)) / assumed.cpuShare;
  };
  const bytes = mixed(({ bytesPerUser }) => bytesPerUser);
  const workersFor = (share: number): { workers: number; boundBy: ScalePlan["boundBy"] } => {
    const byDisk = (perCell * bytes * share) / (assumed.nodeDiskGb * 1e9 * assumed.diskShare);
    const byCores = coresFor("databaseMs") / assumed.nodeCores;
    return {
      workers: Math.max(1, Math.ceil(Math.max(byDisk, byCores))),
      boundBy: byDisk > byCores ? "disks" : "processors",
    };
  };
  const serversPerCell = Math.max(2, Math.ceil(coresFor("serverMs") / assumed.serverCores) + 1);
  const priceOf = (share: number) => {
    const { workers, boundBy } = workersFor(share);
    // A cell of one node is a plain PostgreSQL server; a larger one has a coordinator.
    const nodes = cells * (workers > 1 ? workers + 1 : 1) * assumed.copies;
    const diskTb = (users * bytes * share * assumed.copies) / assumed.diskShare / 1e12;
    const cores = nodes * assumed.nodeCores + cells * serversPerCell * assumed.serverCores;
    return {
      nodes,
      boundBy,
      workers,
      diskTb,
      dollars: cores * assumed.coreDollars + diskTb * 1000 * assumed.diskDollars,
    };
  };
  const whole = priceOf(1);
  const rest = priceOf(1 - assumed.idleShare);
  const objectTb = (users * bytes * assumed.idleShare * assumed.coldBytesShare) / 1e12;
  const { workers } = whole;
  if (workers > assumed.cellWorkers)
    throw new Error(`A cell of ${perCell} users needs ${workers} workers. Lower cellUsers.`);
  return {
    users,
    cells,
    nodes: whole.nodes,
    servers: cells * serversPerCell,
    boundBy: whole.boundBy,
    diskTb: whole.diskTb,
    dollarsAMonth: whole.dollars,
    coldTier: {
      diskTb: rest.diskTb,
      objectTb,
      dollarsAMonth: rest.dollars + objectTb * 1000 * assumed.objectDollars,
    },
    ...simulateFailures({ users, cells, parts: workers }, assumed),
  };
}

const YEAR_MINUTES = 525_600;
const YEARS = 100;

/** Lets nodes and cells fail for some years at random. A part of a cell's users is away with one of its nodes. */
function simulateFailures(
  { users, cells, parts }: { readonly users: number; readonly cells: number; readonly parts: number },
  assumed: ScaleAssumptions,
): { minutesAway: number; mostAway: number } {
  const random = seeded(users % 1_000_003);
  const perCell = users / cells;
  let away = 0;
  let most = 0;
  for (let year = 0; year < YEARS; year += 1) {
    const events: { at: number; until: number; users: number }[] = [];
    const add = (count: number, minutes: number, affected: number): void => {
      for (let i = 0; i < count; i += 1) {
        const at = random() * YEAR_MINUTES;
        events.push({ at, until: at + minutes, users: affected });
      }
    };
    add(drawPoisson(random, cells * parts * assumed.nodeFailures), assumed.failoverMinutes, perCell / parts);
    add(drawPoisson(random, cells * assumed.cellFailures), assumed.cellMinutes, perCell);
    away += events.reduce((sum, one) => sum + (one.until - one.at) * one.users, 0);
    for (const one of events) {
      const overlapping = events.filter(({ at, until }) => at <= one.at && until > one.at);
      most = Math.max(
        most,
        overlapping.reduce((sum, other) => sum + other.users, 0),
      );
    }
  }
  return { minutesAway: away / users / YEARS, mostAway: most };
}
