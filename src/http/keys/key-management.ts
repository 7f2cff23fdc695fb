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

/** What a new key is to be. */
export interface WantedKey {
  /** "default", where absent. */
  readonly project?: string | undefined;
  /** At least one; all but `admin`, where absent. */
  readonly scopes?: readonly KeyScope[] | undefined;
  /** When it stops to count; never, where absent. */
  readonly expiresAt?: Date | string | undefined;
  /** The only user it reaches. Not with `admin`, which could make itself a key that reaches all. */
  readonly user?: string | undefined;
  /** What people call it: at most 100 bytes. */
  readonly label?: string | undefined;
}

/** A key with its secret. It is told this once; nothing that is kept can bring it back. */
export interface IssuedKey {
  readonly key: string;
  readonly entry: KeyEntry;
}

export interface Rotation {
  /** How long the earlier secret still counts, in milliseconds: a day, where absent; at most thirty days. */
  readonly graceMs?: number | undefined;
  /** The project that the key must belong to; in any, where absent. */
  readonly project?: string | undefined;
}

/** Makes keys, shows what is kept of them, changes their secrets, ends them. */
export interface KeyManagement {
  /** The keys of one project, or of all, oldest first. */
  list(project?: string): KeyEntry[];
  /** `invalid_input` for what no key can be; `over_quota` where a project has a thousand. */
  create(wanted?: WantedKey): IssuedKey;
  /** Gives a key another secret under the same id. `not_found`; `conflict` for one that has expired. */
  rotate(id: string, rotation?: Rotation): IssuedKey;
  /** Ends a key, and what was signed in with it, at once. `not_found`. */
  revoke(id: string, where?: { readonly project?: string }): KeyEntry;
}

export const DEFAULT_SCOPES: readonly KeyScope[] = ["read", "write", "erase"];
export const DEFAULT_GRACE_MS = 86_400_000;
export const LONGEST_GRACE_MS: number = 30 * 86_400_000;
const LABEL_BYTES = 100;
const MAX_KEYS = 1000;
/** Secrets of earlier rotations that may count at once; the oldest ends before there are more. */
const MAX_PAST_SECRETS = 4;

export function createKeyManagement(store: KeyStore, clock: Clock): KeyManagement {
  const held = (): KeyRing => store.read() ?? EMPTY_RING;
  return {
    list: (project) => held().keys.filter((entry) => project === undefined || entry.project === project),
    create(wanted = {}) {
      const made = issueKey(wanted, clock());
      store.write((ring) => {
        if (ring.keys.filter(({ project }) => project === made.entry.project).length >= MAX_KEYS) {
          throw new MemoryError("over_quota", `The project has ${MAX_KEYS} keys. Revoke some first.`);
        }
        return { ...ring, keys: [...ring.keys, made.entry] };
      });
      return made;
    },
    rotate(id, { graceMs = DEFAULT_GRACE_MS, project } = {}) {
      if (!(Number.isFinite(graceMs) && graceMs >= 0 && graceMs <= LONGEST_GRACE_MS)) {
        throw invalid("The grace time must be from none to thirty days.");
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
      let gone: KeyEntry | undefined;
      store.write((ring) => {
        gone = findKey(ring, id, project);
        return {
          keys: ring.keys.filter((entry) => entry.id !== id),
          sessions: ring.sessions.filter(({ key }) => key !== id),
        };
      });
      if (!gone) throw createUnknownKeyError();
      return gone;
    },
  };
}

/** A key that is not yet kept. */
export function issueKey(wanted: WantedKey, now: Date): IssuedKey {
  const id = createKeyId();
  const key = createKeyText(id);
  const scopes = KEY_SCOPES.filter((scope) => (wanted.scopes ?? DEFAULT_SCOPES).includes(scope));
  if (scopes.length === 0) throw invalid(`A key needs at least one scope of ${KEY_SCOPES.join(", ")}.`);
  if (wanted.user !== undefined && scopes.includes("admin")) {
    throw invalid("A key that is bound to a user cannot have the scope admin.");
  }
  const expiresAt = wanted.expiresAt === undefined ? undefined : toIsoTime(wanted.expiresAt, "The expiry");
  if (expiresAt !== undefined && expiresAt <= now.toISOString()) {
    throw invalid("The expiry of the key lies in the past.");
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

/** The key of this id; another project's is as if it were not there. */
function findKey(ring: KeyRing, id: string, project: string | undefined): KeyEntry {
  const entry = ring.keys.find((one) => one.id === id);
  if (!entry || (project !== undefined && entry.project !== project)) throw createUnknownKeyError();
  return entry;
}

function rotateEntry(entry: KeyEntry, hash: string, now: Date, until: string): KeyEntry {
  if (!isUnexpired(entry, now)) {
    throw new MemoryError(
      "conflict",
      "The key has expired: another secret would open nothing. Create a key.",
    );
  }
  const moment = now.toISOString();
  const past = [{ hash: entry.hash, until }, ...(entry.past ?? [])]
    .filter((one) => one.until > moment)
    .slice(0, MAX_PAST_SECRETS);
  const { past: _past, ...rest } = entry;
  return { ...rest, hash, ...(past.length > 0 ? { past } : {}) };
}

/** Pages that were signed in with the earlier secret end when it does. */
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
