import { OPERATIONS, type OperationName, type ScaleFigures, type ScaleResults } from "./results.ts";
import { ASSUMPTIONS, planScale, type ScaleAssumptions, type ScalePlan, simulateLoad } from "./simulate.ts";

const TITLES: { readonly [name in OperationName]: string } = {
  cold: "recall, user not in memory",
  hot: "recall, user in memory",
  remember: "remember a message",
};
const POPULATIONS = [1_000_000, 10_000_000, 100_000_000];

const count = (value: number): string => value.toLocaleString("en");
const toKb = (bytes: number): string => (bytes / 1000).toLocaleString("en", { maximumFractionDigits: 1 });
/** Two digits tell as much as the assumptions do. */
const toTwoDigits = (value: number): string => count(Number(value.toPrecision(2)));

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const marks = head.map((_, i) => (i === 0 ? "---" : "---:"));
  return [line(head), line(marks), ...rows.map(line)].join("\n");
}

const sizeOf = ({ server, users, perUser }: ScaleFigures): string =>
  `${server}, ${count(users)} × ${count(perUser)}`;

/** Lines for the terminal. */
export function linesOf(results: ScaleResults): string[] {
  return [sizeTable(results), costTable(results), growthTable(results), planTable(results)];
}

function sizeTable({ figures }: ScaleResults): string {
  const rows = figures.map((one) => [
    sizeOf(one),
    toKb(one.bytesPerUser),
    toKb(one.bytesPerUser / one.perUser),
    count(one.tables.reduce((sum, { rowsPerUser }) => sum + rowsPerUser, 0)),
    count(one.fillSeconds),
  ]);
  const head = ["users × memories", "KB per user", "KB per memory", "rows per user", "seconds to copy"];
  return toTable(head, rows);
}

function costTable({ figures }: ScaleResults): string {
  const rows = OPERATIONS.flatMap((name) =>
    figures.map((one) => {
      const { ms, databaseMs, serverMs, readBytes, diskBytes, walBytes } = one.operations[name];
      const times = [ms.p50, ms.p95, databaseMs, serverMs].map(String);
      return [`${TITLES[name]}; ${sizeOf(one)}`, ...times, ...[readBytes, diskBytes, walBytes].map(toKb)];
    }),
  );
  const head = [
    "operation; users × memories",
    "p50 ms",
    "p95 ms",
    "database CPU ms",
    "server CPU ms",
    "KB from files",
    "KB from the disk",
    "KB of log",
  ];
  return toTable(head, rows);
}

function growthTable({ figures }: ScaleResults): string {
  const rows = figures.flatMap((one) => {
    const { growth } = one;
    if (!growth) return [];
    return OPERATIONS.map((name) => {
      const { p50, p50Range, p95 } = growth[name];
      return [`${TITLES[name]}; ${sizeOf(one)}`, String(p50), p50Range.join(" to "), String(p95)];
    });
  });
  return toTable(["operation; users × memories", "p50, ratio", "middle third of rounds", "p95, ratio"], rows);
}

/** The sizes whose costs the simulator takes: those of the cluster where it was measured, with the most users. */
function inputsOf({ figures }: ScaleResults) {
  const pick = (perUser: number): ScaleFigures => {
    const found = figures
      .filter((one) => one.perUser === perUser)
      .toSorted((a, b) => Number(a.server === "citus") - Number(b.server === "citus") || a.users - b.users)
      .at(-1);
    if (!found) throw new Error(`The results have no users of ${perUser} memories.`);
    return found;
  };
  return { small: pick(50), large: pick(1000) };
}

/** The simulator's table for growing numbers of users. */
export function planTable(results: ScaleResults, assumed: ScaleAssumptions = ASSUMPTIONS): string {
  const plans = POPULATIONS.map((users) => planScale(users, inputsOf(results), assumed));
  const row = (title: string, of: (plan: ScalePlan) => string): string[] => [title, ...plans.map(of)];
  return toTable(
    ["users", ...POPULATIONS.map(count)],
    [
      row("cells", ({ cells }) => count(cells)),
      row("database nodes, with standbys", ({ nodes, boundBy }) => `${toTwoDigits(nodes)} (by ${boundBy})`),
      row("servers", ({ servers }) => toTwoDigits(servers)),
      row("disks, TB", ({ diskTb }) => toTwoDigits(diskTb)),
      row("dollars a month", ({ dollarsAMonth }) => toTwoDigits(dollarsAMonth)),
      row("cents a user and month", ({ users, dollarsAMonth }) => toTwoDigits((dollarsAMonth * 100) / users)),
      row("with the cold tier (not built): disks and objects, TB", ({ coldTier }) =>
        [coldTier.diskTb, coldTier.objectTb].map(toTwoDigits).join(" and "),
      ),
      row("with the cold tier (not built): dollars a month", ({ coldTier }) =>
        toTwoDigits(coldTier.dollarsAMonth),
      ),
      row("minutes away in a year, mean of users", ({ minutesAway }) => toTwoDigits(minutesAway)),
      row("most users away at once in 100 years", ({ mostAway }) => toTwoDigits(mostAway)),
    ],
  );
}

