import { totalmem } from "node:os";

const LEAST_MB = 256;
const MOST_MB = 1024;
/** Of the memory that there is. */
const SHARE = 1 / 8;

/**
 * Memory for what is known of the users served last, in bytes, where nobody sets it: an eighth of what this process may have (of
 * its container, where it is in one), from 256 MB to 1 GB.
 */
export function cacheBytesFor(
  machine: number = totalmem(),
  container: number = process.constrainedMemory(),
): number {
  const all = container > 0 && container < machine ? container : machine;
  const megabytes = (all * SHARE) / 1e6;
  return Math.round(Math.min(MOST_MB, Math.max(LEAST_MB, megabytes))) * 1e6;
}
