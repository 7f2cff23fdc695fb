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

/** API keys and the sessions of the page. A lookup of an unknown key gives `undefined` and takes the same time. */
export interface ApiKeys extends KeyManagement {
  /** The key created at a first start, to be shown once; undefined if there were keys already. */
  readonly first: string | undefined;
  /** Whether there is a valid key. */
  isAny(): boolean;
  /** Gives the project and scopes of a key; undefined for an unknown or expired one. */
  verify(key: string): Bearer | undefined;
  /** Gives the rights of a key, and what finds it again later; undefined for an unknown or expired key. */
  identify(key: string): IdentifiedKey | undefined;
  /** Gives the rights of a key that was identified before; undefined if it, or that secret of it, has ended. */
  findIdentified(id: string, secretHash: string): Bearer | undefined;
  /** Gives a key without its secret. */
  show(entry: KeyEntry): ShownKey;
  /** Opens a session of the page with a key; undefined for an unknown or expired one. */
  openSession(key: string): OpenedSession | undefined;
  /** Gives the project and scopes of a session by its cookie and its token; undefined if either is wrong. */
  verifySession(token: string, proof: string): Bearer | undefined;
  /** Ends a session. */
  closeSession(token: string): void;
  /** Reads changes from other servers; see `KeyStore`. */
  refresh(): Promise<void>;
  /** Waits until all changes are stored, and throws if one failed. Call it before reporting a change. */
  kept(): Promise<void>;
  /** Stores pending times of last use. Without it, only these are lost. */
  close(): void;
}

/** A key that was found by its secret. */
export interface IdentifiedKey {
  readonly bearer: Bearer;
  /** SHA-256 of the key, hex. A key that is rotated has another one. */
  readonly secretHash: string;
}

interface ApiKeysOptions {
  readonly store: KeyStore;
  readonly clock: Clock;
  /** A valid key in addition to those in the store. */
  readonly given?: string | undefined;
  /** Whether to create a first key if there is none (true). */
  readonly makesFirst?: boolean;
}

/**
 * Opens the keys of a store. A given key is not stored, has all scopes, and belongs to the project "default". If there is
 * neither, a first key is created. Throws `invalid_input` if the given key is too short or contains white space.
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
    identify(key) {
      const entry = find.byKey(key);
      if (entry) uses.note(entry.id);
      return entry && { bearer: toBearer(entry), secretHash: hashSecret(key) };
    },
    findIdentified(id, secretHash) {
      const entry = find.byId(id);
      const isValid =
        entry !== undefined &&
        (isSameHash(entry.hash, secretHash) || isPastSecret(entry, secretHash, clock().toISOString()));
      if (isValid) uses.note(id);
      return isValid ? toBearer(entry) : undefined;
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

/** Finds valid keys. A known id with a wrong secret takes as long as an unknown id. */
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
      // The expiry is checked only after the secret.
      return alive(isNamed || isPast ? entry : isGiven ? given : undefined);
    },
  };
}

/** Indexes the keys of a ring by id, so that a failed lookup takes as long as a successful one. */
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

/** Gives the end of a session: one opened with an earlier secret of a key ends with that secret. */
function getSessionEnd(entry: KeyEntry, key: string): string | undefined {
  const hash = hashSecret(key);
  return entry.past?.find((one) => isSameHash(one.hash, hash))?.until ?? entry.expiresAt;
}

function createFirstKey(store: KeyStore, clock: Clock): string | undefined {
  if (store.read() !== undefined) return undefined;
  const issued = issueKey({ scopes: KEY_SCOPES, label: "first key" }, clock());
  let isOurs = false;
  // If two servers start for the first time at once, the store decides, and only one key exists.
  store.write((held) => {
    isOurs = held.keys.length === 0;
    return isOurs ? { ...held, keys: [issued.entry] } : held;
  });
  return isOurs ? issued.key : undefined;
}

function toGivenEntry(key: string): KeyEntry {
  if (!/^[\x21-\x7e]{24,512}$/.test(key)) {
    throw invalid(
      "KEEPSAKE_API_KEY must be 24 to 512 visible ASCII characters without spaces. `openssl rand -hex 32` makes one.",
    );
  }
  const hash = hashSecret(key);
  // The id depends on the key, so its sessions end when another key is given.
  return { id: `given-${hash.slice(0, 12)}`, project: "default", hash, createdAt: "", scopes: KEY_SCOPES };
}

export interface OpenedSession {
  /** The value of the cookie. */
  readonly token: string;
  /** A token that the page stores and sends in a header. The cookie alone gives no access. */
  readonly proof: string;
  readonly expiresAt: string;
  readonly project: string;
}

/** The sessions of signed-in pages. */
interface PageSessions {
  /** Opens a session for thirty days, or until `end`. */
  open(bearer: Bearer, end: string | undefined): OpenedSession;
  /** Gives the id of the key of a session; undefined if there is no such session. */
  findKeyId(token: string, proof: string): string | undefined;
  close(token: string): void;
}

const SESSION_DAYS = 30;
/** Maximum number of sessions; the oldest are dropped first. */
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

/** Times of last use. Recording one only sets a number in a map. */
interface KeyUses {
  note(id: string): void;
  /** Adds the last use to an entry, even if it is not stored yet. */
  withLastUse(entry: KeyEntry): KeyEntry;
  /** Stores pending times now. */
  flush(): void;
}

const FIRST_WRITE_MS = 1_000;
const WRITE_INTERVAL_MS = 60_000;

/** Stores times of last use in the background: all together, at most once a minute. */
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
    // Does not wait for another program's lock: waiting would block all requests.
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
        // A full disk or a busy file must not stop the server: the times are stored later.
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
