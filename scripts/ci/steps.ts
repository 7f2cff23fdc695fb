import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A set, or its first questions, that is evaluated with several backends. */
export interface RepeatedSet {
  readonly set: string;
  readonly limit?: number;
}

/** What is evaluated with several backends. Each message is read once and not once for each backend. */
export const REPEATED_SETS: readonly RepeatedSet[] = [
  { set: "stories" },
  { set: "forget-cases" },
  { set: "locomo", limit: 300 },
];

/** A step of the whole check. */
export interface CiStep {
  readonly name: string;
  readonly run: (context: CiContext) => Promise<void>;
}

/** What the steps share: folders, and the means to run a program. */
export interface CiContext {
  readonly root: string;
  /** A folder for reports. It goes at the end. */
  readonly reports: string;
  /** Runs a program in the root and throws if it does not end with 0. What it prints goes to the step's output. */
  exec(command: readonly string[], options?: ExecOptions): Promise<void>;
  /** Runs a program and gives what it wrote to stdout. */
  read(command: readonly string[], options?: ExecOptions): Promise<string>;
  /** Prints a line to the step's output. */
  print(line: string): void;
}

export interface ExecOptions {
  readonly env?: { readonly [name: string]: string };
  /** Shows what the program writes to stderr only if it fails: for progress. */
  readonly isQuiet?: boolean;
  /** Ends the program, and what it started, with SIGTERM. */
  readonly signal?: AbortSignal;
}

/** Fails a step where a condition does not hold. */
export function assertHolds(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

/** A step that runs one program. */
export function execStep(name: string, ...command: readonly string[]): CiStep {
  return { name, run: ({ exec }) => exec(command) };
}

/** A step that runs a program of the repository with the pinned Node. */
export function nodeStep(name: string, ...command: readonly string[]): CiStep {
  return execStep(name, "node", ...command);
}

/** A step that evaluates a set of data and compares one figure with a bar. */
export function qualityStep(name: string, { set, data, figure, bar }: QualityBar): CiStep {
  return {
    name: `quality: ${name}`,
    async run(context) {
      const metrics = await evaluate(context, set, data);
      const value = metrics[figure] ?? Number.NaN;
      context.print(`${figure} ${value}, at least ${bar}`);
      assertHolds(value >= bar, `${figure} is below its bar`);
    },
  };
}

export interface QualityBar {
  readonly set: string;
  readonly data: string;
  readonly figure: string;
  readonly bar: number;
}

/**
 * A step on deletion in talk among several people: at most 10 of 100 probes bring something deleted back, and what remains is found
 * as well as with forgetting off, but for 3 of 100.
 */
export function forgettingStep(data: string): CiStep {
  return {
    name: "quality: GateMem",
    async run(context) {
      const {
        leak = 100,
        leak_off,
        utility = 0,
        utility_off = 100,
      } = await evaluate(context, "gatemem", data);
      context.print(
        `leak ${leak}, at most 10 (forgetting off: ${leak_off}), utility ${utility} against ${utility_off}`,
      );
      assertHolds(
        leak <= 10 && utility >= utility_off - 3,
        "deleted memories leak, or too much is forgotten",
      );
    },
  };
}

/** A step that evaluates with SQLite alone what other backends are compared on. */
export function ownFiguresStep(data: string, sets: readonly RepeatedSet[]): CiStep {
  return {
    name: "figures of SQLite alone",
    async run(context) {
      for (const one of sets) await saveFigures(context, repeatedPath(context, one), repeatedArgs(one, data));
    },
  };
}

/** A step that evaluates sets of data with another backend and expects the figures of `ownFiguresStep`. */
export function sameFiguresStep(
  name: string,
  data: string,
  sets: readonly RepeatedSet[],
  backend: readonly string[],
): CiStep {
  return {
    name: `same figures ${name}`,
    async run(context) {
      for (const one of sets) {
        const other = repeatedPath(context, one, `${backend.join("-").replaceAll("/", "-")}-`);
        await saveFigures(context, other, [...repeatedArgs(one, data), ...backend]);
        await context.exec(["node", "bench/quality/same.ts", repeatedPath(context, one), other]);
      }
    },
  };
}

function repeatedArgs({ set, limit }: RepeatedSet, data: string): string[] {
  return [set, "--data", data, ...(limit === undefined ? [] : ["--limit", String(limit)])];
}

function repeatedPath({ reports }: CiContext, { set }: RepeatedSet, backend = "alone-"): string {
  return join(reports, `${backend}${set}.json`);
}

async function evaluate(
  context: CiContext,
  set: string,
  data: string,
): Promise<{ readonly [name: string]: number }> {
  const text = await readFigures(context, [set, "--data", data]);
  return (JSON.parse(text) as { readonly metrics: { readonly [name: string]: number } }).metrics;
}

async function saveFigures(context: CiContext, path: string, args: readonly string[]): Promise<void> {
  await writeFile(path, await readFigures(context, args));
}

function readFigures({ reports, read }: CiContext, args: readonly string[]): Promise<string> {
  const [set = ""] = args;
  const isRepeated = REPEATED_SETS.some((one) => one.set === set);
  const readings = isRepeated ? ["--readings", join(reports, `${set}-readings.jsonl`)] : [];
  return read(["node", "bench/quality/main.ts", ...args, ...readings, "--json"], { isQuiet: true });
}
