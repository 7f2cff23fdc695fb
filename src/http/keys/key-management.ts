import { checkName, checkNewName, checkText } from "../../domain/limits.ts";
import { toIsoTime } from "../../domain/time.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Clock } from "../../ports/system.ts";
import {
  createKeyId,
  createKeyText,
  EMPTY_RING,
  hashSecret,
  isUnexpired,
  KEY_SCOPES,
  type KeyEntry,
  type KeyRing,
  type KeyScope,
  type KeyStore,
} from "./key-ring.ts";

/** The properties of a new key. */
export interface WantedKey {
  /** Default: "default". */
  readonly project?: string | undefined;
  /** At least one. Default: all but `admin`. */
  readonly scopes?: readonly KeyScope[] | undefined;
  /** The expiry. Default: never. */
  readonly expiresAt?: Date | string | undefined;
  /** The only user that the key can access. Not with `admin`, which could create a key for all users. */
  readonly user?: string | undefined;
  /** A name for people, at most 100 bytes. */
  readonly label?: string | undefined;
}

/** A key with its secret. It is shown once and cannot be recovered. */
export interface IssuedKey {
  /** The whole key, with its secret. */
  readonly key: string;
  /** What is stored of it. */
  readonly entry: KeyEntry;
}

/** Options of `rotate`. */
export interface Rotation {
  /** How long the old secret stays valid, in ms: at most thirty days. Default: a day. */
  readonly graceMs?: number | undefined;
  /** The project that the key must belong to. Default: any. */
  readonly project?: string | undefined;
}

/** Creates, lists, rotates and revokes keys. */
export interface KeyManagement {
  /** Gives the keys of one project, or of all, oldest first. */
  list(project?: string): KeyEntry[];
  /** Creates a key. Throws `invalid_input` for invalid properties, and `over_quota` if the project has a thousand keys. */
  create(wanted?: WantedKey): IssuedKey;
  /** Replaces the secret of a key; the id stays. Throws `not_found`, and `conflict` if the key has expired. */
  rotate(id: string, rotation?: Rotation): IssuedKey;
  /** Revokes a key and its sessions at once. Throws `not_found`. */
  revoke(id: string, where?: { readonly project?: string }): KeyEntry;
}

const DEFAULT_SCOPES: readonly KeyScope[] = ["read", "write", "erase"];
const DEFAULT_GRACE_MS = 86_400_000;
export const LONGEST_GRACE_MS: number = 30 * 86_400_000;
const LABEL_BYTES = 100;
const MAX_KEYS = 1000;
/** Maximum number of earlier secrets that are valid at once. The oldest ends first. */
const MAX_PAST_SECRETS = 4;

export function createKeyManagement(store: KeyStore, clock: Clock): KeyManagement {
  const readRing = (): KeyRing => store.read() ?? EMPTY_RING;
  return {
    list: (project) => readRing().keys.filter((entry) => project === undefined || entry.project === project),
    create(wanted = {}) {
      const issued = issueKey(wanted, clock());
      store.write((ring) => {
        if (ring.keys.filter(({ project }) => project === issued.entry.project).length >= MAX_KEYS) {
          throw new MemoryError("over_quota", `The project has ${MAX_KEYS} keys. Revoke some first.`);
        }
        return { ...ring, keys: [...ring.keys, issued.entry] };
      });
      return issued;
    },
    rotate(id, { graceMs = DEFAULT_GRACE_MS, project } = {}) {
      if (!(Number.isFinite(graceMs) && graceMs >= 0 && graceMs <= LONGEST_GRACE_MS)) {
        throw invalid("The grace period must be from 0 to thirty days.");
      }
      const now = clock();
      const until = new Date(now.getTime() + graceMs).toISOString();
      const key = createKeyText(id);
      let entry: KeyEntry | undefined;
      store.write((ring) => {
        entry = rotateEntry(findKey(ring, id, project), hashSecret(key), now, until);
        return replaceEntry(ring, entry, until);
      });
      if (!entry) throw createUnknownKeyError();
      return { key, entry };
    },
    revoke(id, { project } = {}) {
      let revoked: KeyEntry | undefined;
      store.write((ring) => {
        revoked = findKey(ring, id, project);
        return {
          keys: ring.keys.filter((entry) => entry.id !== id),
          sessions: ring.sessions.filter(({ key }) => key !== id),
        };
      });
      if (!revoked) throw createUnknownKeyError();
      return revoked;
    },
  };
}

/** Creates a key without storing it. */
export function issueKey(wanted: WantedKey, now: Date): IssuedKey {
  const id = createKeyId();
  const key = createKeyText(id);
  const scopes = KEY_SCOPES.filter((scope) => (wanted.scopes ?? DEFAULT_SCOPES).includes(scope));
  if (scopes.length === 0) throw invalid(`A key needs at least one scope: ${KEY_SCOPES.join(", ")}.`);
  if (wanted.user !== undefined && scopes.includes("admin")) {
    throw invalid("A key for one user cannot have the scope admin.");
  }
  const expiresAt = wanted.expiresAt === undefined ? undefined : toIsoTime(wanted.expiresAt, "The expiry");
  if (expiresAt !== undefined && expiresAt <= now.toISOString()) {
    throw invalid("The expiry of the key is in the past.");
  }
  const entry: KeyEntry = {
    id,
    project: checkName(wanted.project ?? "default", "project"),
    hash: hashSecret(key),
    createdAt: now.toISOString(),
    scopes,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(wanted.user === undefined ? {} : { user: checkNewName(wanted.user, "user") }),
    ...(wanted.label === undefined ? {} : { label: checkText(wanted.label, "label", LABEL_BYTES) }),
  };
  return { key, entry };
}

/** Finds the key with this id. Throws `not_found` also for a key of another project. */
function findKey(ring: KeyRing, id: string, project: string | undefined): KeyEntry {
  const entry = ring.keys.find((one) => one.id === id);
  if (!entry || (project !== undefined && entry.project !== project)) throw createUnknownKeyError();
  return entry;
}

function rotateEntry(entry: KeyEntry, hash: string, now: Date, until: string): KeyEntry {
  if (!isUnexpired(entry, now)) {
    throw new MemoryError(
      "conflict",
      "The key has expired, so a new secret would be useless. Create a new key.",
    );
  }
  const moment = now.toISOString();
  const past = [{ hash: entry.hash, until }, ...(entry.past ?? [])]
    .filter((one) => one.until > moment)
    .slice(0, MAX_PAST_SECRETS);
  const { past: _past, ...rest } = entry;
  return { ...rest, hash, ...(past.length > 0 ? { past } : {}) };
}

/** Replaces an entry. Sessions opened with the old secret end when it does. */
function replaceEntry(ring: KeyRing, entry: KeyEntry, until: string): KeyRing {
  return {
    keys: ring.keys.map((one) => (one.id === entry.id ? entry : one)),
    sessions: ring.sessions.map((session) =>
      session.key === entry.id && session.expiresAt > until ? { ...session, expiresAt: until } : session,
    ),
  };
}

function createUnknownKeyError(): MemoryError {
  return new MemoryError("not_found", "There is no key with this id.");
}
