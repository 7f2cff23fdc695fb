import { invalid } from "../../errors.ts";
import type { Clock } from "../../ports/system.ts";
import { createKeyManagement, issueKey, type KeyManagement } from "./key-management.ts";
import {
  type Bearer,
  createToken,
  EMPTY_RING,
  hashSecret,
  isSameHash,
  isUnexpired,
  KEY_SCOPES,
  type KeyEntry,
  type KeyRing,
  type KeyStore,
  parseKeyId,
  type SessionEntry,
  type ShownKey,
  toBearer,
  toShownKey,
  UNKNOWN_HASH,
} from "./key-ring.ts";

export type { IssuedKey, KeyManagement, Rotation, WantedKey } from "./key-management.ts";
export {
  type Bearer,
  KEY_SCOPES,
  type KeyEntry,
  type KeyRing,
  type KeyScope,
  type KeyStore,
  passingKeys,
  type SessionEntry,
} from "./key-ring.ts";

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

interface ApiKeysOptions {
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

export interface OpenedSession {
  /** The cookie's value. */
  readonly token: string;
  /** What the page keeps for itself and sends in a header: the cookie alone opens nothing. */
  readonly proof: string;
  readonly expiresAt: string;
  readonly project: string;
}

/** Pages that are signed in. */
interface PageSessions {
  /** Signs a page in for thirty days, or until `end`. */
  open(bearer: Bearer, end: string | undefined): OpenedSession;
  /** The id of the key that a page was signed in with; undefined where it is not signed in. */
  findKeyId(token: string, proof: string): string | undefined;
  close(token: string): void;
}

const SESSION_DAYS = 30;
/** The oldest go first: nobody has more browsers than that. */
const MAX_SESSIONS = 50;

function createPageSessions(store: KeyStore, clock: Clock): PageSessions {
  return {
    open(bearer, end) {
      const [token, proof] = [createToken(), createToken()];
      const now = clock();
      const longest = new Date(now.getTime() + SESSION_DAYS * 86_400_000).toISOString();
      const expiresAt = end !== undefined && end < longest ? end : longest;
      const entry = { key: bearer.key, hash: hashSecret(token), proofHash: hashSecret(proof), expiresAt };
      store.write((held) => ({
        ...held,
        sessions: [...getActiveSessions(held.sessions, now), entry].slice(-MAX_SESSIONS),
      }));
      return { token, proof, expiresAt, project: bearer.project };
    },
    findKeyId(token, proof) {
      const hash = hashSecret(token);
      const proofHash = hashSecret(proof);
      const held = (store.read() ?? EMPTY_RING).sessions;
      const session = getActiveSessions(held, clock()).find((entry) => isSameHash(entry.hash, hash));
      return isSameHash(proofHash, session?.proofHash ?? UNKNOWN_HASH) ? session?.key : undefined;
    },
    close(token) {
      const hash = hashSecret(token);
      store.write((held) => ({
        ...held,
        sessions: held.sessions.filter((entry) => !isSameHash(entry.hash, hash)),
      }));
    },
  };
}

function getActiveSessions(sessions: readonly SessionEntry[], now: Date): SessionEntry[] {
  return sessions.filter((session) => isUnexpired(session, now));
}

/** When keys were used last. Noting it costs a request nothing but a number in a map. */
interface KeyUses {
  note(id: string): void;
  /** The entry with the last use, also where it is not kept yet. */
  withLastUse(entry: KeyEntry): KeyEntry;
  /** Keeps what is not kept yet, now. */
  flush(): void;
}

const FIRST_WRITE_MS = 1_000;
const WRITE_INTERVAL_MS = 60_000;

/** Keeps last uses behind the requests' backs: all at once, at most once a minute. */
function createKeyUses(store: KeyStore, clock: Clock): KeyUses {
  const waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_WRITE_MS;
  const latest = (entry: KeyEntry, uses: ReadonlyMap<string, number> = waiting): KeyEntry => {
    const used = uses.get(entry.id);
    if (used === undefined) return entry;
    const lastUsedAt = new Date(used).toISOString();
    return (entry.lastUsedAt ?? "") < lastUsedAt ? { ...entry, lastUsedAt } : entry;
  };
  const keep = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const uses = new Map(waiting);
    // No patience: who waits for another program here, waits on everybody's time.
    store.write((ring) => {
      const keys = ring.keys.map((entry) => latest(entry, uses));
      return keys.some((entry, i) => entry !== ring.keys[i]) ? { ...ring, keys } : ring;
    }, 0);
    waiting.clear();
  };
  const later = (): void => {
    timer ??= setTimeout(() => {
      pauseMs = WRITE_INTERVAL_MS;
      try {
        keep();
      } catch {
        // A full disk or a busy file is no reason to end a server: the uses wait for the next one.
      }
    }, pauseMs).unref();
  };
  return {
    note(id) {
      waiting.set(id, clock().getTime());
      later();
    },
    withLastUse: (entry) => latest(entry),
    flush: keep,
  };
}
