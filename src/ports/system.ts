/** The current time. Tests and replays freeze it. */
export type Clock = () => Date;

/** Generates ids: UUIDv7 (RFC 9562), increasing within a process. */
export type Ids = () => string;

/** Keyed hashing for tombstones and receipts. The key itself never leaves the adapter. */
export interface Secret {
  /** HMAC-SHA-256 of the text, hex. */
  sign(text: string): string;
}
