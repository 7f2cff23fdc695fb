import { spawn } from "node:child_process";
import { join } from "node:path";

/**
 * Runs the child and kills it with SIGKILL some milliseconds after it has said so many words, or after its start, where it
 * may still be opening the file. Gives the words it said. A child that fails by itself is an error.
 */
export async function killed(
  words: readonly string[],
  afterMs: number,
  since: number | "start" = 1,
  program = "child.ts",
): Promise<string[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  const kill = (): boolean => child.kill("SIGKILL");
  let timer = since === "start" ? setTimeout(kill, afterMs) : undefined;
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    said += text;
    if (typeof since === "number" && said.split("\n").length > since) timer ??= setTimeout(kill, afterMs);
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  if (code !== null && code !== 0) throw new Error(`${words.join(" ")} failed by itself, with code ${code}`);
  // A word without its line break was cut off by the kill: it acknowledges nothing.
  return said.split("\n").slice(0, -1);
}

/** Random numbers from a seed (mulberry32), so that a run can be repeated. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** With `--json`, says what a program came to as its last line, for the campaign. */
export function printFigures(test: string, figures: { readonly [name: string]: number }): void {
  if (process.argv.includes("--json")) console.log(JSON.stringify({ test, ...figures }));
}

/** The number behind an option such as `--kills`, or a default. */
export function option(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
}
