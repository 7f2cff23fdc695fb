import { invalid } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import {
  type Bearer,
  EMPTY_RING,
  isUnexpired,
  KEY_SCOPES,
  type KeyEntry,
  type KeyRing,
  type KeyStore,
  toBearer,
} from "./keys/entries.ts";
import { createKeyManagement, issueKey, type KeyManagement } from "./keys/manage.ts";
import { hashSecret, isSameHash, parseKeyId, UNKNOWN_HASH } from "./keys/secrets.ts";
import { createPageSessions, type OpenedSession, type PageSessions } from "./keys/sessions.ts";
import { type ShownKey, toShownKey } from "./keys/shown.ts";
import { createKeyUses, type KeyUses } from "./keys/uses.ts";

export {
  type Bearer,
  KEY_SCOPES,
  type KeyEntry,
  type KeyRing,
  type KeyScope,
  type KeyStore,
  passingKeys,
  type SessionEntry,
} from "./keys/entries.ts";
export type { IssuedKey, KeyManagement, Rotation, WantedKey } from "./keys/manage.ts";
export type { OpenedSession } from "./keys/sessions.ts";

/** Keys and the sessions of the page. Unknown ones cost the same as known ones and give `undefined`. */
export interface ApiKeys extends KeyManagement {
  /** The key of a first start, to be shown once; undefined where there were keys already. */
  readonly first: string | undefined;
  /** Whether anybody can get in: there is a key that counts. */
  isAny(): boolean;
  verify(key: string): Bearer | undefined;
  /** A key as it may be shown. */
  show(entry: KeyEntry): ShownKey;
  openSession(key: string): OpenedSession | undefined;
  verifySession(token: string, proof: string): Bearer | undefined;
  closeSession(token: string): void;
  /** Learns what other servers have changed; see `KeyStore`. */
  refresh(): Promise<void>;
  /** Ends when all that was changed is kept, and throws where it could not be. Whoever is told of a change waits for it. */
  kept(): Promise<void>;
  /** Keeps when keys were used last, where it is not kept yet. Nothing is lost but that without it. */
  close(): void;
}

export interface ApiKeysOptions {
  readonly store: KeyStore;
  readonly clock: Clock;
  /** A key that counts beside those in the store. */
  readonly given?: string | undefined;
  /** Whether a first key is made where there is none (true). */
  readonly makesFirst?: boolean;
}

/**
 * Keys from a store, and one that was given, which is kept nowhere, may do everything, and belongs to the project
 * "default". Where there is neither, a first key is made. `invalid_input` for a given key that is too short or holds
 * white space.
 */
export function apiKeys(options: ApiKeysOptions): ApiKeys {
  const { store, clock } = options;
  const given = options.given === undefined ? undefined : toGivenEntry(options.given);
  const uses = createKeyUses(store, clock);
  const pages = createPageSessions(store, clock);
  const management = createKeyManagement(store, clock);
  const first =
    given === undefined && (options.makesFirst ?? true) ? createFirstKey(store, clock) : undefined;
  const find = createKeyFinder(store, clock, given);
  return {
    ...management,
    ...createSignIn(find, pages, uses),
    first,
    isAny: () =>
      given !== undefined || (store.read() ?? EMPTY_RING).keys.some((entry) => isUnexpired(entry, clock())),
    list: (project) => management.list(project).map(uses.withLastUse),
    verify(key) {
      const entry = find.byKey(key);
      if (entry) uses.note(entry.id);
      return entry && toBearer(entry);
    },
    show: (entry) => toShownKey(entry, clock()),
    refresh: async () => store.refresh?.(),
    kept: async () => store.kept?.(),
    close: uses.flush,
  };
}

interface KeyFinder {
  byKey(key: string): KeyEntry | undefined;
  byId(id: string | undefined): KeyEntry | undefined;
}

/** Finds keys that count. A known id with a wrong secret costs what an unknown one does. */
function createKeyFinder(store: KeyStore, clock: Clock, given: KeyEntry | undefined): KeyFinder {
  const indexOf = createKeyIndex();
  const named = (id: string | undefined): KeyEntry | undefined => {
    if (id === undefined) return undefined;
    return given?.id === id ? given : indexOf(store.read() ?? EMPTY_RING).get(id);
  };
  const alive = (entry: KeyEntry | undefined): KeyEntry | undefined =>
    entry && isUnexpired(entry, clock()) ? entry : undefined;
  return {
    byId: (id) => alive(named(id)),
    byKey(key) {
      const entry = named(parseKeyId(key));
      const hash = hashSecret(key);
      const isNamed = isSameHash(hash, entry?.hash ?? UNKNOWN_HASH);
      const isPast = isPastSecret(entry, hash, clock().toISOString());
      const isGiven = isSameHash(hash, given?.hash ?? UNKNOWN_HASH);
      // Whether it has expired is asked of none but who has the secret.
      return alive(isNamed || isPast ? entry : isGiven ? given : undefined);
    },
  };
}

/** The keys of a ring by their ids: to find none takes as long as to find one, however many there are. */
function createKeyIndex(): (ring: KeyRing) => ReadonlyMap<string, KeyEntry> {
  let last: { ring: KeyRing; index: ReadonlyMap<string, KeyEntry> } | undefined;
  return (ring) => {
    if (last?.ring !== ring) last = { ring, index: new Map(ring.keys.map((entry) => [entry.id, entry])) };
    return last.index;
  };
}

function isPastSecret(entry: KeyEntry | undefined, hash: string, now: string): boolean {
  return (entry?.past ?? []).filter((one) => isSameHash(hash, one.hash) && one.until > now).length > 0;
}

function createSignIn(
  find: KeyFinder,
  pages: PageSessions,
  uses: KeyUses,
): Pick<ApiKeys, "openSession" | "verifySession" | "closeSession"> {
  return {
    openSession(key) {
      const entry = find.byKey(key);
      return entry && pages.open(toBearer(entry), getSessionEnd(entry, key));
    },
    verifySession(token, proof) {
      const entry = find.byId(pages.findKeyId(token, proof));
      if (entry) uses.note(entry.id);
      return entry && toBearer(entry);
    },
    closeSession: pages.close,
  };
}

/** A page that is signed in with an earlier secret of a key is signed in for as long as that counts. */
function getSessionEnd(entry: KeyEntry, key: string): string | undefined {
  const hash = hashSecret(key);
  return entry.past?.find((one) => isSameHash(one.hash, hash))?.until ?? entry.expiresAt;
}

function createFirstKey(store: KeyStore, clock: Clock): string | undefined {
  if (store.read() !== undefined) return undefined;
  const made = issueKey({ scopes: KEY_SCOPES, label: "first key" }, clock());
  let isOurs = false;
  // Two first starts at once: the store says who was first, and only that key exists.
  store.write((held) => {
    isOurs = held.keys.length === 0;
    return isOurs ? { ...held, keys: [made.entry] } : held;
  });
  return isOurs ? made.key : undefined;
}

function toGivenEntry(key: string): KeyEntry {
  if (!/^[\x21-\x7e]{24,512}$/.test(key)) {
    throw invalid(
      "KEEPSAKE_API_KEY must be 24 to 512 visible ASCII characters without spaces. `openssl rand -hex 32` makes one.",
    );
  }
  const hash = hashSecret(key);
  // Its sessions end when another key is given, for the id changes with it.
  return { id: `given-${hash.slice(0, 12)}`, project: "default", hash, createdAt: "", scopes: KEY_SCOPES };
}
