/**
 * Runs the steps of `deploy/Dockerfile` as a script in an empty folder, for machines without a daemon that builds images: what is
 * copied, what is run and what the command starts, with the folder in place of the image's root. `node scripts/ci/image-steps.ts`
 * needs npm and its registry. The base image and the user are not tried: the Node that runs this takes their place.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const ROOT = join(import.meta.dirname, "../..");
const START_MS = 60_000;
/** They say how a container runs, and change no file. */
const NO_STEPS: ReadonlySet<string> = new Set(["USER", "EXPOSE", "HEALTHCHECK", "LABEL"]);

/** An instruction of a Dockerfile, with its lines joined. */
export interface ImageStep {
  readonly word: string;
  readonly rest: string;
}

/** Reads a Dockerfile: comments are left out, and lines that end with a backslash are joined. */
export function readImageSteps(text: string): ImageStep[] {
  const joined = text.replace(/^#.*\n/gm, "").replace(/\\\n\s*/g, " ");
  return joined.split("\n").flatMap((line) => {
    const [, word = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    return word === "" ? [] : [{ word, rest }];
  });
}

/** Puts a folder in place of the root of an image in a command. */
export function toFolder(command: string, folder: string): string {
  return command.replace(/(?<![\w./>])\/(?=(?:build|packed|keepsake)\b)/g, `${folder}/`);
}

/** What git has, without what `.dockerignore` leaves out: as a checkout gives it to Docker. */
function copyContext(to: string): void {
  const ignored = new Set(readFileSync(join(ROOT, "deploy/Dockerfile.dockerignore"), "utf8").split("\n"));
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" }).split("\0");
  for (const file of files) {
    if (file === "" || ignored.has(file.split("/")[0] ?? "")) continue;
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(ROOT, file), join(to, file));
  }
}

/** What the steps so far have set. */
interface ImageState {
  place: string;
  readonly environment: { [name: string]: string | undefined };
  command: readonly string[];
}

/** By the word of a step, what it does in a folder. */
const ACTIONS: { readonly [word: string]: (rest: string, state: ImageState, folder: string) => void } = {
  FROM() {
    // The Node that runs this takes the place of the image's.
  },
  WORKDIR(rest, state, folder) {
    state.place = join(folder, rest);
    mkdirSync(state.place, { recursive: true });
  },
  COPY(rest, { place }) {
    // What an earlier stage made is in this folder already.
    if (!rest.startsWith("--from=")) copyContext(place);
  },
  RUN(rest, { place, environment }, folder) {
    console.log(`RUN ${rest}`);
    execFileSync("bash", ["-ec", toFolder(rest, folder)], {
      cwd: place,
      env: environment,
      stdio: ["ignore", "inherit", "inherit"],
    });
  },
  ENV(rest, { environment }, folder) {
    for (const [, name = "", value = ""] of rest.matchAll(/(\w+)=(\S+)/g))
      environment[name] = toFolder(value.replace("$PATH", environment.PATH ?? ""), folder);
  },
  CMD(rest, state) {
    state.command = JSON.parse(rest) as string[];
  },
};

/** Runs the steps in a folder, and gives the command with its environment. */
function runSteps(steps: readonly ImageStep[], folder: string): ImageState {
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ""}`;
  const state: ImageState = {
    place: folder,
    environment: { ...process.env, PATH: path, NODE_ENV: undefined },
    command: [],
  };
  for (const { word, rest } of steps) {
    const act = ACTIONS[word];
    if (act) act(rest, state, folder);
    else if (!NO_STEPS.has(word)) throw new Error(`The step ${word} is not known here.`);
  }
  return state;
}

/** Starts what the image starts, and waits until it is in good health. */
async function startCommand({ command, place, environment }: ImageState): Promise<void> {
  const [program = "", ...rest] = command;
  const server = spawn(program, [...rest, "--port", "0"], {
    cwd: place,
    env: { ...environment, KEEPSAKE_API_KEY: "a-key-for-this-run-only-0123456789" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  try {
    for (let waited = 0; waited < START_MS; waited += 200) {
      const url = /listens on (http:\S+?),/.exec(printed)?.[1];
      const health =
        url === undefined ? undefined : await fetch(`${url}/api/v1/health`).catch(() => undefined);
      if (health?.ok) return;
      await wait(200);
    }
    throw new Error(`The command of the image did not start: ${printed.slice(-1000)}`);
  } finally {
    server.kill("SIGTERM");
  }
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-image-"));
  mkdirSync(join(folder, "packed"));
  try {
    const steps = readImageSteps(readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8"));
    // The last step of the first stage makes what the second one copies, and the second removes it.
    await startCommand(runSteps(steps, folder));
    console.log("The steps of the image were run in an empty folder, and its command serves.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
