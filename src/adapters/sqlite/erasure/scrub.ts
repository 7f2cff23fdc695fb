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
import { findUser, parseBody, type SqliteDatabase } from "../database.ts";
import { isBusy, isFull } from "../errors.ts";
import { deleteUpdateCopies } from "../files/update-copies.ts";
import { readStoredAnswers } from "../tables/answer-cache.ts";
import { readBackupNotes } from "../tables/receipts.ts";
import type { ScanRequest, ScanResponse } from "./file-scan.ts";
import type { ScanText } from "./raw-search.ts";

interface SqliteScrubCount {
  readonly place: string;
  readonly found: number;
}

const MAX_LOG_ATTEMPTS = 20;
const LOG_PAUSE_MS = 50;

/**
 * Checkpoints and empties the database's log, then counts the texts in each place of the scope. It also counts texts that occur
 * in the raw bytes of the database's files more often than live rows explain. Such leftovers come from pages that were split or
 * moved, and the whole file is then rewritten.
 *
 * Other files in the folder whose name begins with the database's name (copies, exports) are read but not changed. Copies made
 * before an update are deleted. Texts of fewer than four bytes are only searched in rows, because they occur in any file by
 * chance. `samples` are bytes of erased attachments, searched in the files only.
 */
export async function scrubDatabase(
  database: SqliteDatabase,
  scope: Scope,
  texts: readonly string[],
  samples: readonly Uint8Array[] = [],
): Promise<SqliteScrubCount[]> {
  const places = countInRows(database, scope, texts);
  if (database.path === ":memory:") return places;
  const copies = await deleteUpdateCopies(database.path);
  const { own: databaseFiles, others } = listScannedFiles(database);
  const searched: readonly ScanText[] = [
    ...texts,
    ...samples.map((bytes) => ({ base64: Buffer.from(bytes).toString("base64") })),
  ];
  return [
    ...places,
    ...(copies.dropped + copies.left > 0
      ? [{ place: "copies made before an update", found: copies.left }]
      : []),
    { place: "files", found: await cleanFiles(database, databaseFiles, searched) },
    { place: "other files beside it", found: await countFound(others, searched) },
  ];
}

