import type { Embedder } from "../../src/index.ts";

/** What one run comes to: the document of `--json`. Shares are in per cent. */
export interface QualityReport {
  readonly set: string;
  readonly metrics: { readonly [name: string]: number };
  /** Plain BM25 in the same run, or what `Run.baseline` names. */
  readonly baseline: { readonly [name: string]: number };
  /** Of the main metrics: between what bounds 95 % of the means lie where the questions are drawn anew. */
  readonly intervals?: { readonly [name: string]: readonly [low: number, high: number] };
  /** Of metrics that only some of the questions have: how many. */
  readonly counts?: { readonly [name: string]: number };
  /** How many questions count. */
  readonly n: number;
  readonly per_question?: readonly object[];
}

/** A run's report with the lines that people read besides the figures. */
export interface Run {
  readonly report: QualityReport;
  /** What the baseline is, in one word; BM25 where absent. */
  readonly baseline?: string;
  readonly notes: readonly string[];
}

export interface RunOptions {
  /** The folder with the data. */
  readonly data: string;
  /** The first so many questions (or stories) alone. */
  readonly limit?: number;
  readonly embedder: Embedder;
  readonly progress: (done: number, all: number) => void;
}

/** The figures as a table for people, ours beside the baseline's. */
export function tableOf({ report, baseline = "BM25", notes }: Run): string {
  const names = Object.keys({ ...report.metrics, ...report.baseline });
  const width = Math.max(6, ...names.map((name) => name.length));
  const cell = (value: number | undefined): string =>
    (value === undefined ? "" : value.toFixed(1)).padStart(10);
  const between = (name: string): string => {
    const [low, high] = report.intervals?.[name] ?? [];
    return (
      low === undefined || high === undefined ? "" : `${low.toFixed(1)} to ${high.toFixed(1)}`
    ).padStart(16);
  };
  const lines = names.map((name) =>
    `${name.padEnd(width)}${cell(report.metrics[name])}${cell(report.baseline[name])}${between(name)}`.trimEnd(),
  );
  const head = [
    `${report.set}, n = ${report.n}`.padEnd(width),
    ...["keepsake", baseline].map((column) => column.padStart(10)),
    "95 %".padStart(16),
  ].join("");
  return [head, "-".repeat(width + 36), ...lines, "", ...notes].join("\n");
}

/** Counts on one line of stderr where it is a terminal, and every tenth of the way where it is not. */
export function progressTo(stream: NodeJS.WriteStream): RunOptions["progress"] {
  let shown = -1;
  return (done, all) => {
    const tenth = Math.floor((10 * done) / all);
    if (stream.isTTY) stream.write(`\r${done} of ${all}${done === all ? "\n" : ""}`);
    else if (tenth !== shown) stream.write(`${done} of ${all}\n`);
    shown = tenth;
  };
}
