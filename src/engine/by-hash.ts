import { hash } from "node:crypto";

const MOST = 50_000;

/**
 * Keeps what is made of texts, of those that came lately, by a hash of them: the same ones are recalled again and again, and no word of
 * anybody outlives its erasure here. So what is made must hold none either.
 */
export function byHash<Value, Of extends string = "">(
  make: (text: string, of: Of) => Value,
): (text: string, of: Of) => Value {
  const made = new Map<string, Value>();
  return (text, of) => {
    const key = hash("sha256", `${of} ${text}`, "base64");
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(text, of);
    if (made.size >= MOST) made.clear();
    made.set(key, value);
    return value;
  };
}
