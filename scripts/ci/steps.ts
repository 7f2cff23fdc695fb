import { writeFile } from "node:fs/promises";
import { join } from "node:path";

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

/** A step that evaluates a set of data and compares one figure with a bar. It keeps all figures for `sameFiguresStep`. */
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

/** A step that evaluates sets of data with another backend and expects the figures of SQLite alone. */
export function sameFiguresStep(
  name: string,
  data: string,
  sets: readonly string[],
  backend: readonly string[],
): CiStep {
  return {
    name: `same figures ${name}`,
    async run(context) {
      for (const set of sets) {
        const other = join(context.reports, `${backend.join("-").replaceAll("/", "-")}-${set}.json`);
        await saveFigures(context, other, [set, "--data", data, ...backend]);
        await context.exec(["node", "bench/quality/same.ts", figuresPath(context, set, data), other]);
      }
    },
  };
}

function figuresPath({ reports }: CiContext, set: string, data: string): string {
  return join(reports, `${data.replaceAll(/[^\w]+/g, "-")}-${set}.json`);
}

async function evaluate(
  context: CiContext,
  set: string,
  data: string,
): Promise<{ readonly [name: string]: number }> {
  const text = await saveFigures(context, figuresPath(context, set, data), [set, "--data", data]);
  return (JSON.parse(text) as { readonly metrics: { readonly [name: string]: number } }).metrics;
}

async function saveFigures({ read }: CiContext, path: string, args: readonly string[]): Promise<string> {
  const text = await read(["node", "bench/quality/main.ts", ...args, "--json"], { isQuiet: true });
  await writeFile(path, text);
  return text;
}
