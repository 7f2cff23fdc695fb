import type { ImportFigures } from "./run.ts";

/** What `docs/results/imports.json` holds. */
export interface ImportResults {
  /** The time of the last measurement, ISO 8601. */
  readonly measuredOn: string;
  readonly node: string;
  readonly cores: number;
  /** The bar for the memory of each process, in MB. */
  readonly mostMegabytes: number;
  readonly runs: readonly ImportFigures[];
}

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const seconds = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value));

const HEAD = [
  "| Format | Made | File, MB | Messages stored | Memories added | Passed over | Import, s | Again, s | New again | Undo, s | Undone | Processor, s | Peak, MB |",
  "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
];

const toMade = ({ size, unit, cut }: ImportFigures): string =>
  `${whole(size)} ${unit}${cut ? ` (${cut})` : ""}`;

function toRow(run: ImportFigures): string {
  const cells = [
    run.format,
    toMade(run),
    run.fileMegabytes < 10 ? run.fileMegabytes.toFixed(1) : whole(run.fileMegabytes),
    whole(run.messages),
    whole(run.memories),
    whole(run.passedOver),
    seconds(run.importSeconds),
    seconds(run.againSeconds),
    whole(run.againNew),
    seconds(run.undoSeconds),
    run.isUndone ? "yes" : "**no**",
    seconds(run.processorSeconds),
    whole(run.peakMegabytes),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The figures as a table for people. */
export function renderImportTable(runs: readonly ImportFigures[]): string {
  return [...HEAD, ...runs.map(toRow)].join("\n");
}

/** Puts new rows in the place of earlier ones of the same format and size. Smaller sizes come first, then the order of `formats`. */
export function mergeImportRuns(
  before: readonly ImportFigures[],
  runs: readonly ImportFigures[],
  formats: readonly string[],
): ImportFigures[] {
  const all = [...runs, ...before];
  const sizes = [...new Set(all.map(({ size }) => size))].toSorted((a, b) => a - b);
  return sizes.flatMap((size) =>
    formats.flatMap((format) => all.find((run) => run.format === format && run.size === size) ?? []),
  );
}

/** The page of the results, made of them alone. */
export function renderImportPage({ measuredOn, node, cores, mostMegabytes, runs }: ImportResults): string {
  const failed = runs.flatMap((run) =>
    run.problems.map((one) => `* **${run.format}**, ${toMade(run)}: ${one}.`),
  );
  return `# What imports take

Written by \`node bench/imports/main.ts --format F --messages N --page\` for each row, last on ${measuredOn.slice(0, 10)}, with Node ${node} on ${cores} cores that other programs used, too; nothing
here is typed by hand. Each file is made in the documented shape of its format, and imported in a process of its own into a memory
that has a message in it already. Of the user's messages, one in five states something.

${renderImportTable(runs)}

*New again* is what a second import of the same file stored. *Undone* says whether one undo gave the messages and memories that
were there before, compared by a digest. *Processor* is the processor time of all of it. *Peak* is the largest memory of the process,
with Node and the embedder in it; the bar is ${whole(mostMegabytes)} MB, set for 10,000. The file is read as a stream. What is stored of the user is in memory.

${failed.length === 0 ? "Every bar holds." : failed.join("\n")}
`;
}
