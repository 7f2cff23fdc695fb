import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";

/** What a user runs: made as new as src/ before the tests began. */
export const MAIN: string = join(import.meta.dirname, "../../dist/cli/main.js");

let folder: string;
/** The folder in which the commands of a test run: its own, and empty at first. */
export let place: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-cli-"));
});
beforeEach(() => {
  place = mkdtempSync(join(folder, "place-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

export interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
  /** The one document on stdout. */
  // biome-ignore lint/suspicious/noExplicitAny: results are looked into as a script would.
  readonly json: any;
}

export interface Around {
  readonly input?: string | Buffer;
  readonly env?: { readonly [name: string]: string };
}

/** Runs the command as a shell would, in the folder of this test. */
export function keepsakeWith(around: Around, ...words: readonly string[]): Promise<Ran> {
  return runProgram(around, process.execPath, MAIN, ...words);
}

/** Gives a terminal of 60 columns to a command, and what it shows there as its output. */
const TERMINAL = `
import os, pty, sys
status = pty.spawn(["sh", "-c", 'stty cols 60; exec "$@"', "sh", *sys.argv[1:]])
sys.exit(os.waitstatus_to_exitcode(status))
`;

/** Runs the command on a terminal: what it prints and what is typed is in \`out\`, with the lines' ends of a terminal. */
export function keepsakeOnTerminal(around: Around, ...words: readonly string[]): Promise<Ran> {
  const env = { TERM: "xterm-256color", ...around.env };
  return runProgram({ ...around, env }, "python3", "-c", TERMINAL, process.execPath, MAIN, ...words);
}

function runProgram(around: Around, program: string, ...words: readonly string[]): Promise<Ran> {
  const { PATH = "" } = process.env;
  // Hundreds of them start here: what Node compiled for one serves the next.
  const NODE_COMPILE_CACHE = join(folder, "compiled");
  const child = spawn(program, words, { cwd: place, env: { PATH, NODE_COMPILE_CACHE, ...around.env } });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  // A command that does not read its stdin closes it early.
  child.stdin.on("error", () => {});
  child.stdin.end(around.input ?? "");
  return new Promise((resolve) => {
    child.once("close", (status) => {
      resolve({
        status,
        out,
        err,
        get json() {
          return JSON.parse(out);
        },
      });
    });
  });
}

export const keepsake = (...words: readonly string[]): Promise<Ran> => keepsakeWith({}, ...words);

/** A few at a time: processes mostly start. */
export async function each<One>(all: readonly One[], work: (one: One) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += 3) await Promise.all(all.slice(i, i + 3).map(work));
}

export const file = (name: string, content: string | Buffer): string => {
  writeFileSync(join(place, name), content);
  return name;
};

export const linesOf = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

/** Every file of the folder and what it holds. */
export const contents = (): { [name: string]: string } =>
  Object.fromEntries(readdirSync(place).map((name) => [name, readFileSync(join(place, name), "latin1")]));

/** Every byte of every file in the folder. */
export const bytes = (): string => Object.values(contents()).join("\n");