const EXPLAINED: readonly (readonly [keyof ScaleAssumptions, string])[] = [
  ["activeShare", "share of users who come on a day"],
  ["visitsPerDay", "visits of such a user"],
  ["recallsPerVisit", "recalls of a visit"],
  ["messagesPerVisit", "messages of a visit to remember"],
  ["largeShare", "share of users with 1,000 memories; the others have 50"],
  ["peakFactor", "busiest hour as a multiple of the mean"],
  ["hotMinutes", "minutes that an idle user stays in a server's memory"],
  ["nodeCores", "cores of a database node"],
  ["nodeDiskGb", "GB of its disk"],
  ["serverCores", "cores of a server"],
  ["cpuShare", "use of processors at the peak"],
  ["diskShare", "use of disks"],
  ["copies", "copies of each row: a primary and a standby"],
  ["cellUsers", "most users of a cell, which bounds what fails together"],
  ["cellWorkers", "most workers of a cell"],
  ["idleShare", "share of users idle for long, whom a cold tier could hold"],
  ["coldBytesShare", "their compressed size as a share of their tables (assumed)"],
  ["nodeFailures", "failures of a node in a year"],
  ["failoverMinutes", "minutes until its standby serves"],
  ["cellFailures", "failures of a whole cell in a year"],
  ["cellMinutes", "minutes until it serves again"],
  ["coreDollars", "dollars a month for a core with 4 GB of memory"],
  ["diskDollars", "dollars a month for a GB of disk"],
  ["objectDollars", "dollars a month for a GB of objects"],
];

/** The page for these results. */
export function pageOf(results: ScaleResults): string {
  const { machine, measuredOn, rounds, minutes, freeDisk, version } = results;
  const load = simulateLoad(ASSUMPTIONS);
  const { small, large } = inputsOf(results);
  const gb = (bytes: number): string => count(Math.round(bytes / 1e9));
  return `# What users and operations cost

<!-- Written by \`node bench/scale/main.ts --page\`; a test compares it with scale.json. Measure again, do not edit. -->

Measured on ${measuredOn} with Node ${machine.node} on ${machine.cores} cores of an ${machine.cpu}, ${machine.memoryGb} GB, \
in ${minutes} minutes; load average ${machine.load.before} before, ${machine.load.after} after. Databases, server and other programs shared \
these cores, so times of the clock are high: read the ratios and the times of the processor. Disk free before filling ${gb(freeDisk.before)} GB, \
after it ${gb(freeDisk.after)} GB. \`fsync\` was on. ${Object.entries(version)
    .map(([server, text]) => `${server}: ${text}.`)
    .join(" ")}

\`\`\`sh
KEEPSAKE_TEST_POSTGRES=… KEEPSAKE_TEST_CITUS=… node bench/scale/main.ts --page
\`\`\`

Users are copies of one user whom the engine has stored, with messages, memories, log and search index. All sizes of all servers
were measured in turn, in ${rounds} rounds of 10 users: each was recalled once, recalled 4 times from memory, and told one message.

## Size

${sizeTable(results)}

${tablesTable(results)}

## Cost of an operation

The mean of all calls, except for p50 and p95. "From files" is what the database read from the system, mostly out of its memory.
"Log" is the write-ahead log of all nodes. What a checkpoint or a vacuum writes later is not in it.

${costTable(results)}

## Growth

Times as a multiple of the same operation at the smallest number of users with as many memories, on the same server, in the same
rounds. Flat within 20 % means at most 1.2.

${growthTable(results)}

## Simulated: cells, nodes, disks, money

**Extrapolated.** The measured costs of "${sizeOf(small)}" and "${sizeOf(large)}" are multiplied. Nothing of this size was run.
Two digits are shown, and the assumptions below are good for one. ${count(POPULATIONS[0] ?? 0)} users in the busiest hour give \
${toTwoDigits(load.coldRecalls)} recalls a second of users not in memory, ${toTwoDigits(load.hotRecalls)} of users in memory, and \
${toTwoDigits(load.messages)} messages; ${toTwoDigits(load.usersInMemory)} users are in memory.

${planTable(results)}

${toTable(
  ["assumption", "value"],
  EXPLAINED.map(([name, title]) => [`${title} (\`${name}\`)`, String(ASSUMPTIONS[name])]),
)}

Prices are rounded list prices of AWS in us-east-1: m7g.large at 0.0816 dollars an hour for two cores (June 2026, [reported
by FactualMinds](https://www.factualminds.com/blog/amazon-ec2-on-demand-pricing-instance-families-2026/)), S3 Standard at 0.023 (April
2026, [reported by ZeonEdge](https://zeonedge.com/blog/cloud-storage-cost-guide-s3-ebs-efs-fsx-choosing-right-tier)). A GB of disk is
taken at 0.1, near the 0.094 euros of [AWS's example for gp3](https://aws.eu/ebs/pricing). Traffic, backups, models and people are not in them.
`;
}

function tablesTable({ figures }: ScaleResults): string {
  const shown = figures.filter(
    (one) => !figures.some((other) => other.perUser === one.perUser && other.users > one.users),
  );
  const names = [...new Set(shown.flatMap(({ tables }) => tables.map(({ table }) => table)))];
  const rows = names.map((name) => [
    `\`${name}\``,
    ...shown.map(({ tables }) => {
      const found = tables.find(({ table }) => table === name);
      return found ? `${toKb(found.bytesPerUser)} (${count(found.rowsPerUser)})` : "";
    }),
  ]);
  return toTable(["KB per user (rows)", ...shown.map(sizeOf)], rows);
}
