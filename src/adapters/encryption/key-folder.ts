import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { KeyWrapper } from "../../ports/stores/encryption.ts";
import { syncNames } from "../shared/sync-names.ts";
import {
  createFile,
  ID_FILE,
  listKeyFiles,
  overwriteAndDelete,
  readStoredKey,
  type StoredKey,
  toFolderContext,
  toFolderName,
  toKeyContext,
} from "./key-files.ts";

/** A data key of a user. */
export interface UserKey {
  /** 8 bytes, hex. */
  readonly id: string;
  readonly key: Uint8Array;
}

/** A user's data keys, oldest first. The last one encrypts; all decrypt. */
export type UserKeySet = readonly UserKey[];

/** The wrapped data keys of users, outside of the database and its backups. */
export interface KeyFolder {
  /** The id of the whole folder, which the database names. */
  readonly id: string;
  /** The keys of a user as they are now. Empty if there are none. */
  read(scope: Scope): Promise<UserKeySet>;
  /** The same; creates the first key if there is none. Durable before it returns. */
  ensure(scope: Scope): Promise<UserKeySet>;
  /** Adds a key, which encrypts from now on. */
  renew(scope: Scope): Promise<void>;
  /** Overwrites and deletes keys. Durable before it returns. */
  destroy(scope: Scope, ids: readonly string[]): Promise<void>;
}

const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const MAX_CACHED_USERS = 10_000;

/**
 * Opens the folder of keys. Creates it if `mayCreate`; otherwise a missing folder is `forbidden`, as is another master key.
 * Each key is a file of its own, so that several processes need no lock: a name that exists is never written again.
 */
export async function openKeyFolder(
  path: string,
  wrapper: KeyWrapper,
  { mayCreate }: { readonly mayCreate: boolean },
): Promise<KeyFolder> {
  const id = await readFolderId(path, wrapper, mayCreate);
  const cache = new Map<string, UserKey>();
  const pathOf = (scope: Scope): string => join(path, toFolderName(scope));
  const read = async (scope: Scope): Promise<UserKeySet> => {
    const folder = pathOf(scope);
    const keys: UserKey[] = [];
    for (const name of listKeyFiles(folder)) {
      const file = join(folder, name);
      const key = cache.get(file) ?? (await readKey(file, wrapper, scope));
      if (!key) continue;
      keepCached(cache, file, key);
      keys.push(key);
    }
    return keys;
  };
  const add = async (scope: Scope, number: number): Promise<void> => {
    const key = randomBytes(KEY_BYTES);
    const keyId = randomBytes(KEY_ID_BYTES).toString("hex");
    const wrapped = await wrapper.wrap(key, toKeyContext(scope, keyId));
    const stored: StoredKey = { id: keyId, wrapped: Buffer.from(wrapped).toString("base64") };
    createFile(join(pathOf(scope), String(number)), JSON.stringify(stored));
  };
  return {
    id,
    read,
    async ensure(scope) {
      const keys = await read(scope);
      if (keys.length > 0) return keys;
      // Another process may create it at the same time: then both use that one.
      await add(scope, nextNumber(pathOf(scope)));
      return read(scope);
    },
    renew: (scope) => add(scope, nextNumber(pathOf(scope))),
    async destroy(scope, ids) {
      const folder = pathOf(scope);
      for (const name of listKeyFiles(folder)) {
        const file = join(folder, name);
        const stored = readStoredKey(file);
        if (stored && !ids.includes(stored.id)) continue;
        cache.delete(file);
        overwriteAndDelete(file);
      }
      syncNames(folder);
    },
  };
}

/** Gives what removes a folder of keys that is not there yet, if nothing is to be encrypted with them after all. */
export function createKeyFolderUndo(path: string): () => void {
  if (existsSync(path)) return () => {};
  return () => rmSync(path, { recursive: true, force: true });
}

/** Removes a folder of keys that was made for a database that cannot be encrypted. One with keys of users stays. */
export function removeEmptyKeyFolder(path: string): void {
  if (readdirSync(path).some((name) => name !== ID_FILE)) return;
  rmSync(path, { recursive: true });
}

async function readFolderId(path: string, wrapper: KeyWrapper, mayCreate: boolean): Promise<string> {
  const file = join(path, ID_FILE);
  if (!existsSync(file)) {
    if (!mayCreate) {
      throw new MemoryError(
        "forbidden",
        `encryption: the keys of this database are missing. Put the folder ${path} back. Without it, nothing can be read.`,
      );
    }
    const id = randomUUID();
    const wrapped = await wrapper.wrap(randomBytes(KEY_BYTES), toFolderContext(id));
    createFile(
      file,
      JSON.stringify({ id, wrapped: Buffer.from(wrapped).toString("base64") } satisfies StoredKey),
    );
  }
  const stored = readStoredKey(file);
  const key =
    stored && (await wrapper.unwrap(Buffer.from(stored.wrapped, "base64"), toFolderContext(stored.id)));
  if (stored?.next !== undefined) {
    throw new MemoryError(
      "forbidden",
      "encryption: a change of the master key was interrupted. Run `keepsake encryption rotate` again to end it.",
    );
  }
  if (stored && key) return stored.id;
  throw new MemoryError(
    "forbidden",
    `encryption: this master key (${wrapper.name}) does not open the keys in ${path}. Use the one that they were made with.`,
  );
}

async function readKey(file: string, wrapper: KeyWrapper, scope: Scope): Promise<UserKey | undefined> {
  const stored = readStoredKey(file);
  if (!stored) return undefined;
  const key = await wrapper.unwrap(Buffer.from(stored.wrapped, "base64"), toKeyContext(scope, stored.id));
  return key && { id: stored.id, key };
}

function keepCached(cache: Map<string, UserKey>, file: string, key: UserKey): void {
  cache.delete(file);
  cache.set(file, key);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED_USERS && oldest !== undefined) cache.delete(oldest);
}

const nextNumber = (folder: string): number => Number(listKeyFiles(folder).at(-1) ?? 0) + 1;
