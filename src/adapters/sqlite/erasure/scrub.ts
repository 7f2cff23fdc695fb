import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import type { KeptReceipt } from "../../../domain/receipt.ts";
import type { Scope } from "../../../domain/scope.ts";
import { MemoryError } from "../../../errors.ts";
import {
  collectMemoryTexts,
  collectMessageTexts,
  collectReceiptTexts,
  countOccurringTexts,
} from "../../shared/erased-texts.ts";
import { forkWorkerProcess, openWorkerChannel, type WorkerChannel } from "../../shared/worker-channel.ts";
import { readStoredAnswers } from "../answer-cache.ts";
import { findUser, parseBody, type SqliteDatabase } from "../database.ts";
import { isBusy, isFull } from "../errors.ts";
import { deleteUpdateCopies } from "../files/backup.ts";
import { readBackupNotes } from "../receipts.ts";
import type { ScanRequest, ScanResponse } from "./file-scan.ts";

interface SqliteScrubCount {
  readonly place: string;
  readonly found: number;
}

const MAX_LOG_ATTEMPTS = 20;
const LOG_PAUSE_MS = 50;

/**
 * Writes the log of the database back and empties it, then says how many of the texts stand in each place of the
 * scope, and in the raw bytes of the database's files more often than live rows of anybody explain. Such leftovers
 * are of pages that were split or moved: then the whole file is written anew. Other files in the folder that begin
 * with the database's name (copies, exports) are read too, and left as they are; but copies made before an update go. Texts of fewer than four bytes are
 * looked for in rows alone, for they stand in any file by chance.
 */
export async function scrubDatabase(
  database: SqliteDatabase,
  scope: Scope,
  texts: readonly string[],
): Promise<SqliteScrubCount[]> {
  const places = countInRows(database, scope, texts);
  if (database.path === ":memory:") return places;
  const copies = await deleteUpdateCopies(database.path);
  const { own, others } = listScannedFiles(database);
  return [
    ...places,
    ...(copies.dropped + copies.left > 0
      ? [{ place: "copies made before an update", found: copies.left }]
      : []),
    { place: "files", found: await cleanFiles(database, own, texts) },
    { place: "other files beside it", found: await countFound(others, texts) },
  ];
}

function countInRows(database: SqliteDatabase, scope: Scope, texts: readonly string[]): SqliteScrubCount[] {
  const user = findUser(database, scope)?.id ?? -1;
  const all = (sql: string) => database.statement(sql).all({ user });
  const messages = all("SELECT body FROM messages WHERE user = :user").map(parseBody<Message>);
  const versions = all("SELECT body FROM versions WHERE user = :user").map(parseBody<Memory>);
  const terms = all("SELECT terms FROM units WHERE user = :user").map((row) => String(row.terms));
  const answers = readStoredAnswers(database, scope).map(({ body }) => body);
  const receipts = all("SELECT body FROM receipts WHERE user = :user").map(parseBody<KeptReceipt>);
  return [
    { place: "messages", found: countOccurringTexts(texts, messages.flatMap(collectMessageTexts)) },
    { place: "memories", found: countOccurringTexts(texts, versions.flatMap(collectMemoryTexts)) },
    { place: "text index", found: countOccurringTexts(texts, terms) },
    {
      place: "receipts",
      found: countOccurringTexts(texts, [...receipts.flatMap(collectReceiptTexts), ...answers]),
    },
  ];
}

/** How many of the texts are left in the database's files once all has been done that can be done. */
async function cleanFiles(
  database: SqliteDatabase,
  files: readonly string[],
  texts: readonly string[],
): Promise<number> {
  const isEmptied = await emptyLog(database);
  // It is not known what to look for: a file written anew holds what its rows hold, and nothing else.
  if (texts.length === 0) return isEmptied && rewriteFile(database) && (await emptyLog(database)) ? 0 : 1;
  // The usual case: they are nowhere, and no row has to be read.
  if ((await countFound(files, texts)) === 0) return 0;
  if ((await countLeftovers(database, files, texts)) === 0) return 0;
  // With a reader in another process that holds the log, writing the file anew would only make the log longer.
  if (isEmptied && rewriteFile(database)) await emptyLog(database);
  return countLeftovers(database, files, texts);
}

/** False where there is no room for it, or another process is in the way; then what is left is counted and told. */
function rewriteFile({ handle, noteFailure }: SqliteDatabase): boolean {
  try {
    handle.exec("VACUUM");
    return true;
  } catch (error) {
    noteFailure(error);
    if (isBusy(error) || isFull(error)) return false;
    throw error;
  }
}

/** False where a reader in another process still holds the log after two seconds; then it is left as it is. */
async function emptyLog({ handle }: SqliteDatabase): Promise<boolean> {
  for (let attempt = 1; attempt <= MAX_LOG_ATTEMPTS; attempt += 1) {
    const row = handle.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (Number(row?.busy ?? 0) === 0) return true;
    await pause(LOG_PAUSE_MS);
  }
  return false;
}

/** How many of the texts occur in the raw files more often than live rows of any user explain. */
async function countLeftovers(
  { path }: SqliteDatabase,
  files: readonly string[],
  texts: readonly string[],
): Promise<number> {
  const left = await scanFiles({ scan: "leftovers", path, files, texts });
  return left.filter((found) => found > 0).length;
}

