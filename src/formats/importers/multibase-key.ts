const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/** What a key of the kind `ed25519-pub` begins with, as a varint. */
const ED25519_PREFIX = Buffer.from([0xed, 0x01]);
const KEY_BYTES = 32;

/** Encodes an Ed25519 public key as in `did:key`: "z6Mk…" (multibase of base58btc). */
export function encodeMultibaseKey(key: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.concat([ED25519_PREFIX, key]).toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= 58n) text = ALPHABET.charAt(Number(rest % 58n)) + text;
  return `z${text}`;
}

/** Decodes an Ed25519 public key: "z6Mk…", or the 32 bytes in base64url. Undefined for anything else. */
export function decodeMultibaseKey(text: unknown): Buffer | undefined {
  if (typeof text !== "string" || text.length > 100) return undefined;
  if (!text.startsWith("z")) {
    const plain = Buffer.from(text, "base64url");
    return plain.length === KEY_BYTES ? plain : undefined;
  }
  let number = 0n;
  for (const letter of text.slice(1)) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) return undefined;
    number = number * 58n + BigInt(digit);
  }
  const bytes = Buffer.from(number.toString(16).padStart(2 * (KEY_BYTES + 2), "0"), "hex");
  const isEd25519 = bytes.length === KEY_BYTES + 2 && bytes.subarray(0, 2).equals(ED25519_PREFIX);
  return isEd25519 ? bytes.subarray(2) : undefined;
}
