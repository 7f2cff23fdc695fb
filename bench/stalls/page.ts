import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CaseFigures, ExcessOf } from "./excess.ts";
import { cellsOf, RESULTS_FOLDER, type StallResults, titleOf } from "./results.ts";

const count = (value: number): string => value.toLocaleString("en");

/** Writes the page and the figures behind it. */
export function writePage(results: StallResults): void {
  writeFileSync(join(RESULTS_FOLDER, "stalls.json"), `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(join(RESULTS_FOLDER, "stalls.md"), pageOf(results));
}

/** The page for these results. */
export function pageOf(results: StallResults): string {
  const { machine, measuredOn, rounds, large, minutes, cases } = results;
  const isBoth = cases.some(({ before }) => before);
  return `# What one user does to the others

<!-- Written by \`node bench/stalls/main.ts --page\`; a test compares it with stalls.json. Measure again, do not edit. -->

One server, one process. One user sends the case. Other users send 40 light requests a second all the while: health, search,
a message, a chat through the proxy. The table shows how late the server's event loop was at worst, and what the others saw.
Each number is the excess over an idle control of the same length in the same run, in milliseconds, and the median of ${rounds}.

Measured on ${measuredOn} with Node ${machine.node} on ${machine.cores} cores of an ${machine.cpu}, ${machine.memoryGb} GB, \
in ${minutes} minutes; load average ${machine.load.before} before, ${machine.load.after} after. The server, the senders and the stub of \
the model's server share the machine.

\`\`\`sh
node bench/stalls/main.ts${isBoth ? " --before DIR" : ""} --page
\`\`\`

${tableOf(cases, isBoth)}

"≥" marks a case after which the server did not come back within twenty seconds, or ended. ${memoryLine(cases)}

## What is measured how

* **Stall**: the worst delay of the server's event loop, by \`monitorEventLoopDelay\`, in the server's own process.
* **Others' p95 and worst**: from the moment at which a request was due to the last byte of its answer.
* **The large user** holds ${count(large)} memories and as many messages.
* **The window** of a case ends 0.7 seconds after its last answer, so that what the server does behind an answer counts.
* **The answers** are those to the case itself: 2xx where it passes, 4xx where a [limit](../reference/settings.md#limits) refuses it.
`;
}

function tableOf(cases: readonly CaseFigures[], isBoth: boolean): string {
  const columns = ["stall", "others' p95", "others' worst"];
  const head = [
    "case",
    ...(isBoth ? columns.map((one) => `${one}, before`) : []),
    ...columns,
    ...(isBoth ? ["answers, before"] : []),
    "answers",
  ];
  const rows = cases.map(({ name, before, after }) => [
    titleOf(name),
    ...(isBoth ? (before ? cellsOf(before).map(shown) : ["", "", ""]) : []),
    ...cellsOf(after).map(shown),
    ...(isBoth ? [before ? answersOf(before) : ""] : []),
    answersOf(after),
  ]);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const marks = head.map((title) => (title === "case" || title.startsWith("answers") ? "---" : "---:"));
  return [line(head), line(marks), ...rows.map(line)].join("\n");
}

function shown(cell: string): string {
  const [, sign = "", digits = ""] = /^(≥ )?(\d+)$/.exec(cell) ?? [];
  return `${sign}${count(Number(digits))}`;
}

function answersOf({ outcomes }: ExcessOf): string {
  return Object.entries(outcomes)
    .map(([outcome, times]) => `${outcome} × ${times}`)
    .join(", ");
}

function memoryLine(cases: readonly CaseFigures[]): string {
  const four = cases.find(({ name }) => name === "four-bodies");
  if (!four) return "";
  const told = ({ peakMegabytes, lost }: ExcessOf): string =>
    `${peakMegabytes === undefined ? "an unknown amount of" : count(peakMegabytes)} MB of resident memory at most${lost > 0 ? ", and the server was lost" : ""}`;
  const before = four.before ? `Before: ${told(four.before)}. ` : "";
  return `Eight bodies of 10 MB, four at a time, are sent to a server with 512 MB of heap. ${before}Now: ${told(four.after)}.`;
}