/** How many of the texts occur in the files at all. */
async function countFound(files: readonly string[], texts: readonly string[]): Promise<number> {
  if (files.length === 0) return 0;
  const counts = await scanFiles({ scan: "count", files, texts });
  return counts.filter((count) => count > 0).length;
}

/**
 * The database with its logs; and what else is called after it, but for the secret and the ledger, which hold no words,
 * and the backups that the receipt itself names. One that should be gone by now, and is not, is read.
 */
function listScannedFiles(database: SqliteDatabase): { own: string[]; others: string[] } {
  const { path } = database;
  const now = new Date().toISOString();
  const noted = readBackupNotes(database)
    .filter(({ until }) => until === undefined || until > now)
    .map(({ name }) => join(dirname(path), name));
  const passed = [`${path}.secret`, `${path}.erasures`, ...noted];
  const own = [path, `${path}-wal`, `${path}-shm`, `${path}-journal`];
  const others = readdirSync(dirname(path), { withFileTypes: true })
    .filter((file) => file.isFile() && /^[-.~ _]/.test(getNameSuffix(file.name, basename(path))))
    .map(({ name }) => join(dirname(path), name))
    .filter((file) => !own.includes(file) && !passed.includes(file));
  return { own, others };
}

function getNameSuffix(file: string, name: string): string {
  return file.startsWith(name) ? file.slice(name.length) : "";
}

/** How long the process waits for another scan, in ms: erasures come in groups, and a start takes 50 ms. */
const IDLE_MS = 5000;
/** A process that was killed is begun again once. */
const MAX_SCAN_ATTEMPTS = 2;

type ScanChannel = WorkerChannel<ScanRequest, ScanResponse>;

let activeChannel: ScanChannel | undefined;
let isScanning = false;
let idleTimer: NodeJS.Timeout | undefined;

interface WaitingScan {
  readonly request: ScanRequest;
  readonly answer: PromiseWithResolvers<readonly number[]>;
}

/** Texts of one scan; one request alone may have more. */
const MAX_TEXTS_PER_SCAN = 2000;

let waitingScans: WaitingScan[] = [];

/**
 * Scans files in a process of its own: this one may have the database open, and would lose its locks on it (see `runScan`).
 * The event loop is free meanwhile. What waits while another scan runs is looked for in one scan, so that many erasures at once do not
 * queue up. Gives a number for each text. `unavailable` where no such process can run or the files cannot be read.
 */
export function scanFiles(request: ScanRequest): Promise<readonly number[]> {
  const answer = Promise.withResolvers<readonly number[]>();
  waitingScans.push({ request, answer });
  if (!isScanning) void scanWaiting();
  return answer.promise;
}

async function scanWaiting(): Promise<void> {
  clearTimeout(idleTimer);
  isScanning = true;
  for (let batch = takeNextBatch(); batch.length > 0; batch = takeNextBatch()) {
    const [first] = batch;
    const texts = batch.flatMap(({ request }) => request.texts);
    try {
      const found = first ? await scanOnce({ ...first.request, texts }) : [];
      let from = 0;
      for (const { request, answer } of batch) {
        answer.resolve(found.slice(from, from + request.texts.length));
        from += request.texts.length;
      }
    } catch (error) {
      for (const { answer } of batch) answer.reject(error);
    }
  }
  isScanning = false;
  endWhenIdle();
}

/** Takes the first that waits, and others that look into the same files in the same way. */
function takeNextBatch(): WaitingScan[] {
  const [first] = waitingScans;
  if (!first) return [];
  const batch: WaitingScan[] = [];
  const rest: WaitingScan[] = [];
  const key = toFilesKey(first.request);
  let texts = 0;
  for (const one of waitingScans) {
    texts += one.request.texts.length;
    const isTaken = one === first || (texts <= MAX_TEXTS_PER_SCAN && toFilesKey(one.request) === key);
    (isTaken ? batch : rest).push(one);
  }
  waitingScans = rest;
  return batch;
}

function toFilesKey({ texts: _texts, ...where }: ScanRequest): string {
  return JSON.stringify(where);
}

async function scanOnce(request: ScanRequest): Promise<readonly number[]> {
  for (let attempt = 1; attempt <= MAX_SCAN_ATTEMPTS; attempt += 1) {
    const { told } = await getChannel().request(request);
    if (!told) continue;
    if ("found" in told) return told.found;
    throw new MemoryError("unavailable", `the files could not be scanned: ${told.failure}`);
  }
  throw new MemoryError(
    "unavailable",
    "the process that scans the files ended. Check that this program may start processes; the erasure is verified later.",
  );
}

function getChannel(): ScanChannel {
  if (activeChannel) return activeChannel;
  const line: ScanChannel = openWorkerChannel(
    () => forkWorkerProcess(import.meta.url, "./file-scan-child", null),
    () => {
      if (activeChannel === line) activeChannel = undefined;
    },
  );
  activeChannel = line;
  return line;
}

function endWhenIdle(): void {
  const line = activeChannel;
  idleTimer = setTimeout(() => {
    if (activeChannel === line) activeChannel = undefined;
    void line?.close();
  }, IDLE_MS);
  idleTimer.unref();
}
