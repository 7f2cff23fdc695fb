import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { HookRequest } from "./hook-events.ts";
import type { HookPlaces } from "./hook-places.ts";

/** The end of the name of an event that waits, and of one that is being written. */
const EVENT = ".json";
const DRAFT = ".draft";
/** A draft of this age in ms is of a process that was killed. */
const MAX_DRAFT_AGE_MS = 3_600_000;
/** Digits of the time in a name, so that names sort by it. */
const TIME_DIGITS = 15;

/**
 * Keeps an event in a file of its own until it is stored: completely, or not at all. It is there from then on, also if any
 * process is killed. Gives the file. Throws if it cannot be written.
 */
export function spoolEvent({ waiting }: Pick<HookPlaces, "waiting">, request: HookRequest): string {
  const name = `${String(Date.now()).padStart(TIME_DIGITS, "0")}-${request.id}`;
  const draft = join(waiting, name + DRAFT);
  const file = join(waiting, name + EVENT);
  try {
    writeFileSync(draft, JSON.stringify(request), { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  return file;
}

/** Makes an event outlast a loss of power, too. Never throws: it may be stored by now, and its file gone. */
export async function flushEvent(file: string): Promise<void> {
  try {
    await using handle = await open(file, "r+");
    await handle.sync();
  } catch {
    // It is as safe as any file that a program has written.
  }
}

/** Lists the files of events that wait, in the order of their time. Throws if the folder cannot be read. */
export function listWaiting({ waiting }: Pick<HookPlaces, "waiting">): string[] {
  const names = readdirSync(waiting).sort();
  for (const name of names) if (name.endsWith(DRAFT)) dropOldDraft(join(waiting, name));
  return names.filter((name) => name.endsWith(EVENT)).map((name) => join(waiting, name));
}

function dropOldDraft(file: string): void {
  const { mtimeMs = Date.now() } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if (Date.now() - mtimeMs > MAX_DRAFT_AGE_MS) rmSync(file, { force: true });
}

/** Reads an event that waits. Gives undefined for what no hook has written completely. Throws if it cannot be read. */
export function readEvent(file: string): HookRequest | undefined {
  const text = readFileSync(file, "utf8");
  try {
    const request: unknown = JSON.parse(text);
    return typeof request === "object" && request !== null ? (request as HookRequest) : undefined;
  } catch {
    return undefined;
  }
}
