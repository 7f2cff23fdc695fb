import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import type { Memory } from "../../../src/domain/memory.ts";
import type { Message } from "../../../src/domain/message.ts";
import { keysFile, keysPathOf } from "../../../src/http/keys/key-stores.ts";
import { createMemory } from "../../../src/memory.ts";
import type { TracedRequest } from "./workload.ts";

/** What was found in a state. Each entry says what is wrong, in words. */
export interface DiskOutcome {
  /** Acknowledged, and not there. */
  readonly lost: readonly string[];
  /** There in part: a message without its memory, a row without its like. */
  readonly half: readonly string[];
  /** The file cannot be opened or does not hold together. */
  readonly corrupt: readonly string[];
  /** Erased, acknowledged, and there. */
  readonly resurrected: readonly string[];
}

const PROJECT = "default";
const UNVERIFIED = "it was not verified to the end";

/**
 * Opens what a power cut left, with the product's own code, and compares it with what had been acknowledged, and with what had
 * been asked for without an answer.
 */
export async function examineState(
  folder: string,
  acknowledged: readonly TracedRequest[],
  underWay: readonly TracedRequest[],
): Promise<DiskOutcome> {
  const path = join(folder, "memory.db");
  const outcome = { lost: [], half: [], corrupt: [], resurrected: [] } as {
    [name in keyof DiskOutcome]: string[];
  };
  const stored = acknowledged.filter(({ kind }) => kind !== "backup" && kind !== "key");
  if (!existsSync(path)) {
    if (stored.length > 0) outcome.lost.push("the whole database");
    return outcome;
  }
  try {
    const memory = await createMemory({ path });
    try {
      outcome.corrupt.push(
        ...(await memory.check()).map((one) => `${one.count} ${one.place} ${one.problem}`),
      );
      const { broken } = await memory.audit();
      outcome.corrupt.push(...receiptFaults(broken, acknowledged).map((one) => `audit: ${one}`));
      // Without the secret it was made with, a receipt proves nothing and a tombstone stops nothing.
      const lacksSecret = memory.notices.filter((notice) => /secret/i.test(notice));
      outcome.lost.push(...lacksSecret);
    } finally {
      await memory.close();
    }
    await compare(path, acknowledged, underWay, outcome);
    if (stored.some(({ kind }) => kind === "erase")) lookForBytes(folder, acknowledged, outcome.resurrected);
  } catch (error) {
    outcome.corrupt.push(`it cannot be opened: ${(error as Error).message}`);
  }
  examineKeys(folder, acknowledged, outcome);
  await examineBackups(folder, acknowledged, outcome);
  return outcome;
}

/**
 * What is wrong with receipts, in words. An erasure that was cut off before it was acknowledged, or that was acknowledged as not
 * complete, says itself that it was not verified: that is right.
 */
export function receiptFaults(
  broken: readonly { readonly id: string; readonly problem: string }[],
  acknowledged: readonly TracedRequest[],
): string[] {
  const isVerified = (id: string): boolean =>
    acknowledged.some(({ target, isComplete }) => target === id && isComplete !== false);
  const wrong = broken.filter(({ id, problem }) => isVerified(id) || problem !== UNVERIFIED);
  return wrong.map(({ id, problem }) => {
    const request = acknowledged.find(({ target }) => target === id);
    return `${problem} (${request === undefined ? "not acknowledged" : `${request.id}, complete: ${request.isComplete}`})`;
  });
}

type Findings = { readonly [name in keyof DiskOutcome]: string[] };

/** What a user has, as it is served. */
interface Served {
  readonly messages: readonly Message[];
  readonly memories: readonly Memory[];
  /** All of it and the log, as text. */
  readonly all: string;
  versions(id: string): Promise<readonly Memory[]>;
}

