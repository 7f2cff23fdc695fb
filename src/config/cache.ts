import { totalmem } from "node:os";

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
