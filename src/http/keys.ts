import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { invalid } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";

/** Who a request comes from: a key, and through it the project. Nothing in the request itself chooses the project. */
export interface Bearer {
  readonly key: string;
  readonly project: string;
}

/** A key as it is kept. What opens the door is not in it, only its hash. */
export interface KeyEntry {
  /** The public half: 12 characters, part of the key. */
  readonly id: string;
  readonly project: string;
  /** SHA-256 of the whole key, hex. It has 256 random bits, so that no slower hash is needed. */
  readonly hash: string;
  readonly createdAt: string;
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
  /** Keeps what `change` makes of what is there. Whole or not at all. */
  write(change: (held: KeyRing) => KeyRing): void;
}

export interface OpenedSession {
  /** The cookie's value. */
  readonly token: string;
  /** What the page keeps for itself and sends in a header: the cookie alone opens nothing. */
  readonly proof: string;
  readonly expiresAt: string;
  readonly project: string;
}

/** Keys and the sessions of the page. Unknown ones cost the same as known ones and give `undefined`. */
export interface ApiKeys {
  /** The key of a first start, to be shown once; undefined where there were keys already. */
  readonly first: string | undefined;
  verify(key: string): Bearer | undefined;
  /** Makes a key for a project. It is given once, and only its hash is kept. */
  create(project: string): string;
  openSession(key: string): OpenedSession | undefined;
  verifySession(token: string, proof: string): Bearer | undefined;
  closeSession(token: string): void;
}

const SESSION_DAYS = 30;
/** The oldest go first: nobody has more browsers than that. */
const MOST_SESSIONS = 50;
const KEY = /^ks_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;
const NOBODY = hashOf("nobody");

/**
 * Keys from a store, and one that was given, which is kept nowhere and belongs to the project "default". Where there
 * is neither, a first key is made. `invalid_input` for a given key that is too short or holds white space.
 */
export function apiKeys(options: {
  readonly store: KeyStore;
  readonly clock: Clock;
  readonly given?: string | undefined;
}): ApiKeys {
  const { store, clock } = options;
  const given = options.given === undefined ? undefined : givenEntry(options.given);
  const ring = (): KeyRing => store.read() ?? { keys: [], sessions: [] };
  const keys = (): KeyEntry[] => [...(given ? [given] : []), ...ring().keys];

  const create = (project: string): string => {
    const made = newKey(project, clock);
    store.write((held) => ({ ...held, keys: [...held.keys, made.entry] }));
    return made.key;
  };
  const verify = (key: string): Bearer | undefined => {
    const hash = hashOf(key);
    const id = KEY.exec(key)?.[1];
    const named = keys().find((entry) => entry.id === id);
    const isNamed = isSame(hash, named?.hash ?? NOBODY);
    const isGiven = isSame(hash, given?.hash ?? NOBODY);
    const entry = isNamed ? named : isGiven ? given : undefined;
    return entry && { key: entry.id, project: entry.project };
  };

  return {
    first: given === undefined ? firstKey(store, clock) : undefined,
    verify,
    create,
    openSession(key) {
      const bearer = verify(key);
      if (!bearer) return undefined;
      const token = randomBytes(32).toString("base64url");
      const proof = randomBytes(32).toString("base64url");
      const now = clock();
      const expiresAt = new Date(now.getTime() + SESSION_DAYS * 86_400_000).toISOString();
      const entry = { key: bearer.key, hash: hashOf(token), proofHash: hashOf(proof), expiresAt };
      store.write((held) => ({
        ...held,
        sessions: [...alive(held.sessions, now), entry].slice(-MOST_SESSIONS),
      }));
      return { token, proof, expiresAt, project: bearer.project };
    },
    verifySession(token, proof) {
      const hash = hashOf(token);
      const proofHash = hashOf(proof);
      const session = alive(ring().sessions, clock()).find((entry) => isSame(entry.hash, hash));
      const isProven = isSame(proofHash, session?.proofHash ?? NOBODY);
      const key = keys().find((entry) => entry.id === session?.key);
      return isProven && key ? { key: key.id, project: key.project } : undefined;
    },
    closeSession(token) {
      const hash = hashOf(token);
      store.write((held) => ({
        ...held,
        sessions: held.sessions.filter((entry) => !isSame(entry.hash, hash)),
      }));
    },
  };
}

/** Keys that live as long as the process, for a memory that does too. */
export function passingKeys(): KeyStore {
  let ring: KeyRing | undefined;
  return {
    read: () => ring,
    write(change) {
      ring = change(ring ?? { keys: [], sessions: [] });
    },
  };
}

function firstKey(store: KeyStore, clock: Clock): string | undefined {
  if (store.read() !== undefined) return undefined;
  const made = newKey("default", clock);
  let isOurs = false;
  // Two first starts at once: the store says who was first, and only that key exists.
  store.write((held) => {
    isOurs = held.keys.length === 0;
    return isOurs ? { ...held, keys: [made.entry] } : held;
  });
  return isOurs ? made.key : undefined;
}

function newKey(project: string, clock: Clock): { key: string; entry: KeyEntry } {
  const id = randomBytes(6).toString("hex");
  const key = `ks_${id}_${randomBytes(32).toString("base64url")}`;
  return { key, entry: { id, project, hash: hashOf(key), createdAt: clock().toISOString() } };
}

function givenEntry(key: string): KeyEntry {
  if (!/^[\x21-\x7e]{8,512}$/.test(key)) {
    throw invalid("KEEPSAKE_API_KEY must be 8 to 512 visible ASCII characters without spaces.");
  }
  const hash = hashOf(key);
  // Its sessions end when another key is given, for the id changes with it.
  return { id: `given-${hash.slice(0, 12)}`, project: "default", hash, createdAt: "" };
}

function alive(sessions: readonly SessionEntry[], now: Date): SessionEntry[] {
  return sessions.filter(({ expiresAt }) => expiresAt > now.toISOString());
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
