/** The time now. Tests and replays hold it still. */
export type Clock = () => Date;

/** Makes ids: UUIDv7 (RFC 9562), rising within a process. */
export type Ids = () => string;

/** Keyed hashing for tombstones and receipts. The key itself never leaves the adapter. */
export interface Secret {
  /** HMAC-SHA-256 of the text, hex. */
  sign(text: string): string;
}
