import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Keepsake } from "../../src/index.ts";
import { createMemory } from "../../src/memory.ts";
import { checkSet, isGoneBy, wordsIn } from "./history-check.ts";
import { option, random } from "./kill.ts";
import {
  commandDoor,
  type Door,
  type LibraryChild,
  serverDoor,
  startLibrary,
  workerDoor,
} from "./many-doors.ts";
import { type BackupCopy, backUp, type ClientHistory, makeHistory, playHistory } from "./many-history.ts";

export interface ManyResult {
  readonly histories: number;
  /** Processes that used a file, in all. */
  readonly processes: number;
  readonly kills: number;
  readonly calls: number;
  /** Backups that were made meanwhile, and opened at the end. */
  readonly backups: number;
  readonly acked: number;
  readonly inDoubt: number;
  readonly lost: number;
  readonly resurrected: number;
  readonly duplicates: number;
  readonly phantoms: number;
  /** Answers and checks that said that a file is damaged. */
  readonly corrupt: number;
  readonly notLinearizable: number;
  readonly faults: readonly string[];
}

type Counts = { -readonly [name in Exclude<keyof ManyResult, "faults">]: number };

const HISTORIES_A_FILE = 10;
const LIBRARIES = 3;
/** In every third history, a backup is made for certain. */
const BACKUP_EVERY = 3;

/**
 * Random histories of two to four processes on one file: programs with the library, a server, the command line, a worker; with
 * erasures among their calls, and SIGKILL at random moments. Ten histories share a file; then all end, and it is looked through.
 */
export async function playManyProcesses(
  histories: number,
  seed: number,
  mutant = "",
  isLoud = false,
): Promise<ManyResult> {
  const draw = random(seed);
  const libraries = Array.from({ length: LIBRARIES }, () => startLibrary(mutant));
  const counts: Counts = {
    histories: 0,
    processes: 0,
    kills: 0,
    calls: 0,
    backups: 0,
    acked: 0,
    inDoubt: 0,
    lost: 0,
    resurrected: 0,
    duplicates: 0,
    phantoms: 0,
    corrupt: 0,
    notLinearizable: 0,
  };
  const faults: string[] = [];
  let begin = performance.now();
  try {
    while (counts.histories < histories) {
      const before = Math.floor(counts.histories / 100);
      await playFile(
        Math.min(HISTORIES_A_FILE, histories - counts.histories),
        draw,
        libraries,
        counts,
        faults,
      );
      if (isLoud && Math.floor(counts.histories / 100) > before) {
        console.error(
          `${counts.histories} histories, the last hundred in ${Math.round((performance.now() - begin) / 1000)} s`,
        );
        begin = performance.now();
      }
    }
  } finally {
    for (const library of libraries) library.stop();
  }
  return { ...counts, faults };
}

