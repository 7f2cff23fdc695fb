import { join } from "node:path";
import {
  type Erased,
  type Fact,
  isLinearizable,
  type ReadCall,
  type RegisterCall,
  wordsIn,
} from "./history-check.ts";
import { type Command, type CommandOutcome, uniqueWord } from "./many-commands.ts";
import { type Door, isForCommandLine, isForServer } from "./many-doors.ts";

/** What some clients do at the same time through some processes, and what came of it. */
export interface ClientHistory {
  readonly users: readonly string[];
  readonly doors: readonly Door[];
  readonly backups: string;
  readonly draw: () => number;
  readonly facts: Fact[];
  readonly erasures: Erased[];
  readonly reads: ReadCall[];
  readonly registers: Map<
    string,
    { readonly user: string; readonly first: string; readonly calls: RegisterCall[] }
  >;
  readonly duplicates: string[];
  /** Backups that were made, or may have been. */
  readonly copies: BackupCopy[];
  readonly faults: string[];
  /** Every call, for whoever reads a fault. */
  readonly log: string[];
  kills: number;
  calls: number;
  damaged: number;
  /** Memories whose calls fit no order. */
  brokenRegisters(): string[];
  told(): string;
}

/** A backup: a snapshot of a moment between the begin and the end of the call that made it. */
export interface BackupCopy {
  readonly file: string;
  readonly isAcked: boolean;
  readonly begin: number;
  readonly end: number;
}

let numbered = 0;

export function makeHistory(doors: readonly Door[], backups: string, draw: () => number): ClientHistory {
  numbered += 1;
  const log: string[] = [];
  const registers: ClientHistory["registers"] = new Map();
  return {
    users: [`ana${numbered}`, ...(draw() < 0.3 ? [`bo${numbered}`] : [])],
    doors,
    backups,
    draw,
    facts: [],
    erasures: [],
    reads: [],
    registers,
    duplicates: [],
    copies: [],
    faults: [],
    log,
    kills: 0,
    calls: 0,
    damaged: 0,
    brokenRegisters: () =>
      [...registers].filter(([, { first, calls }]) => !isLinearizable(calls, first)).map(([id]) => id),
    told: () => log.join("\n"),
  };
}

const CALLS_EACH = 8;

export async function playHistory(history: ClientHistory): Promise<void> {
  const { draw } = history;
  if (draw() < 0.6) await addRegister(history, pick(history, history.users));
  const clients = 2 + Math.floor(draw() * 3);
  const killing = draw() < 0.12 ? killOne(history) : undefined;
  await Promise.all(Array.from({ length: clients }, () => playClient(history)));
  await killing;
}

async function killOne(history: ClientHistory): Promise<void> {
  const { draw } = history;
  const door = pick(history, history.doors);
  await new Promise((resolve) => setTimeout(resolve, draw() * 80));
  await door.kill();
  history.kills += 1;
  history.log.push(`${performance.now().toFixed(1)} ${door.kind} killed`);
}

function pick<T>({ draw }: Pick<ClientHistory, "draw">, from: readonly T[]): T {
  const one = from[Math.floor(draw() * from.length)];
  if (one === undefined) throw new Error("there is none");
  return one;
}

interface Called {
  readonly outcome: CommandOutcome;
  readonly begin: number;
  /** Infinite where the outcome is not known. */
  readonly end: number;
}

