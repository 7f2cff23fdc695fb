import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { countHeld, wordsOfMemory, wordsOfMessage, wordsOfReceipt } from "../shared/held-words.ts";
import type { Database } from "./database.ts";
import { isBusy, isFull } from "./errors.ts";
import { answersHeld } from "./kept-answers.ts";
import { countLive } from "./live.ts";
import { backups } from "./proof.ts";
import { countInFile, type RawSearch, rawSearch } from "./raw-search.ts";
import { bodyOf, userOf } from "./rows.ts";

interface Place {
  readonly place: string;
  readonly found: number;
}

const LOG_TRIES = 20;
const LOG_PAUSE_MS = 50;

/**
 * Writes the log of the database back and empties it, then says how many of the texts stand in each place of the
 * scope, and in the raw bytes of the database's files more often than live rows of anybody explain. Such leftovers
 * are of pages that were split or moved: then the whole file is written anew. Other files in the folder that begin
 * with the database's name (copies, exports) are read too, and left as they are. Texts of fewer than four bytes are
 * looked for in rows alone, for they stand in any file by chance.
 */
export async function scrub(database: Database, scope: Scope, texts: readonly string[]): Promise<Place[]> {
  const places = rowsOf(database, scope, texts);
  if (database.path === ":memory:") return places;
  const search = rawSearch(texts);
  const { own, others } = filesOf(database);
  return [
    ...places,
    { place: "files", found: await clean(database, own, search, texts.length) },
    { place: "other files beside it", found: total(await countIn(others, search, texts.length)) },
  ];
}

function rowsOf(database: Database, scope: Scope, texts: readonly string[]): Place[] {
  const user = userOf(database, scope)?.id ?? -1;
  const all = (sql: string) => database.statement(sql).all({ user });
  const messages = all("SELECT body FROM messages WHERE user = :user").map(bodyOf<Message>);
  const versions = all("SELECT body FROM versions WHERE user = :user").map(bodyOf<Memory>);
  const terms = all("SELECT terms FROM units WHERE user = :user").map((row) => String(row.terms));
  const answers = answersHeld(database, scope).map(({ body }) => body);
  const receipts = all("SELECT body FROM receipts WHERE user = :user").map(bodyOf<KeptReceipt>);
  return [
    { place: "messages", found: countHeld(texts, messages.flatMap(wordsOfMessage)) },
    { place: "memories", found: countHeld(texts, versions.flatMap(wordsOfMemory)) },
    { place: "text index", found: countHeld(texts, terms) },
    { place: "receipts", found: countHeld(texts, [...receipts.flatMap(wordsOfReceipt), ...answers]) },
  ];
}

/** How many of the texts are left in the database's files once all has been done that can be done. */
async function clean(
  database: Database,
  files: readonly string[],
  search: RawSearch,
  texts: number,
): Promise<number> {
  const isEmptied = await emptyLog(database);
  // It is not known what to look for: a file written anew holds what its rows hold, and nothing else.
  if (texts === 0) return isEmptied && writtenAnew(database) && (await emptyLog(database)) ? 0 : 1;
  // The usual case: they are nowhere, and nobody had to wait for the search.
  if (total(await countIn(files, search, texts)) === 0) return 0;
  if (leftovers(database, files, search, texts) === 0) return 0;
  // With a reader in another process that holds the log, writing the file anew would only make the log longer.
  if (isEmptied && writtenAnew(database)) await emptyLog(database);
  return leftovers(database, files, search, texts);
}

/** False where there is no room for it, or another process is in the way; then what is left is counted and told. */
function writtenAnew({ handle }: Database): boolean {
  try {
    handle.exec("VACUUM");
    return true;
  } catch (error) {
    if (isBusy(error) || isFull(error)) return false;
    throw error;
  }
}

/** False where a reader in another process still holds the log after two seconds; then it is left as it is. */
async function emptyLog({ handle }: Database): Promise<boolean> {
  for (let attempt = 1; attempt <= LOG_TRIES; attempt += 1) {
    const row = handle.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (Number(row?.busy ?? 0) === 0) return true;
    await pause(LOG_PAUSE_MS);
  }
  return false;
}

/**
 * How many texts stand more often in the raw files than live rows of anybody explain. Files and rows are read in one
 * go: a commit in between would make them differ. A text that lies across two pages is not seen, here and there.
 */
function leftovers(database: Database, files: readonly string[], search: RawSearch, texts: number): number {
  const raw = zeros(texts);
  for (const file of files) {
    if (statSync(file, { throwIfNoEntry: false })) search.count(readFileSync(file), raw);
  }
  const live = zeros(texts);
  countLive(database, search, live);
  return raw.filter((count, i) => count > (live[i] ?? 0)).length;
}

async function countIn(files: readonly string[], search: RawSearch, texts: number): Promise<number[]> {
  const counts = zeros(texts);
  if (search.isEmpty) return counts;
  for (const file of files) await countInFile(file, search, counts);
  return counts;
}

/**
 * The database with its logs; and what else is called after it, but for the secret and the ledger, which hold no words,
 * and the backups that the receipt itself names. One that should be gone by now, and is not, is read.
 */
function filesOf(database: Database): { own: string[]; others: string[] } {
  const { path } = database;
  const now = new Date().toISOString();
  const noted = backups(database)
    .filter(({ until }) => until === undefined || until > now)
    .map(({ name }) => join(dirname(path), name));
  const passed = [`${path}.secret`, `${path}.erasures`, ...noted];
  const own = [path, `${path}-wal`, `${path}-shm`, `${path}-journal`];
  const others = readdirSync(dirname(path), { withFileTypes: true })
    .filter((file) => file.isFile() && /^[-.~ _]/.test(afterName(file.name, basename(path))))
    .map(({ name }) => join(dirname(path), name))
    .filter((file) => !own.includes(file) && !passed.includes(file));
  return { own, others };
}

function afterName(file: string, name: string): string {
  return file.startsWith(name) ? file.slice(name.length) : "";
}

function zeros(length: number): number[] {
  return new Array<number>(length).fill(0);
}

function total(counts: readonly number[]): number {
  return counts.filter((count) => count > 0).length;
}
