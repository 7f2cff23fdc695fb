import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Scope } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { KeyWrapper } from "../../ports/stores/encryption.ts";
import {
  deleteReplaced,
  ID_FILE,
  listKeyFiles,
  readStoredKey,
  replaceFile,
  type StoredKey,
  toFolderContext,
  toFolderName,
  toKeyContext,
} from "./key-files.ts";

/** The result of a change of the master key. */
export interface RotatedKeys {
  /** False if the keys were wrapped with the new master key before. */
  readonly isRotated: boolean;
  /** How many keys of users are wrapped with the new master key now. */
  readonly keys: number;
  /** How many keys neither master key opens. They are left as they are. */
  readonly unreadable: number;
  /** How many folders of keys belong to no user of the database. Their keys stay wrapped with the earlier master key. */
  readonly otherFolders: number;
}

/** The master keys of a change. */
interface MasterKeys {
  readonly from: KeyWrapper;
  readonly to: KeyWrapper;
}

/**
 * Wraps the keys of all users with another master key. The data stays as it is. No other program may use the folder. While the
 * change is under way, the folder says so and nothing opens it; after an interruption, the same call ends it. The file of the
 * folder, which says what opens it, changes last. Throws `forbidden` if the earlier master key does not open the folder, or
 * another change was interrupted; `invalid_input` if both master keys are the same.
 */
export async function rotateKeys(
  path: string,
  users: readonly Scope[],
  masters: MasterKeys,
): Promise<RotatedKeys> {
  const { from, to } = masters;
  if (await isSameMaster(masters))
    throw invalid("encryption: the new master key is the earlier one. Create another one.");
  deleteReplaced(path);
  const file = join(path, ID_FILE);
  const stored = readStoredKey(file);
  const state = stored && (await readState(stored, masters));
  if (!stored || !state) throw createMasterError(from, path, stored?.next !== undefined);
  const next = state.next ?? (await wrapText(to, state.key, toFolderContext(stored.id)));
  if (!state.isDone && stored.next === undefined) replaceFile(file, JSON.stringify({ ...stored, next }));
  const counts = { keys: 0, unreadable: 0 };
  for (const user of users) {
    const done = await rotateUser(join(path, toFolderName(user)), user, masters);
    counts.keys += done.keys;
    counts.unreadable += done.unreadable;
  }
  if (!state.isDone) replaceFile(file, JSON.stringify({ id: stored.id, wrapped: next } satisfies StoredKey));
  const own = new Set(users.map(toFolderName));
  const others = readdirSync(path, { withFileTypes: true }).filter(
    (one) => one.isDirectory() && !own.has(one.name),
  );
  return { isRotated: !state.isDone, ...counts, otherFolders: others.length };
}

/** What the file of a folder says of a change. */
interface FolderState {
  readonly isDone: boolean;
  readonly key: Uint8Array;
  /** The folder's key, wrapped with the new master key, if the change has begun. */
  readonly next?: string;
}

/** Undefined if the folder belongs to other master keys than these. */
async function readState(
  { id, wrapped, next }: StoredKey,
  { from, to }: MasterKeys,
): Promise<FolderState | undefined> {
  const context = toFolderContext(id);
  if (next === undefined) {
    const done = await unwrapText(to, wrapped, context);
    if (done) return { isDone: true, key: done };
    const key = await unwrapText(from, wrapped, context);
    return key && { isDone: false, key };
  }
  const key = await unwrapText(to, next, context);
  return key && (await unwrapText(from, wrapped, context)) ? { isDone: false, key, next } : undefined;
}

async function rotateUser(
  folder: string,
  user: Scope,
  { from, to }: MasterKeys,
): Promise<Pick<RotatedKeys, "keys" | "unreadable">> {
  deleteReplaced(folder);
  const counts = { keys: 0, unreadable: 0 };
  for (const name of listKeyFiles(folder)) {
    const file = join(folder, name);
    const stored = readStoredKey(file);
    // It was overwritten to be deleted.
    if (!stored) continue;
    const context = toKeyContext(user, stored.id);
    const key = await unwrapText(from, stored.wrapped, context);
    if (key) {
      const wrapped = await wrapText(to, key, context);
      replaceFile(file, JSON.stringify({ id: stored.id, wrapped } satisfies StoredKey));
    }
    if (key || (await unwrapText(to, stored.wrapped, context))) counts.keys += 1;
    else counts.unreadable += 1;
  }
  return counts;
}

async function isSameMaster({ from, to }: MasterKeys): Promise<boolean> {
  const context = JSON.stringify(["comparison"]);
  return (await to.unwrap(await from.wrap(randomBytes(32), context), context)) !== undefined;
}

async function wrapText({ wrap }: KeyWrapper, key: Uint8Array, context: string): Promise<string> {
  return Buffer.from(await wrap(key, context)).toString("base64");
}

async function unwrapText(
  { unwrap }: KeyWrapper,
  wrapped: string,
  context: string,
): Promise<Uint8Array | undefined> {
  return unwrap(Buffer.from(wrapped, "base64"), context);
}

function createMasterError({ name }: KeyWrapper, path: string, isInterrupted: boolean): MemoryError {
  return new MemoryError(
    "forbidden",
    isInterrupted
      ? "encryption: a change to another master key was interrupted. End it first, with the same two master keys."
      : `encryption: the master key of now (${name}) does not open the keys in ${path}. Use the one that they were made with.`,
  );
}