async function call(history: ClientHistory, command: Command): Promise<Called> {
  const able = history.doors.filter(
    ({ kind }) =>
      kind !== "worker" &&
      (kind !== "command line" || isForCommandLine(command)) &&
      (kind !== "server" || isForServer(command)),
  );
  const door = pick(history, able);
  history.calls += 1;
  const begin = performance.now();
  const outcome = await door.ask(command);
  const ended = performance.now();
  const code = outcome.status === "done" ? outcome.text.slice(0, 60) : outcome.code;
  history.log.push(
    `${begin.toFixed(1)}-${ended.toFixed(1)} ${door.kind} ${JSON.stringify(command)}: ${outcome.status} ${code}`,
  );
  if (outcome.status !== "done" && /corrupt|malformed|damaged/.test(outcome.code)) {
    history.damaged += 1;
    history.faults.push(`${door.kind} says: ${outcome.code}`);
  }
  if (outcome.status === "unknown" && outcome.code.startsWith("internal"))
    history.faults.push(`${door.kind} says: ${outcome.code}`);
  return { outcome, begin, end: outcome.status === "unknown" ? Number.POSITIVE_INFINITY : ended };
}

function nextWord(): string {
  numbered += 1;
  return uniqueWord(numbered);
}

async function playClient(history: ClientHistory): Promise<void> {
  const { draw } = history;
  const count = 2 + Math.floor(draw() * (CALLS_EACH - 1));
  for (let number = 0; number < count; number += 1) {
    const user = pick(history, history.users);
    let left = draw() * TOTAL;
    for (const [weight, play] of KINDS) {
      left -= weight;
      if (left >= 0) continue;
      await play(history, user);
      break;
    }
  }
}

const KINDS: readonly (readonly [number, (history: ClientHistory, user: string) => Promise<void>])[] = [
  [26, remember],
  [5, importMany],
  [5, addAndUndo],
  [12, update],
  [14, getRegister],
  [9, forget],
  [4, eraseUser],
  [8, (history, user) => read(history, { op: "list", user })],
  [8, (history, user) => read(history, { op: "export", user })],
  [5, search],
  [1, check],
  [1, backUp],
];
const TOTAL = KINDS.reduce((sum, [weight]) => sum + weight, 0);

/** Sent again under its key where its outcome is not known, through whichever process. */
async function remember(history: ClientHistory, user: string): Promise<void> {
  const word = nextWord();
  const id = history.draw() < 0.5 ? { id: `m-${numbered}` } : {};
  const command: Command = { op: "remember", user, word, key: `key-${numbered}`, ...id };
  const first = await call(history, command);
  // Without an id, only what honours keys can be asked again.
  const isSafe = "id" in id || history.doors.every(({ kind }) => kind === "library");
  const last = first.outcome.status === "unknown" && isSafe ? await call(history, command) : first;
  const isAcked = last.outcome.status === "done";
  if (last.outcome.status === "refused" && first === last) return;
  const end = isAcked ? last.end : Number.POSITIVE_INFINITY;
  history.facts.push({ user, word, isAcked, begin: first.begin, end });
}

async function importMany(history: ClientHistory, user: string): Promise<void> {
  const words = [nextWord(), nextWord(), nextWord()];
  const { outcome, begin, end } = await call(history, { op: "import", user, words });
  if (outcome.status === "refused") return;
  const isAcked = outcome.status === "done";
  history.facts.push(...words.map((word) => ({ user, word, isAcked, begin, end })));
}

async function addRegister(history: ClientHistory, user: string): Promise<void> {
  const word = nextWord();
  const { outcome, begin, end } = await call(history, { op: "add", user, word });
  if (outcome.status === "refused") return;
  history.facts.push({ user, word, isAcked: false, isOfMemory: true, begin, end });
  if (outcome.status === "done" && outcome.id)
    history.registers.set(outcome.id, { user, first: word, calls: [] });
}

async function addAndUndo(history: ClientHistory, user: string): Promise<void> {
  const word = nextWord();
  const { outcome, begin, end } = await call(history, { op: "add", user, word });
  if (outcome.status === "refused") return;
  // A memory may be merged or changed: the set check asks for messages alone.
  history.facts.push({ user, word, isAcked: false, isOfMemory: true, begin, end });
  if (outcome.status !== "done" || outcome.revision === undefined) return;
  const undone = await call(history, { op: "undo", user, revision: outcome.revision });
  if (undone.outcome.status !== "done") return;
  const list = await call(history, { op: "list", user });
  if (list.outcome.status === "done" && list.outcome.text.includes(word))
    history.faults.push(`${word} was taken back, and is listed`);
}

