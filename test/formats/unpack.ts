import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import type { FileFormat } from "./formats.ts";
import type { Readings } from "./story.ts";

/** Puts the database of a format, its secret and its ledger into a folder, and gives the database's path. */
export function unpackFormat({ name }: FileFormat, folder: string): string {
  const path = join(folder, "memory.db");
  writeFileSync(path, gunzipSync(readFileSync(fixture(name, ".db.gz"))), { mode: 0o600 });
  for (const end of [".secret", ".erasures"]) {
    if (existsSync(fixture(name, end))) {
      writeFileSync(`${path}${end}`, readFileSync(fixture(name, end)), { mode: 0o600 });
    }
  }
  return path;
}

/** What the version that made the file read in it. */
export function readingsOf({ name }: FileFormat): Readings {
  return JSON.parse(gunzipSync(readFileSync(fixture(name, ".json.gz"))).toString()) as Readings;
}

/** `user_version` of a file that nobody has open. */
export function versionOf(path: string): number {
  const handle = new DatabaseSync(path);
  try {
    return Number(handle.prepare("PRAGMA user_version").get()?.user_version);
  } finally {
    handle.close();
  }
}

function fixture(name: string, end: string): string {
  return join(import.meta.dirname, `${name}${end}`);
}
