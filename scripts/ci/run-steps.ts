import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import type { CiContext, CiStep, ExecOptions } from "./steps.ts";

/** What became of a step. */
export interface StepOutcome {
  readonly name: string;
  readonly seconds: number;
  readonly error?: unknown;
  /** The end of what it printed, so that the last lines of a long run say why it failed. */
  readonly lastOutput: string;
}

const MAX_LAST_OUTPUT = 3000;

/** Where a step's output goes. */
type Write = (text: string) => void;

/** Runs steps one after the other, printing as they go. A failure does not stop the others. */
export async function runInOrder(steps: readonly CiStep[], place: CiPlace): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  for (const step of steps)
    outcomes.push(await runStep(step, place, (text) => void process.stdout.write(text)));
  return outcomes;
}

/** Runs steps side by side, as many at once as there are processors. Prints the output of each when it has ended. */
export async function runSideBySide(steps: readonly CiStep[], place: CiPlace): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  const waiting = [...steps];
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const output: string[] = [];
      outcomes.push(await runStep(step, place, (text) => void output.push(text)));
      process.stdout.write(output.join(""));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return outcomes;
}

export interface CiPlace {
  readonly root: string;
  readonly reports: string;
}

async function runStep({ name, run }: CiStep, place: CiPlace, write: Write): Promise<StepOutcome> {
  const begun = performance.now();
  let lastOutput = "";
  const print: Write = (text) => {
    lastOutput = `${lastOutput}${text}`.slice(-MAX_LAST_OUTPUT);
    write(text);
  };
  print(`── ${name}\n`);
  let error: unknown;
  try {
    await run(createContext(place, print));
  } catch (thrown) {
    error = thrown;
    print(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  }
  const seconds = Math.round((performance.now() - begun) / 1000);
  write(`── ${name}: ${error === undefined ? "ok" : "FAILED"}, ${seconds} s\n`);
  return { name, seconds, lastOutput, ...(error === undefined ? {} : { error }) };
}

function createContext({ root, reports }: CiPlace, write: Write): CiContext {
  const run = (command: readonly string[], options: ExecOptions, onOutput: Write): Promise<void> =>
    new Promise((resolve, reject) => {
      const [program = "", ...args] = command;
      const child = spawn(program, args, {
        cwd: root,
        // A group of its own: what a program starts ends with it.
        detached: true,
        // The pinned Node and the project's own tools come first.
        env: {
          ...process.env,
          PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
          ...options.env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      child.stdout.setEncoding("utf8").on("data", onOutput);
      const errors: string[] = [];
      child.stderr
        .setEncoding("utf8")
        .on("data", options.isQuiet ? (text: string) => void errors.push(text) : write);
      const end = (): void => void (child.pid && process.kill(-child.pid, "SIGTERM"));
      options.signal?.addEventListener("abort", end, { once: true });
      child.once("error", reject);
      child.once("close", (code, signal) => {
        options.signal?.removeEventListener("abort", end);
        if (code === 0) resolve();
        else write(errors.join("").slice(-4000));
        if (code !== 0) reject(new Error(`${command.join(" ")} ended with ${signal ?? code}`));
      });
    });
  return {
    root,
    reports,
    exec: (command, options = {}) => run(command, options, write),
    async read(command, options = {}) {
      const output: string[] = [];
      await run(command, options, (text) => void output.push(text));
      return output.join("");
    },
    print: (line) => write(`${line}\n`),
  };
}
