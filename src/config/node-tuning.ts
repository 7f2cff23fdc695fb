import { mkdirSync, statSync } from "node:fs";
import module from "node:module";
import { homedir, totalmem } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Has Node keep what it compiled of this program, and take it from there the next time: a quarter of the time that a
 * command takes. In a folder of the user's own, never in one that others may write into: it is code that runs. Where
 * that cannot be written, everything is compiled anew, as it would be without. Node's own NODE_COMPILE_CACHE names
 * another folder, and NODE_DISABLE_COMPILE_CACHE=1 has nothing kept.
 */
export function enableCompileCache(): void {
  const { env } = process;
  // A Node without it is too old for the rest as well, and is told so a moment later.
  if (env.NODE_COMPILE_CACHE || !module.enableCompileCache) return;
  const folder = chooseCacheFolder(env, process.platform);
  if (folder === undefined || !isOwnFolder(folder)) return;
  const { status } = module.enableCompileCache(folder);
  // For the threads and processes that this one begins.
  if (status === module.constants.compileCacheStatus.ENABLED) env.NODE_COMPILE_CACHE = folder;
}

function chooseCacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  const named = platform === "win32" ? env.LOCALAPPDATA : env.XDG_CACHE_HOME;
  // A relative one is to be ignored (XDG Base Directory Specification), and would be whatever folder one stands in.
  const caches = named && isAbsolute(named) ? named : getHomeCacheFolder(platform);
  return caches && join(caches, "keepsake", "compiled");
}

function getHomeCacheFolder(platform: NodeJS.Platform): string | undefined {
  try {
    return join(homedir(), platform === "darwin" ? "Library/Caches" : ".cache");
  } catch {
    // Nobody's home: a container without accounts.
    return undefined;
  }
}

/**
 * Whether nobody else may write into it. Made where it is missing. Somebody else's it is where a command runs as root in the
 * home of another (`sudo`).
 */
function isOwnFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Windows has neither, and keeps that folder in the profile of its user.
    if (!process.getuid) return true;
    const { uid, mode } = statSync(folder);
    return uid === process.getuid() && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}

const LEAST_MB = 256;
const MOST_MB = 1024;
/** Of the memory that there is. */
const CACHE_SHARE = 1 / 8;

/**
 * Memory for what is known of the users served last, in bytes, where nobody sets it: an eighth of what this process may have (of
 * its container, where it is in one), from 256 MB to 1 GB.
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
 * Room in a server for what a request makes and lets go of, in MB: V8's semi-space, of which there are up to three; from 16, which
 * V8 takes by itself, to 128. Under load most of it is garbage within milliseconds; in less room it is copied about until it is, and
 * moved to where it is collected seldom, with everything standing still.
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
