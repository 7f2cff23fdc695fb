import { mkdirSync, statSync } from "node:fs";
import module from "node:module";
import { homedir, totalmem } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Enables Node's compile cache, which saves a quarter of a command's time. The folder belongs to the user and is never
 * writable by others, because it contains code that runs. If it cannot be written, there is no cache. NODE_COMPILE_CACHE
 * names another folder, and NODE_DISABLE_COMPILE_CACHE=1 disables the cache.
 */
export function enableCompileCache(): void {
  const { env } = process;
  // A Node without this function is too old; the version check rejects it later.
  if (env.NODE_COMPILE_CACHE || !module.enableCompileCache) return;
  const folder = chooseCacheFolder(env, process.platform);
  if (folder === undefined || !isOwnFolder(folder)) return;
  const { status } = module.enableCompileCache(folder);
  // For the threads and child processes of this process.
  if (status === module.constants.compileCacheStatus.ENABLED) env.NODE_COMPILE_CACHE = folder;
}

function chooseCacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  const named = platform === "win32" ? env.LOCALAPPDATA : env.XDG_CACHE_HOME;
  // A relative path must be ignored (XDG Base Directory Specification).
  const caches = named && isAbsolute(named) ? named : getHomeCacheFolder(platform);
  return caches && join(caches, "keepsake", "compiled");
}

function getHomeCacheFolder(platform: NodeJS.Platform): string | undefined {
  try {
    return join(homedir(), platform === "darwin" ? "Library/Caches" : ".cache");
  } catch {
    // No home folder, such as in a container without accounts.
    return undefined;
  }
}

/**
 * Gives whether only this user can write into the folder; creates it if it is missing. It belongs to another user when a
 * command runs as root in that user's home (`sudo`).
 */
function isOwnFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Windows has no such ids or modes; the folder is in the user's profile.
    if (!process.getuid) return true;
    const { uid, mode } = statSync(folder);
    return uid === process.getuid() && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}

const LEAST_MB = 256;
const MOST_MB = 1024;
/** The share of the available memory. */
const CACHE_SHARE = 1 / 8;

/**
 * Gives the default size of the cache of recent users, in bytes: an eighth of the memory available to this process (or its
 * container), from 256 MB to 1 GB.
 */
export function chooseCacheBytes(
  machine: number = totalmem(),
  container: number = process.constrainedMemory(),
): number {
  const megabytes = (getAvailableMemory(machine, container) * CACHE_SHARE) / 1e6;
  return Math.round(Math.min(MOST_MB, Math.max(LEAST_MB, megabytes))) * 1e6;
}

const LEAST_YOUNG_MB = 16;
const MOST_YOUNG_MB = 128;
const YOUNG_SHARE = 1 / 64;

/**
 * Gives the size of V8's semi-space for a server, in MB: from 16, V8's default, to 128. V8 has up to three of them. Most
 * objects of a request are garbage within milliseconds. In a smaller space V8 copies them repeatedly and promotes them to
 * the old generation, whose collections stop the whole program.
 */
export function chooseYoungMegabytes(
  machine: number = totalmem(),
  container: number = process.constrainedMemory(),
): number {
  const megabytes = (getAvailableMemory(machine, container) * YOUNG_SHARE) / 1e6;
  return Math.round(Math.min(MOST_YOUNG_MB, Math.max(LEAST_YOUNG_MB, megabytes)));
}

function getAvailableMemory(machine: number, container: number): number {
  return container > 0 && container < machine ? container : machine;
}
