import { hash } from "node:crypto";

/** Each takes some 150 bytes with what it is kept by. */
const MAX_ENTRIES = 20_000;
/** Of the hash: as a string of one-byte characters it takes half of what 44 letters take. */
const KEY_BYTES = 16;

/**
 * Keeps what is made of texts, of at most 20,000 that came last, by a hash of them: the same ones are recalled again and again, and no
 * word of anybody outlives its erasure here. So what is made must hold none either.
 */
export function cacheByHash<Value, Of extends string = "">(
  make: (text: string, of: Of) => Value,
): (text: string, of: Of) => Value {
  // Two halves: what is not asked for while the new one fills up goes with the old one.
  let old = new Map<string, Value>();
  let made = new Map<string, Value>();
  return (text, of) => {
    const key = hashText(`${of} ${text}`);
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = old.get(key) ?? make(text, of);
    if (made.size >= MAX_ENTRIES / 2) {
      old = made;
      made = new Map();
    }
    made.set(key, value);
    return value;
  };
}

/** Texts of equal hashes are the same text. */
export function hashText(text: string): string {
  return hash("sha256", text, "buffer").toString("latin1", 0, KEY_BYTES);
}
