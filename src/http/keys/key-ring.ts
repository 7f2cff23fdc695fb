import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** The scopes of keys. No scope includes another: a key with `admin` alone cannot read. */
export const KEY_SCOPES = ["read", "write", "erase", "admin"] as const;
/** What a key may do. */
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The sender of a request: a key and its project. Nothing in the request itself can choose the project. */
export interface Bearer {
  /** The id of the key, never its secret. */
  readonly key: string;
  /** The project of the key. */
  readonly project: string;
  /** What the key may do. */
  readonly scopes: readonly KeyScope[];
  /** The only user that the key can access, if it is restricted. All others appear not to exist. */
  readonly user?: string;
}

/** A stored key: the hash of its secret, not the secret. */
export interface KeyEntry {
  /** The public part of the key: 12 characters. */
  readonly id: string;
  /** The project that the key gives access to. */
  readonly project: string;
  /** SHA-256 of the whole key, hex. The key has 256 random bits, so no slower hash is needed. */
  readonly hash: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** What the key may do. */
  readonly scopes: readonly KeyScope[];
  /** The expiry. */
  readonly expiresAt?: string;
  /** The only user that the key can access, if it is restricted. */
  readonly user?: string;
  /** A name for people. */
  readonly label?: string;
  /** Accurate to about a minute. */
  readonly lastUsedAt?: string;
  /** Secrets from before rotations, newest first, with their expiry. */
  readonly past?: readonly PastSecret[];
}

interface PastSecret {
  readonly hash: string;
  readonly until: string;
}

/** A stored session of a signed-in page. */
export interface SessionEntry {
  /** The id of the key that opened the session. The session ends with the key. */
  readonly key: string;
  /** SHA-256 of the cookie's value, hex. */
  readonly hash: string;
  /** SHA-256 of the token that the page sends with the cookie, hex. */
  readonly proofHash: string;
  readonly expiresAt: string;
}

/** All keys and sessions of a store. */
export interface KeyRing {
  /** The keys, oldest first. */
  readonly keys: readonly KeyEntry[];
  /** Sessions of signed-in pages. */
  readonly sessions: readonly SessionEntry[];
}

/** A store of keys. */
export interface KeyStore {
  /** Gives the stored keys; undefined if none were ever stored. */
  read(): KeyRing | undefined;
  /**
   * Applies `change` to the stored keys, atomically and in order with other writers, so no change is lost. Writes nothing if
   * `change` returns its argument. Throws `unavailable` if another program writes for longer than `patienceMs` (2,000).
   */
  write(change: (held: KeyRing) => KeyRing, patienceMs?: number): void;
  /** Reads changes from other servers; absent if `read` does so itself. Throws `unavailable`. */
  refresh?(): Promise<void>;
  /**
   * Waits until all changes are stored. Throws if one could not be stored; that change is undone. Absent if `write` itself
   * waits.
   */
  kept?(): Promise<void>;
}

export const EMPTY_RING: KeyRing = { keys: [], sessions: [] };

/** Creates a store that lasts as long as the process, for an in-memory database. */
export function passingKeys(): KeyStore {
  let ring: KeyRing | undefined;
  return {
    read: () => ring,
    write(change) {
      ring = change(ring ?? EMPTY_RING);
    },
  };
}

/** Whether a key, secret or session is valid at `now`. */
export function isUnexpired(end: { readonly expiresAt?: string }, now: Date): boolean {
  return end.expiresAt === undefined || end.expiresAt > now.toISOString();
}

/** Gives the access rights of a key. */
export function toBearer({ id, project, scopes, user }: KeyEntry): Bearer {
  return { key: id, project, scopes, ...(user === undefined ? {} : { user }) };
}

/** `ks_`, 12 hex digits (the id), and 32 random bytes in base64url. */
const KEY_PATTERN = /^ks_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;

/** A hash that no key has. Comparing unknown keys with it takes the same time. */
export const UNKNOWN_HASH: string = hashSecret("nobody");

/** Gives the id in a key; undefined if the text is not a key. */
export function parseKeyId(key: string): string | undefined {
  return KEY_PATTERN.exec(key)?.[1];
}

export function createKeyId(): string {
  return randomBytes(6).toString("hex");
}

/** Creates a key with this id and a new secret. */
export function createKeyText(id: string): string {
  return `ks_${id}_${createToken()}`;
}

/** Gives 256 random bits in base64url. */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Gives SHA-256 in hex. */
export function hashSecret(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Compares two hashes in constant time. */
export function isSameHash(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** A key without its secret and hash, to be shown. */
export interface ShownKey {
  readonly id: string;
  readonly project: string;
  readonly scopes: readonly KeyScope[];
  readonly status: "active" | "expired";
  /** The only user that the key can access. */
  readonly userId?: string;
  readonly label?: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
  /** Accurate to about a minute; absent if the key was never used. */
  readonly lastUsedAt?: string;
  /** The expiry of a secret from before a rotation. */
  readonly oldSecretUntil?: string;
}

export function toShownKey(entry: KeyEntry, now: Date): ShownKey {
  const { id, project, scopes, user, label, createdAt, expiresAt, lastUsedAt } = entry;
  const moment = now.toISOString();
  const [latest] = (entry.past ?? [])
    .map(({ until }) => until)
    .filter((until) => until > moment)
    .sort()
    .reverse();
  return {
    id,
    project,
    scopes,
    status: isUnexpired(entry, now) ? "active" : "expired",
    ...(user === undefined ? {} : { userId: user }),
    ...(label === undefined ? {} : { label }),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
    ...(latest === undefined ? {} : { oldSecretUntil: latest }),
  };
}
