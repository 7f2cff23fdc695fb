import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import { syncNames } from "../shared/sync-names.ts";

/** A wrapped key, as its file holds it. */
export interface StoredKey {
  readonly id: string;
  /** Base64. */
  readonly wrapped: string;
  /** In the file of the folder, while its keys get another master key: wrapped with that one. */
  readonly next?: string;
}

/** The name of the file in a folder of keys that tells its id. */
export const ID_FILE = "keys.json";
const KEY_FILE = /^\d+$/;
/** The end of the name of a file that has been replaced and is to be deleted. */
const REPLACED = ".replaced";
const DRAFT = ".new";

/** What authenticates the wrapped key of a folder. */
export const toFolderContext = (id: string): string => JSON.stringify(["keys", id]);

/** What authenticates the wrapped key of a user. */
export const toKeyContext = ({ project, user }: Scope, id: string): string =>
  JSON.stringify([project, user, id]);

/** The name of a user's folder. Names of users have characters that file systems refuse, and their case may not tell there. */
export function toFolderName({ project, user }: Scope): string {
  return createHash("sha256")
    .update(JSON.stringify([project, user]))
    .digest("hex")
    .slice(0, 40);
}

/** The names of the files of a user's keys, oldest first. */
export function listKeyFiles(folder: string): string[] {
  return listNames(folder)
    .filter((name) => KEY_FILE.test(name))
    .sort((one, other) => Number(one) - Number(other));
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw createFolderError(cause);
  }
}

/** Undefined if the file is gone, or was overwritten to be deleted. */
export function readStoredKey(file: string): StoredKey | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as StoredKey;
  } catch (cause) {
    if (cause instanceof SyntaxError || (cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw createFolderError(cause);
  }
}

/** Creates a file whole and durably. A file that exists stays as it is. */
export function createFile(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    if (mkdirSync(dirname(path), { recursive: true, mode: 0o700 }) !== undefined)
      syncNames(dirname(dirname(path)));
    writeDurably(draft, "wx", Buffer.from(text));
    linkSync(draft, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw createFolderError(cause);
  } finally {
    rmSync(draft, { force: true });
  }
  syncNames(dirname(path));
}

/**
 * Replaces a file whole and durably, in one step. The earlier bytes are overwritten afterwards; `deleteReplaced` does so after an
 * interruption.
 */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    writeDurably(draft, "wx", Buffer.from(text));
    linkSync(path, `${path}${REPLACED}`);
    renameSync(draft, path);
    syncNames(dirname(path));
  } catch (cause) {
    rmSync(draft, { force: true });
    throw createFolderError(cause);
  }
  overwriteAndDelete(`${path}${REPLACED}`);
}

/** Deletes what interrupted replacements left in a folder. A second name of the file itself is deleted alone. */
export function deleteReplaced(folder: string): void {
  for (const name of listNames(folder)) {
    const file = join(folder, name);
    if (name.endsWith(DRAFT)) rmSync(file, { force: true });
    if (!name.endsWith(REPLACED)) continue;
    if (isSameFile(file, file.slice(0, -REPLACED.length))) unlinkSync(file);
    else overwriteAndDelete(file);
  }
}

function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return first !== undefined && first.ino === second?.ino;
}

/** The bytes are overwritten first, so that they do not remain in a free part of the disk. */
export function overwriteAndDelete(file: string): void {
  try {
    writeDurably(file, "r+", Buffer.alloc(readFileSync(file).length));
    unlinkSync(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw createFolderError(cause);
  }
}

function writeDurably(path: string, flags: "wx" | "r+", bytes: Uint8Array): void {
  const file = openSync(path, flags, 0o600);
  try {
    writeSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function createFolderError(cause: unknown): MemoryError {
  return new MemoryError(
    "unavailable",
    "encryption: the folder of keys cannot be read or written. Check its owner, its mode and the free space.",
    { cause },
  );
}
