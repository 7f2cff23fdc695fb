import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** `ks_`, 12 hex digits that name the key, and 32 random bytes in base64url. Nothing else is looked up. */
const KEY_PATTERN = /^ks_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;

/** The hash of nothing that anybody has: what is not known is compared too, and costs the same. */
export const UNKNOWN_HASH: string = hashSecret("nobody");

/** The id in a key; undefined for what has not the form of one. */
export function parseKeyId(key: string): string | undefined {
  return KEY_PATTERN.exec(key)?.[1];
}

export function createKeyId(): string {
  return randomBytes(6).toString("hex");
}

/** A key with this id and a new secret. */
export function createKeyText(id: string): string {
  return `ks_${id}_${createToken()}`;
}

/** 256 random bits, base64url. */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/** SHA-256, hex. */
export function hashSecret(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Compares two hashes in a time that tells nothing of where they differ. */
export function isSameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