async function playFile(
  histories: number,
  draw: () => number,
  libraries: readonly LibraryChild[],
  counts: Counts,
  faults: string[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-many-"));
  const backups = join(folder, "backups");
  mkdirSync(backups);
  const path = join(folder, "memory.db");
  const doors = doorsOf(path, draw, libraries);
  counts.processes += doors.length;
  const played: ClientHistory[] = [];
  try {
    for (let number = 0; number < histories; number += 1) {
      const history = makeHistory(doors, backups, draw);
      await Promise.all([playHistory(history), ...(number % BACKUP_EVERY === 0 ? [backUp(history)] : [])]);
      played.push(history);
      counts.histories += 1;
      // Another process comes or goes: the next one that opens the file finds what they left.
      const [door] = draw() < 0.2 ? [doors[Math.floor(draw() * doors.length)]] : [];
      if (draw() < 0.5) await door?.end();
      else if (door !== undefined) {
        await door.kill();
        counts.kills += 1;
      }
    }
    await Promise.all(doors.map((door) => (draw() < 0.5 ? door.kill() : door.end())));
    await checkFile(path, played, counts, faults);
  } finally {
    await Promise.all(doors.map((door) => door.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Two to four: mostly programs with the library, which are there at once; a share of real servers, commands and workers. */
function doorsOf(path: string, draw: () => number, libraries: readonly LibraryChild[]): Door[] {
  const others: Door[] = [];
  if (draw() < 0.2) others.push(serverDoor(path));
  if (draw() < 0.15) others.push(commandDoor(path));
  if (draw() < 0.1) others.push(workerDoor(path));
  const total = Math.max(others.length + 1, 2 + Math.floor(draw() * 3));
  return [...libraries.slice(0, total - others.length).map((library) => library.door(path)), ...others];
}

async function checkFile(
  path: string,
  played: readonly ClientHistory[],
  counts: Counts,
  faults: string[],
): Promise<void> {
  const memory = await createMemory({ path });
  const damage = (await memory.check()).map(({ place, problem }) => `${place}: ${problem}`);
  for (const history of played) {
    for (const user of history.users) await readUser(memory, user, history);
  }
  await memory.close();
  for (const copy of played.flatMap(({ copies }) => copies))
    await readCopy(path, copy, played, counts, faults);
  for (const history of played) checkHistory(history, counts, faults);
  counts.corrupt += damage.length;
  faults.push(...damage);
  const inBytes = new Set(
    readdirSync(join(path, ".."))
      .map((name) => join(path, "..", name))
      .filter((file) => existsSync(file) && statSync(file).isFile())
      .flatMap((file) => wordsIn(readFileSync(file).toString("latin1"))),
  );
  for (const history of played) {
    for (const fact of history.facts) {
      const own = history.erasures.filter(
        ({ user, word, isComplete }) => isComplete && user === fact.user && (word ?? fact.word) === fact.word,
      );
      if (!inBytes.has(fact.word) || !isGoneBy(fact, own, Number.POSITIVE_INFINITY)) continue;
      counts.resurrected += 1;
      faults.push(`${fact.word} was erased, and its bytes are in a file`);
    }
  }
}

/**
 * Opens a backup, checks it, and reads all users in it: it holds what was acknowledged before it began, and nothing whose erasure
 * was. A killed backup may be missing, and is else whole.
 */
async function readCopy(
  path: string,
  { file, isAcked, begin, end }: BackupCopy,
  played: readonly ClientHistory[],
  counts: Counts,
  faults: string[],
): Promise<void> {
  if (!existsSync(file)) {
    if (isAcked) counts.lost += 1;
    if (isAcked) faults.push(`a backup was acknowledged, and is not there: ${file}`);
    return;
  }
  counts.backups += 1;
  try {
    copyFileSync(`${path}.secret`, `${file}.secret`);
    await using memory = await createMemory({ path: file });
    const damage = (await memory.check()).map(({ place, problem }) => `a backup: ${place}: ${problem}`);
    counts.corrupt += damage.length;
    faults.push(...damage);
    for (const history of played) {
      for (const user of history.users) {
        let text = "";
        for await (const line of memory.scope({ user }).export()) text += `${JSON.stringify(line)}\n`;
        history.reads.push({ user, isWhole: true, words: wordsIn(text), begin, end });
      }
    }
  } catch (error) {
    counts.corrupt += 1;
    faults.push(`a backup cannot be opened: ${(error as Error).message}`);
  }
}

async function readUser(memory: Keepsake, user: string, history: ClientHistory): Promise<void> {
  const scope = memory.scope({ user });
  const begin = performance.now();
  let text = "";
  const contents: string[] = [];
  for await (const line of scope.export()) {
    text += `${JSON.stringify(line)}\n`;
    if (line.type === "message") contents.push(...wordsIn(JSON.stringify(line)));
  }
  history.reads.push({ user, isWhole: true, words: wordsIn(text), begin, end: performance.now() });
  for (const word of new Set(contents)) {
    if (contents.filter((one) => one === word).length > 1) history.duplicates.push(word);
  }
  const log = await scope.history(undefined, { limit: 1000 });
  const revision = await scope.revision();
  const revisions = log.map((entry) => entry.revision);
  const expected = Array.from({ length: revision }, (_, i) => revision - i);
  if (JSON.stringify(revisions) !== JSON.stringify(expected))
    history.faults.push(`the log has revisions ${revisions.join(" ")} of ${revision}`);
}

function checkHistory(history: ClientHistory, counts: Counts, faults: string[]): void {
  const { acked, inDoubt, lost, resurrected, phantoms } = checkSet(
    history.facts,
    history.erasures,
    history.reads,
  );
  counts.acked += acked;
  counts.inDoubt += inDoubt;
  counts.lost += lost.length;
  counts.resurrected += resurrected.length;
  counts.phantoms += phantoms.length;
  counts.duplicates += history.duplicates.length;
  counts.kills += history.kills;
  counts.calls += history.calls;
  counts.corrupt += history.damaged;
  const broken = history.brokenRegisters();
  counts.notLinearizable += broken.length;
  const about = (what: string, words: readonly string[]): string[] =>
    words.length === 0 ? [] : [`${what}: ${words.join(" ")}\n${history.told()}`];
  faults.push(
    ...about("lost", lost),
    ...about("resurrected", resurrected),
    ...about("never sent", phantoms),
    ...about("twice", history.duplicates),
    ...about("not linearizable", broken),
    ...about("wrong", history.faults),
  );
}

if (import.meta.main) {
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const at = process.argv.indexOf("--mutant");
  const mutant = at === -1 ? "" : (process.argv[at + 1] ?? "");
  const begin = performance.now();
  const { faults, ...result } = await playManyProcesses(option("histories", 2000), seed, mutant, true);
  const secs = Math.round((performance.now() - begin) / 1000);
  for (const fault of faults.slice(0, 10)) console.error(fault);
  console.log(
    JSON.stringify({
      test: "R7/R8",
      seed,
      ...(mutant ? { mutant } : {}),
      ...result,
      faults: faults.length,
      secs,
    }),
  );
  process.exitCode = (mutant === "") === (faults.length === 0) ? 0 : 1;
}
