import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** What a key may do. None of them brings another with it: a key with `admin` alone reads nothing. */
export const KEY_SCOPES = ["read", "write", "erase", "admin"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Who a request comes from: a key, and through it the project. Nothing in the request itself chooses the project. */
export interface Bearer {
  /** The key's id; never its secret. */
  readonly key: string;
  readonly project: string;
  readonly scopes: readonly KeyScope[];
  /** The only user it reaches, where it is bound to one. All others are as if they did not exist. */
  readonly user?: string;
}

/** A key as it is kept. What opens the door is not in it, only its hash. */
export interface KeyEntry {
  /** The public half: 12 characters, part of the key. */
  readonly id: string;
  readonly project: string;
  /** SHA-256 of the whole key, hex. It has 256 random bits, so that no slower hash is needed. */
  readonly hash: string;
  readonly createdAt: string;
  readonly scopes: readonly KeyScope[];
  /** From then on it opens nothing. */
  readonly expiresAt?: string;
  readonly user?: string;
  /** What people call it. */
  readonly label?: string;
  /** To the minute, about. */
  readonly lastUsedAt?: string;
  /** Secrets that it had before it was rotated, newest first, and until when they count. */
  readonly past?: readonly PastSecret[];
}

interface PastSecret {
  readonly hash: string;
  readonly until: string;
}

/** A signed-in page as it is kept. */
export interface SessionEntry {
  /** The id of the key it was opened with; it ends with the key. */
  readonly key: string;
  /** SHA-256 of the cookie's value, hex. */
  readonly hash: string;
  /** SHA-256 of the token that each request of the page shows beside the cookie, hex. */
  readonly proofHash: string;
  readonly expiresAt: string;
}

export interface KeyRing {
  readonly keys: readonly KeyEntry[];
  readonly sessions: readonly SessionEntry[];
}

/** Where keys are kept. */
export interface KeyStore {
  /** What is kept now; undefined where nothing ever was. */
  read(): KeyRing | undefined;
  /**
   * Keeps what `change` makes of what is there. Whole or not at all, and one after the other, whoever else writes:
   * nobody's change is lost. Where `change` gives back what it was given, nothing is written. `unavailable` where
   * another program is writing for longer than `patienceMs` (2,000).
   */
  write(change: (held: KeyRing) => KeyRing, patienceMs?: number): void;
  /** Learns what other servers have written since; absent where `read` looks by itself. `unavailable` where it cannot. */
  refresh?(): Promise<void>;
  /**
   * Ends when all that was written is kept, and throws why one is not: then it never was. Absent where `write` itself ends
   * then.
   */
  kept?(): Promise<void>;
}

export const EMPTY_RING: KeyRing = { keys: [], sessions: [] };

/** Keys that live as long as the process, for a memory that does too. */
export function passingKeys(): KeyStore {
  let ring: KeyRing | undefined;
  return {
    read: () => ring,
    write(change) {
      ring = change(ring ?? EMPTY_RING);
    },
  };
}

/** Whether it counts at `now`. */
export function isUnexpired(end: { readonly expiresAt?: string }, now: Date): boolean {
  return end.expiresAt === undefined || end.expiresAt > now.toISOString();
}

/** What a request that shows this key may do, and where. */
export function toBearer({ id, project, scopes, user }: KeyEntry): Bearer {
  return { key: id, project, scopes, ...(user === undefined ? {} : { user }) };
}

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

/** A key as people and programs are shown it: no secret, and no hash of one. */
export interface ShownKey {
  readonly id: string;
  readonly project: string;
  readonly scopes: readonly KeyScope[];
  readonly status: "active" | "expired";
  /** The only user it reaches. */
  readonly userId?: string;
  readonly label?: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
  /** To the minute, about; absent while it has not been used. */
  readonly lastUsedAt?: string;
  /** Until when a secret that it had before its rotation still counts. */
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