async function compare(
  path: string,
  acknowledged: readonly TracedRequest[],
  underWay: readonly TracedRequest[],
  outcome: Findings,
): Promise<void> {
  const record = await openSqliteStore({ path });
  const users = new Set([...acknowledged, ...underWay].map(({ user }) => user).filter((user) => user !== ""));
  for (const user of users) {
    const scope = { project: PROJECT, user };
    const { messages, memories } = await record.since(scope, 0, { units: false });
    const log = JSON.stringify(await record.log(scope, { limit: 1000 }));
    const versions = (id: string) => record.versions(scope, id);
    const served = { messages, memories, all: JSON.stringify([messages, memories]) + log, versions };
    const own = acknowledged.filter((one) => one.user === user);
    const asked = underWay.filter((one) => one.user === user);
    await findLost(served, own, wordsErased(asked), outcome.lost);
    findHalf(served, [...own, ...asked], wordsErased(own), outcome.half);
    for (const word of wordsErased(own)) {
      if (served.all.includes(`Tool${word}`)) outcome.resurrected.push(`${word} is served`);
    }
  }
  await record.close();
}

function wordsErased(requests: readonly TracedRequest[]): ReadonlySet<string> {
  return new Set(requests.filter(({ kind }) => kind === "erase").map(({ word }) => word));
}

async function findLost(
  served: Served,
  own: readonly TracedRequest[],
  mayBeErased: ReadonlySet<string>,
  lost: string[],
): Promise<void> {
  const erased = new Set([...wordsErased(own), ...mayBeErased]);
  for (const request of own) {
    if (request.kind === "tell" && erased.has(request.word)) continue;
    if (!(await isThere(served, request))) lost.push(`${request.kind} of ${request.word}`);
  }
}

async function isThere(
  { messages, memories, all, versions }: Served,
  { kind, word, target, text }: TracedRequest,
): Promise<boolean> {
  const memory = memories.find(({ id }) => id === target);
  switch (kind) {
    case "tell":
      return messages.find(({ id }) => id === target)?.content === text && all.includes(`uses Tool${word} `);
    case "add":
      return memory !== undefined;
    case "update":
      return (await versions(target)).some((one) => one.text === text);
    case "remove":
      return memory?.status !== "current";
    default:
      return true;
  }
}

/** A message and the memory that was read from it come in one change, or not at all. */
function findHalf(
  { messages, memories }: Served,
  requests: readonly TracedRequest[],
  erased: ReadonlySet<string>,
  half: string[],
): void {
  for (const { kind, word, target } of requests) {
    if (kind !== "tell" || erased.has(word)) continue;
    const hasMessage = messages.find(({ id }) => id === target)?.content.includes(`Tool${word} `) === true;
    const hasMemory = memories.some(({ text }) => text.includes(`Tool${word} `));
    if (hasMessage !== hasMemory)
      half.push(`of ${word} the ${hasMessage ? "message" : "memory"} alone is there`);
  }
}

/** After an acknowledged erasure no file of the database holds the words any more, not even in bytes that no row owns. */
function lookForBytes(folder: string, acknowledged: readonly TracedRequest[], resurrected: string[]): void {
  const files = readdirSync(folder).filter((name) => name.startsWith("memory.db"));
  const bytes = files.map((name) => readFileSync(join(folder, name)).toString("latin1")).join("\n");
  for (const { kind, word, isComplete } of acknowledged) {
    if (kind === "erase" && isComplete && bytes.includes(`Tool${word}`))
      resurrected.push(`${word} stands in bytes`);
  }
}

function examineKeys(folder: string, acknowledged: readonly TracedRequest[], outcome: Findings): void {
  try {
    const labels =
      keysFile(keysPathOf(join(folder, "memory.db")))
        .read()
        ?.keys.map(({ label }) => label) ?? [];
    for (const { kind, word } of acknowledged) {
      if (kind === "key" && !labels.includes(word)) outcome.lost.push(`the key of ${word}`);
    }
  } catch (error) {
    outcome.corrupt.push(`the keys: ${(error as Error).message}`);
  }
}

/** A backup is there whole, or not at all; once it was said to be made, it is there. */
async function examineBackups(
  folder: string,
  acknowledged: readonly TracedRequest[],
  outcome: Findings,
): Promise<void> {
  for (const id of ["backup-1", "backup-2"]) {
    const copy = join(folder, `${id}.copy`);
    if (!existsSync(copy)) {
      if (acknowledged.some((one) => one.id === id)) outcome.lost.push(id);
      continue;
    }
    try {
      const record = await openSqliteStore({ path: copy });
      const faults = await record.check();
      await record.close();
      if (faults.length > 0) outcome.corrupt.push(`${id} does not hold together`);
    } catch (error) {
      outcome.corrupt.push(`${id}: ${(error as Error).message}`);
    }
  }
}
