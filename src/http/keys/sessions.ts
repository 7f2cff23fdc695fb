import type { Clock } from "../../ports/clock.ts";
import { type Bearer, EMPTY_RING, isUnexpired, type KeyStore, type SessionEntry } from "./entries.ts";
import { createToken, hashSecret, isSameHash, UNKNOWN_HASH } from "./secrets.ts";

export interface OpenedSession {
  /** The cookie's value. */
  readonly token: string;
  /** What the page keeps for itself and sends in a header: the cookie alone opens nothing. */
  readonly proof: string;
  readonly expiresAt: string;
  readonly project: string;
}

/** Pages that are signed in. */
export interface PageSessions {
  /** Signs a page in for thirty days, or until `end`. */
  open(bearer: Bearer, end: string | undefined): OpenedSession;
  /** The id of the key that a page was signed in with; undefined where it is not signed in. */
  findKeyId(token: string, proof: string): string | undefined;
  close(token: string): void;
}

const SESSION_DAYS = 30;
/** The oldest go first: nobody has more browsers than that. */
const MAX_SESSIONS = 50;

export function createPageSessions(store: KeyStore, clock: Clock): PageSessions {
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