async function update(history: ClientHistory, user: string): Promise<void> {
  const register = registerOf(history);
  if (register === undefined) return remember(history, user);
  const word = nextWord();
  const [id, { calls, user: owner }] = register;
  const { outcome, begin, end } = await call(history, { op: "update", user: owner, id, word });
  if (outcome.status === "refused") {
    if (outcome.code === "not_found") calls.push({ kind: "read", word: undefined, begin, end });
    return;
  }
  history.facts.push({ user: owner, word, isAcked: false, isOfMemory: true, begin, end });
  calls.push({ kind: "write", word, begin, end });
}

async function getRegister(history: ClientHistory, user: string): Promise<void> {
  const register = registerOf(history);
  if (register === undefined) return read(history, { op: "list", user });
  const [id, { calls, user: owner }] = register;
  const { outcome, begin, end } = await call(history, { op: "get", user: owner, id });
  if (outcome.status === "done") calls.push({ kind: "read", word: wordsIn(outcome.text)[0], begin, end });
  if (outcome.status === "refused" && outcome.code === "not_found")
    calls.push({ kind: "read", word: undefined, begin, end });
}

function registerOf(history: ClientHistory) {
  const all = [...history.registers];
  return all.length === 0 ? undefined : pick(history, all);
}

async function forget(history: ClientHistory, user: string): Promise<void> {
  const own = history.facts.filter((fact) => fact.isAcked && fact.user === user);
  if (own.length === 0) return remember(history, user);
  const { word } = pick(history, own);
  const { outcome, begin, end } = await call(history, { op: "forget", user, word });
  if (outcome.status === "refused") return;
  const isAcked = outcome.status === "done";
  history.erasures.push({
    user,
    word,
    isAcked,
    isComplete: isAcked && outcome.text === "complete",
    begin,
    end,
  });
}

async function eraseUser(history: ClientHistory, user: string): Promise<void> {
  const { outcome, begin, end } = await call(history, { op: "erase-user", user });
  if (outcome.status === "refused") return;
  const isAcked = outcome.status === "done";
  history.erasures.push({ user, isAcked, isComplete: isAcked && outcome.text === "complete", begin, end });
  for (const { calls, user: owner } of history.registers.values())
    if (owner === user) calls.push({ kind: "erase", word: undefined, begin, end });
}

async function read(
  history: ClientHistory,
  command: Extract<Command, { op: "list" | "export" | "search" }>,
): Promise<void> {
  const { outcome, begin, end } = await call(history, command);
  if (outcome.status !== "done") return;
  const isWhole = command.op === "export";
  history.reads.push({ user: command.user, isWhole, words: wordsIn(outcome.text), begin, end });
}

async function search(history: ClientHistory, user: string): Promise<void> {
  const own = history.facts.filter((fact) => fact.user === user);
  const word = own.length === 0 ? "nothing" : pick(history, own).word;
  const { outcome, begin, end } = await call(history, { op: "search", user, word });
  if (outcome.status !== "done") return;
  // The question itself holds the word: only what was found counts.
  const words = wordsIn(outcome.text.replaceAll(`Do I use ${word}?`, ""));
  history.reads.push({ user, isWhole: false, words, begin, end });
}

async function check(history: ClientHistory): Promise<void> {
  const { outcome } = await call(history, { op: "doctor" });
  if (outcome.status !== "done" || outcome.text === "") return;
  history.damaged += 1;
  history.faults.push(`doctor says: ${outcome.text}`);
}

/** Has a process make a backup. */
export async function backUp(history: ClientHistory): Promise<void> {
  numbered += 1;
  const file = join(history.backups, `copy-${numbered}.db`);
  const { outcome, begin, end } = await call(history, { op: "backup", file });
  history.copies.push({ file, isAcked: outcome.status === "done", begin, end });
}
