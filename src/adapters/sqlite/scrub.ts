import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Scope } from "../../domain/scope.ts";
import type { Database } from "./database.ts";
import { userOf } from "./rows.ts";

/** Where words of a user can stand, and the column that holds them. */
const PLACES = [
  ["messages", "SELECT body AS text FROM messages WHERE user = :user"],
  ["memories", "SELECT body AS text FROM versions WHERE user = :user"],
  ["text index", "SELECT terms AS text FROM units WHERE user = :user"],
  [
    "receipts",
    "SELECT body AS text FROM receipts WHERE user = :user UNION ALL SELECT body FROM erasures WHERE user = :user",
  ],
  ["log", "SELECT body AS text FROM log WHERE user = :user"],
] as const;

/** Every column of every user that can hold words: what explains an occurrence in the raw bytes. */
const LIVE =
  "SELECT body AS text FROM messages UNION ALL SELECT body FROM versions UNION ALL SELECT terms FROM units " +
  "UNION ALL SELECT body FROM receipts UNION ALL SELECT body FROM log UNION ALL SELECT body FROM erasures " +
  "UNION ALL SELECT id FROM messages UNION ALL SELECT owner FROM units UNION ALL SELECT id FROM units UNION ALL SELECT name FROM users";

const CHUNK_BYTES = 32 * 1024 * 1024;
/** Bytes read in all for the search of the raw files: in large files the first, most telling texts are looked for. */
const MOST_BYTES = 8e9;
const CHECKPOINT_TRIES = 40;

/**
 * Writes the log of the database back and empties it, then counts each text in every place of the scope and in the
 * raw bytes of all files of the database. What live rows do not explain is a leftover of a page that was split or
 * moved: then the file is written anew.
 */
export async function scrub(
  database: Database,
  scope: Scope,
  texts: readonly string[],
): Promise<{ place: string; found: number }[]> {
  const needles = texts.map(foldText).filter((text) => text !== "");
  await emptyLog(database);
  const user = userOf(database, scope)?.id ?? -1;
  const places = PLACES.map(([place, sql]) => ({
    place,
    found: countHeld(database, sql, needles, { user }),
  }));
  if (database.path === ":memory:") return places;
  let found = leftovers(database, needles);
  if (found > 0) {
    database.handle.exec("VACUUM");
    await emptyLog(database);
    found = leftovers(database, needles);
  }
  return [...places, { place: "files", found }];
}

/** A reader in another process can hold the log; it is asked again for about two seconds, and then left as it is. */
async function emptyLog({ handle }: Database): Promise<void> {
  for (let attempt = 1; attempt <= CHECKPOINT_TRIES; attempt += 1) {
    const row = handle.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (Number(row?.busy ?? 0) === 0) return;
    await pause(50);
  }
}

/** How many of the texts stand in rows. */
function countHeld(
  database: Database,
  sql: string,
  needles: readonly string[],
  values: { user: number },
): number {
  const left = new Set(needles);
  for (const row of database.handle.prepare(sql).iterate(values)) {
    const text = foldText(String(row.text));
    for (const needle of left)
      if (text.includes(needle) || text.includes(escaped(needle))) left.delete(needle);
  }
  return needles.length - [...left].length;
}

/** How many texts stand more often in the raw files than live rows of anybody explain. */
function leftovers(database: Database, needles: readonly string[]): number {
  const files = filesOf(database.path);
  const size = files.reduce((sum, file) => sum + sizeOf(file), 0);
  const searched = needles.slice(0, Math.max(20, Math.floor(MOST_BYTES / Math.max(1, size))));
  const raw = new Map<string, number>();
  for (const file of files) countRaw(file, searched, raw);
  const suspects = searched.filter((needle) => (raw.get(needle) ?? 0) > 0);
  if (suspects.length === 0) return 0;
  const live = new Map<string, number>();
  for (const row of database.handle.prepare(LIVE).iterate()) {
    const text = foldText(String(row.text));
    for (const needle of suspects) live.set(needle, (live.get(needle) ?? 0) + occurrences(text, needle));
  }
  return suspects.filter((needle) => (raw.get(needle) ?? 0) > (live.get(needle) ?? 0)).length;
}

/** The database, its log and whatever else in its folder begins with its name, but the secret and the keys. */
function filesOf(path: string): string[] {
  const folder = dirname(path);
  const name = basename(path);
  return readdirSync(folder)
    .filter(
      (file) =>
        file === name || /^-(?:wal|shm|journal)$/.test(file.startsWith(name) ? file.slice(name.length) : ""),
    )
    .map((file) => join(folder, file));
}

function sizeOf(file: string): number {
  const opened = openSync(file, "r");
  try {
    return fstatSync(opened).size;
  } finally {
    closeSync(opened);
  }
}

function countRaw(file: string, needles: readonly string[], counts: Map<string, number>): void {
  if (needles.length === 0) return;
  const overlap = Math.max(...needles.map((needle) => escaped(needle).length)) - 1;
  const opened = openSync(file, "r");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let tail = "";
    for (;;) {
      const read = readSync(opened, chunk, 0, CHUNK_BYTES, null);
      if (read === 0) return;
      const text = tail + chunk.toString("latin1", 0, read).toLowerCase();
      for (const needle of needles) {
        // What lies wholly in the tail was counted with the chunk before.
        const before = occurrences(tail, needle);
        counts.set(needle, (counts.get(needle) ?? 0) + occurrences(text, needle) - before);
      }
      tail = text.slice(Math.max(0, text.length - overlap));
    }
  } finally {
    closeSync(opened);
  }
}

/** A needle as it stands, and as it stands inside JSON where the two differ. */
function occurrences(text: string, needle: string): number {
  const inJson = escaped(needle);
  return count(text, needle) + (inJson === needle ? 0 : count(text, inJson));
}

function count(text: string, needle: string): number {
  let found = 0;
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) found += 1;
  return found;
}

function escaped(needle: string): string {
  return JSON.stringify(needle).slice(1, -1);
}

/** UTF-8 bytes as characters, lower case: the same folding for rows and for raw files. */
function foldText(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1").toLowerCase();
}
