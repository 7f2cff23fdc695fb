import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Running, started } from "../../bench/load/server.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { option, random } from "./kill.ts";

/** What another process does with the file while the server serves it. */
const OTHERS = ["list", "doctor", "export", "backup", "worker", "server", "remember", "recall"] as const;
type Other = (typeof OTHERS)[number];

export interface ErasureRounds {
  readonly acked: number;
  readonly lost: number;
  /** Processes that said that the file is damaged, and files that were. */
  readonly damaged: number;
  /** Rounds in which anything was lost or damaged. */
  readonly badRounds: number;
  readonly faults: readonly string[];
}

interface Round {
  readonly path: string;
  readonly main: string;
  readonly draw: () => number;
  /** Words of messages that were acknowledged. */
  readonly acked: string[];
  readonly faults: string[];
  damaged: number;
}

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const USER = "ana";

/**
 * An erasure, then another process that opens and closes the file, then more writes, then SIGKILL: every message that was
 * acknowledged must be there. With `main`, another build's program is tried.
 */
export async function eraseAmongProcesses(
  rounds: number,
  seed: number,
  main: string = MAIN,
  only?: Other,
): Promise<ErasureRounds> {
  const draw = random(seed);
  let [acked, lost, damaged, badRounds] = [0, 0, 0, 0];
  const faults: string[] = [];
  for (let number = 0; number < rounds; number += 1) {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-two-processes-"));
    const round: Round = {
      path: join(folder, "memory.db"),
      main,
      draw,
      acked: [],
      faults: [],
      damaged: 0,
    };
    const other = only ?? OTHERS[Math.floor(draw() * OTHERS.length)] ?? "list";
    try {
      await playRound(round, other);
      const gone = await findGone(round);
      acked += round.acked.length;
      lost += gone;
      damaged += round.damaged;
      if (gone + round.damaged > 0) badRounds += 1;
      faults.push(...round.faults.map((fault) => `round ${number}, ${other}: ${fault}`));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return { acked, lost, damaged, badRounds, faults };
}

async function playRound(round: Round, other: Other): Promise<void> {
  const server = await started(round.path, {}, [], undefined, round.main);
  const second: { running?: Running } = {};
  try {
    await tell(round, server, "I use Magnet as a productivity tool.", "Magnet");
    await erase(round, server);
    const times = round.draw() < 0.7 ? 1 : 2;
    for (let time = 0; time < times; time += 1) await useFile(round, other, second);
    for (const number of [1, 2]) await tellUnique(round, server, number);
    if (second.running !== undefined) await tellUnique(round, second.running, 3);
    if (round.draw() < 0.3) await useFile(round, "list", second);
  } finally {
    const ends = [server, second.running].filter((one) => one !== undefined);
    await Promise.all(ends.map((one) => one.end("SIGKILL")));
  }
}

async function post(round: Round, { url, key }: Running, path: string, body: object): Promise<boolean> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) {
    round.faults.push(`${path} was answered with ${response.status}`);
    noteDamage(round, text);
  }
  return response.ok;
}

async function tell(round: Round, server: Running, message: string, word?: string): Promise<void> {
  const isAcked = await post(round, server, "/message", { userId: USER, message });
  if (isAcked && word !== undefined && word !== "Magnet") round.acked.push(word);
}

async function tellUnique(round: Round, server: Running, number: number): Promise<void> {
  const word = `Tool${number}x${Math.floor(round.draw() * 1e9)}`;
  await tell(round, server, `I use ${word} for work.`, word);
}

async function erase(round: Round, server: Running): Promise<void> {
  const ways = [
    () => tell(round, server, "Forget that I ever mentioned Magnet."),
    () => post(round, server, "/forget", { userId: USER, message: "Magnet" }),
    () => post(round, server, "/api/v1/erasures", { user_id: USER, everything: true }),
  ];
  await ways[Math.floor(round.draw() * ways.length)]?.();
}

async function useFile(round: Round, other: Other, second: { running?: Running }): Promise<void> {
  const { path, draw } = round;
  if (other === "server") {
    second.running ??= await started(path, {}, [], undefined, round.main);
    return tellUnique(round, second.running, 4);
  }
  if (other === "worker") return runWorker(round);
  const word = `Line${Math.floor(draw() * 1e9)}`;
  const words = {
    list: ["list"],
    doctor: ["doctor"],
    export: ["export", `${path}.jsonl`],
    backup: ["backup", `${path}.copy${Math.floor(draw() * 1e9)}`],
    remember: ["remember", `I use ${word} at home.`],
    recall: ["recall", "productivity tools"],
  }[other];
  const status = await run(round, words);
  if (other === "remember" && status === 0) round.acked.push(word);
}

function run(round: Round, words: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [round.main, ...words, "--db", round.path, "--user", USER], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH ?? "" },
  });
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  return new Promise((settle) => {
    child.once("close", (status) => {
      noteDamage(round, said);
      // 3: nothing was found, which is no failure.
      if (status !== 0 && status !== 3)
        round.faults.push(`${words[0]} ended with ${status}: ${said.slice(0, 300)}`);
      settle(status ?? -1);
    });
  });
}

/** A worker opens the file, looks for work, and is told to stop. */
async function runWorker(round: Round): Promise<void> {
  const child = spawn(process.execPath, [round.main, "worker", "--db", round.path, "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH ?? "" },
  });
  const ended = new Promise((settle) => child.once("close", settle));
  await new Promise((settle) => child.stdout.once("data", settle).once("close", settle));
  await new Promise((settle) => setTimeout(settle, round.draw() * 100));
  child.kill(round.draw() < 0.5 ? "SIGTERM" : "SIGKILL");
  await ended;
}

function noteDamage(round: Round, text: string): void {
  if (!/damaged|"corrupt"|malformed/.test(text)) return;
  round.damaged += 1;
  round.faults.push(`a process said that the file is damaged: ${text.slice(0, 300)}`);
}

/** How many acknowledged messages are not in the file, which is then looked at whole. */
async function findGone(round: Round): Promise<number> {
  const record = await openSqliteStore({ path: round.path });
  try {
    const troubles = await record.check();
    round.damaged += troubles.length;
    round.faults.push(...troubles.map(({ place, problem }) => `${place}: ${problem}`));
    const { messages } = await record.since({ project: "default", user: USER }, 0, { units: false });
    const contents = messages.map(({ content }) => String(content)).join("\n");
    const gone = round.acked.filter((word) => !contents.includes(word));
    round.faults.push(...gone.map((word) => `${word} was acknowledged and is gone`));
    return gone.length;
  } finally {
    await record.close();
  }
}

if (import.meta.main) {
  const at = process.argv.indexOf("--dist");
  const dist = at === -1 ? undefined : resolve(process.argv[at + 1] ?? "");
  if (dist === undefined)
    spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const rounds = option("rounds", 200);
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const main = dist === undefined ? MAIN : join(dist, "cli/main.js");
  const begin = performance.now();
  const { faults, ...result } = await eraseAmongProcesses(rounds, seed, main);
  for (const fault of faults.slice(0, 20)) console.error(fault);
  const secs = Math.round((performance.now() - begin) / 1000);
  console.log(
    JSON.stringify({ test: "two-process-erasure", seed, rounds, ...result, faults: faults.length, secs }),
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}