function countInRows(database: SqliteDatabase, scope: Scope, texts: readonly string[]): SqliteScrubCount[] {
  const user = findUser(database, scope)?.id ?? -1;
  const selectRows = (sql: string) => database.statement(sql).all({ user });
  const messages = selectRows("SELECT body FROM messages WHERE user = :user").map(parseBody<Message>);
  const versions = selectRows("SELECT body FROM versions WHERE user = :user").map(parseBody<Memory>);
  const terms = selectRows("SELECT terms FROM units WHERE user = :user").map((row) => String(row.terms));
  const answers = readStoredAnswers(database, scope).map(({ body }) => body);
  const receipts = selectRows("SELECT body FROM receipts WHERE user = :user").map(parseBody<KeptReceipt>);
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

/** Counts the texts that remain in the database's files after all possible cleaning. */
async function cleanFiles(
  database: SqliteDatabase,
  files: readonly string[],
  texts: readonly ScanText[],
): Promise<number> {
  const isEmptied = await emptyLog(database);
  // The texts are unknown, so rewrite the file: afterwards, it contains its rows and nothing else.
  if (texts.length === 0) return isEmptied && rewriteFile(database) && (await emptyLog(database)) ? 0 : 1;
  // Usually the texts are nowhere, and no row has to be read.
  if ((await countFound(files, texts)) === 0) return 0;
  if ((await countLeftovers(database, files, texts)) === 0) return 0;
  // If a reader in another process holds the log, rewriting the file would only make the log longer.
  if (isEmptied && rewriteFile(database)) await emptyLog(database);
  return countLeftovers(database, files, texts);
}

/** False if the disk is too full or another process blocks it; the leftovers are then counted and reported. */
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

/** False if a reader in another process still holds the log after two seconds; the log then stays. */
async function emptyLog({ handle }: SqliteDatabase): Promise<boolean> {
  for (let attempt = 1; attempt <= MAX_LOG_ATTEMPTS; attempt += 1) {
    const row = handle.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (Number(row?.busy ?? 0) === 0) return true;
    await pause(LOG_PAUSE_MS);
  }
  return false;
}

/** Counts the texts that occur in the raw files more often than live rows explain. */
async function countLeftovers(
  { path }: SqliteDatabase,
  files: readonly string[],
  texts: readonly ScanText[],
): Promise<number> {
  const left = await scanFiles({ scan: "leftovers", path, files, texts });
  return left.filter((found) => found > 0).length;
}

/** Counts the texts that occur in the files. */
async function countFound(files: readonly string[], texts: readonly ScanText[]): Promise<number> {
  if (files.length === 0) return 0;
  const counts = await scanFiles({ scan: "count", files, texts });
  return counts.filter((count) => count > 0).length;
}

/**
 * The database with its logs, and other files with its name as a prefix. Excluded are the secret and the ledger, which contain no
 * words, and the backups that the receipt names. A backup that should have been deleted by now is included.
 */
function listScannedFiles(database: SqliteDatabase): { own: string[]; others: string[] } {
  const { path } = database;
  const now = new Date().toISOString();
  const currentBackups = readBackupNotes(database)
    .filter(({ until }) => until === undefined || until > now)
    .map(({ name }) => join(dirname(path), name));
  const excluded = [`${path}.secret`, `${path}.erasures`, ...currentBackups];
  const own = [path, `${path}-wal`, `${path}-shm`, `${path}-journal`];
  const others = readdirSync(dirname(path), { withFileTypes: true })
    .filter((file) => file.isFile() && /^[-.~ _]/.test(getNameSuffix(file.name, basename(path))))
    .map(({ name }) => join(dirname(path), name))
    .filter((file) => !own.includes(file) && !excluded.includes(file));
  return { own, others };
}

function getNameSuffix(file: string, name: string): string {
  return file.startsWith(name) ? file.slice(name.length) : "";
}

/** How long the process waits for another scan, in ms: erasures come in groups, and starting it takes 50 ms. */
const IDLE_MS = 5000;
/** A process that was killed is restarted once. */
const MAX_SCAN_ATTEMPTS = 2;

type ScanChannel = WorkerChannel<ScanRequest, ScanResponse>;

let activeChannel: ScanChannel | undefined;
let isScanning = false;
let idleTimer: NodeJS.Timeout | undefined;

interface WaitingScan {
  readonly request: ScanRequest;
  readonly answer: PromiseWithResolvers<readonly number[]>;
}

/** The most texts of a combined scan; a single request may have more. */
const MAX_TEXTS_PER_SCAN = 2000;

let waitingScans: WaitingScan[] = [];

/**
 * Scans files in a separate process, because this one may have the database open and would lose its locks (see `runScan`). It
 * does not block the event loop. Requests that arrive during a scan are combined, so that many erasures do not queue up. Gives a
 * number for each text. Throws `unavailable` if no such process can run or the files cannot be read.
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

/** Takes the first waiting request, and others for the same files and kind of scan. */
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
    "the process that scans the files ended. Check that this program may start processes. The erasure is verified later.",
  );
}

function getChannel(): ScanChannel {
  if (activeChannel) return activeChannel;
  const channel: ScanChannel = openWorkerChannel(
    () => forkWorkerProcess(import.meta.url, "./file-scan-child", null),
    () => {
      if (activeChannel === channel) activeChannel = undefined;
    },
  );
  activeChannel = channel;
  return channel;
}

function endWhenIdle(): void {
  const channel = activeChannel;
  idleTimer = setTimeout(() => {
    if (activeChannel === channel) activeChannel = undefined;
    void channel?.close();
  }, IDLE_MS);
  idleTimer.unref();
}
