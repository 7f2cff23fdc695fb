/** Keyed hashing for tombstones and receipts. The key itself never leaves the adapter. */
export interface Secret {
  /** HMAC-SHA-256 of the text, hex. */
  sign(text: string): string;
}
