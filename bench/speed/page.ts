import type { Spread } from "./measure.ts";
import { barPlot, linePlot } from "./plot.ts";
import { runOf, SIZES, type SpeedResults } from "./results.ts";
import type { Figures } from "./run.ts";

/** The page and its plots as they should be for these results: name of the file, and text. */
export function filesOf(results: SpeedResults): ReadonlyMap<string, string> {
  return new Map([
    ["speed.md", pageOf(results)],
    ["speed-by-memories.svg", byMemories(results)],
    ["speed-by-users.svg", byUsers(results)],
  ]);
}

const grown = (results: SpeedResults): Figures[] =>
  SIZES.filter(([users]) => users === 1).map(([users, perUser]) => runOf(results, users, perUser));

const count = (value: number): string => value.toLocaleString("en");

function pageOf(results: SpeedResults): string {
  const runs = SIZES.map(([users, perUser]) => runOf(results, users, perUser));
  const { machine } = runOf(results, 1, 10_000);
  return `# Speed

<!-- Written by \`npm run bench -- --curve\`; a test compares it with speed.json. Measure again, do not edit. -->

Measured on ${results.measuredOn} with Node ${machine.node} on ${machine.cores} cores of an ${machine.cpu}, \
${machine.memoryGb} GB. ${busyness(runs)}All times in milliseconds. One run of one size:

\`\`\`sh
npm run -s bench -- --users 100 --per-user 10000
\`\`\`

A user of N memories holds N memories **and** the N short messages they were read from: 2 N texts and 2 N vectors are
searched.

## Recall, and how it grows

![Recall by the number of memories](speed-by-memories.svg)

${growth(grown(results))}

The others are asked less: the ten nearest of the same 2 N vectors for the same questions, nothing else. Ours is the
whole \`recall\`: embed the question, search by vectors, words, claims and time, rank, fetch, pack the context.

## Recall does not depend on how many users there are

![Recall by the number of users](speed-by-users.svg)

## All figures

${allFigures(runs)}

${DEFINITIONS}${runs.some(({ rules }) => rules) ? RULES : ""}`;
}

/** A sentence where others were at work on the machine: then all times are longer, ours and those of the others. */
function busyness(runs: readonly Figures[]): string {
  const isBusy = runs.some(({ machine }) => machine.load.before > machine.cores / 2);
  return isBusy ? "The machine had other work at the same time (see the load below). " : "";
}

function growth(runs: readonly Figures[]): string {
  const rows = runs.map(({ perUser, recall, peers }) => [
    count(perUser),
    String(recall.hot.p50),
    String(recall.hot.p95),
    ...[peers["sqlite-vec"], peers["js-scan"]].map(
      ({ p50 }) => `${p50} (${Number((p50 / recall.hot.p50).toPrecision(2))} ×)`,
    ),
  ]);
  return tableOf(["memories", "recall p50", "p95", "sqlite-vec p50", "plain scan p50"], rows);
}

function allFigures(runs: readonly Figures[]): string {
  const spread = ({ p50, p95, p99 }: Spread): string => `${p50} / ${p95} / ${p99}`;
  const lines: readonly (readonly [name: string, value: (run: Figures) => string])[] = [
    ["recall, hot: p50 / p95 / p99", ({ recall }) => spread(recall.hot)],
    ["recall, hot: time of the processor, mean", ({ recall }) => String(recall.hot.cpu ?? "")],
    ["recall right after a write", ({ recall }) => spread(recall.afterWrite)],
    ["recall, user not in memory", ({ recall }) => spread(recall.cold)],
    ["answer", ({ answer }) => spread(answer)],
    ["remember one message, durable", ({ remember }) => spread(remember)],
    ...(runs.some(({ rules }) => rules)
      ? [
          [
            "the rules alone, one short message",
            ({ rules }: Figures) => (rules ? spread(rules) : ""),
          ] as const,
        ]
      : []),
    ["sqlite-vec, vectors alone", ({ peers }) => spread(peers["sqlite-vec"])],
    ["plain JavaScript scan, vectors alone", ({ peers }) => spread(peers["js-scan"])],
    ["LanceDB, vectors alone", ({ peers }) => (peers.lancedb ? spread(peers.lancedb) : "not installed")],
    ["server start to the first search answered", ({ startMs }) => String(startMs)],
    ["recall@10 of the vector arm", ({ vectorRecall10 }) => String(vectorRecall10)],
    ["import, messages a second", ({ import: { perSecond } }) => count(perSecond)],
    [
      "import word for word, messages a second",
      ({ import: { verbatimPerSecond } }) => count(verbatimPerSecond),
    ],
    ["bytes on disk per memory, its message included", ({ bytesPerMemory }) => count(bytesPerMemory)],
    ["resident memory, MB", ({ rssMb }) => count(rssMb)],
    ["load average before and after", ({ machine }) => `${machine.load.before}, ${machine.load.after}`],
  ];
  return tableOf(
    ["users × memories", ...runs.map(({ users, perUser }) => `${count(users)} × ${count(perUser)}`)],
    lines.map(([name, value]) => [name, ...runs.map(value)]),
  );
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

const DEFINITIONS = `## What is measured how

* **Texts** are made up by a seeded generator: English words, frequent and rare as in real talk, other ones for each user.
  The file is filled through the engine, with an extractor that knows what each message says.
* **Hot**: users picked at random. Each is asked twice, unmeasured, with garbage collected in between; then 20 questions
  that nobody asked before. The whole public call is timed. Answers and writes are measured in the same way.
* **After a write**: the same, with a message stored before each question.
* **Not in memory**: the first question about a user since the process opened the file. The system has the file in its
  cache; nothing here measures the disk.
* **Remember**: one message, read by the rules, searchable and on the disk (\`synchronous=FULL\`) before the call returns.
* **Import**: a conversation of ${count(2000)} turns read by the rules, half of them tell something; ${count(10_000)} turns with
  \`extract: "never"\`; each into a new file.
* **Server start**: from the start of the process to the answer to a search; the median of five.
* **Recall@10 of the vector arm**: against every vector compared exactly, in 32-bit floats.
* **Resident memory**: of the process that has just answered the hot recalls.
`;

const RULES = `* **The rules alone**: one short message read with the six turns before it; nothing is stored, embedded or searched. Half
  are chat of the kind that people write, half the made-up texts of the other figures.
`;

function byMemories(results: SpeedResults): string {
  const runs = grown(results);
  return linePlot({
    title: "Time of a search by the number of memories, p50",
    unit: "ms",
    places: runs.map(({ perUser }) => `${count(perUser)} memories`),
    lines: [
      { name: "Keepsake", values: runs.map(({ recall }) => recall.hot.p50), isOurs: true },
      { name: "sqlite-vec", values: runs.map(({ peers }) => peers["sqlite-vec"].p50) },
      { name: "plain scan", values: runs.map(({ peers }) => peers["js-scan"].p50) },
    ],
  });
}

function byUsers(results: SpeedResults): string {
  const bars = SIZES.filter(([, perUser]) => perUser === 10_000).flatMap(([users, perUser]) => {
    const { hot } = runOf(results, users, perUser).recall;
    const name = `${count(users)} ${users === 1 ? "user" : "users"}`;
    return [
      { name: `${name}, p50`, value: hot.p50 },
      { name: `${name}, p95`, value: hot.p95 },
    ];
  });
  return barPlot({ title: "Time of a recall, 10,000 memories a user", unit: "ms", bars });
}
