import { createHmac, randomBytes } from "node:crypto";
import type { Clock, Ids, Secret } from "../../ports/system.ts";

/** The machine's clock. */
export const systemClock: Clock = () => new Date();

/**
 * UUIDv7 (RFC 9562): 48 bits of Unix time in milliseconds, then a 12-bit counter, so that ids rise within a process
 * even in the same millisecond, then 62 random bits.
 */
export function uuidv7(clock: Clock = systemClock): Ids {
  let lastMs = 0;
  let count = 0;
  const nextRandomBytes = createRandomSource();
  return () => {
    const now = Math.max(clock().getTime(), 0);
    if (now > lastMs) {
      lastMs = now;
      count = 0;
    } else {
      count += 1;
      // The counter is full: borrow the next millisecond (RFC 9562, section 6.2).
      if (count > 0xfff) {
        lastMs += 1;
        count = 0;
      }
    }
    const bytes = nextRandomBytes();
    bytes.writeUIntBE(lastMs, 0, 6);
    bytes.writeUInt16BE(0x7000 | count, 6);
    bytes.writeUInt8(0x80 | ((bytes[8] ?? 0) & 0x3f), 8);
    const hex = bytes.toString("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}

/** Gives 16 random bytes at a time and draws them for 64 ids at once, because each draw is a system call. */
function createRandomSource(): () => Buffer {
  let stock = Buffer.alloc(0);
  return () => {
    if (stock.length < 16) stock = randomBytes(16 * 64);
    const bytes = stock.subarray(0, 16);
    stock = stock.subarray(16);
    return bytes;
  };
}

/** A secret that lasts as long as the process, for a store that is not persistent. */
export function passingSecret(): Secret {
  const key = randomBytes(32);
  return { sign: (text) => createHmac("sha256", key).update(text).digest("hex") };
}
