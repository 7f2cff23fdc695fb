import { spawn } from "node:child_process";
import type { CampaignRun } from "./page.ts";

/** So much of what a program prints is kept: its end. */
const KEPT_CHARACTERS = 1_000_000;

/** A program of the campaign that has ended, or was ended because it took too long. */
export interface EndedProgram {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly isLate: boolean;
  readonly printed: string;
}

/**
 * Runs a program of Node in a folder, with its arguments. After `limitMs` milliseconds it ends the program and the processes of its group,
 * such as servers that hold a port. What the program started in a group of its own goes on.
 */
export async function runToEnd(
  words: readonly string[],
  { folder, limitMs }: { readonly folder: string; readonly limitMs: number },
): Promise<EndedProgram> {
  // The leader of a group of its own: what it starts belongs to the group.
  const child = spawn(process.execPath, words, {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const endGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // None of the group is left.
    }
  };
  // A signal from the terminal reaches the group of this process alone.
  process.once("exit", endGroup);
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed = (printed + text).slice(-KEPT_CHARACTERS);
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup();
  }, limitMs);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("close", resolve);
      child.once("error", reject);
    });
    return { code, isLate, printed };
  } finally {
    clearTimeout(timer);
    process.off("exit", endGroup);
  }
}

/** The files of programs whose last run passed. `runs` are in the order in which they ran. */
export function filesPassed(runs: readonly Pick<CampaignRun, "file" | "result">[]): ReadonlySet<string> {
  const results = new Map(runs.map(({ file, result }) => [file, result]));
  return new Set([...results].filter(([, result]) => result === "passed").map(([file]) => file));
}
