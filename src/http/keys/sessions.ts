import type { Clock } from "../../ports/clock.ts";
import { type Bearer, EMPTY_RING, isAlive, type KeyStore, type SessionEntry } from "./entries.ts";
import { hashOf, isSame, NOBODY, newToken } from "./secrets.ts";

export interface OpenedSession {
  /** The cookie's value. */
  readonly token: string;
  /** What the page keeps for itself and sends in a header: the cookie alone opens nothing. */
  readonly proof: string;
  readonly expiresAt: string;
  readonly project: string;
}

/** Pages that are signed in. */
export interface Sessions {
  /** Signs a page in for thirty days, or until `end`. */
  open(bearer: Bearer, end: string | undefined): OpenedSession;
  /** The id of the key that a page was signed in with; undefined where it is not signed in. */
  keyOf(token: string, proof: string): string | undefined;
  close(token: string): void;
}

const SESSION_DAYS = 30;
/** The oldest go first: nobody has more browsers than that. */
const MOST_SESSIONS = 50;

export function sessions(store: KeyStore, clock: Clock): Sessions {
  return {
    open(bearer, end) {
      const [token, proof] = [newToken(), newToken()];
      const now = clock();
      const longest = new Date(now.getTime() + SESSION_DAYS * 86_400_000).toISOString();
      const expiresAt = end !== undefined && end < longest ? end : longest;
      const entry = { key: bearer.key, hash: hashOf(token), proofHash: hashOf(proof), expiresAt };
      store.write((held) => ({
        ...held,
        sessions: [...alive(held.sessions, now), entry].slice(-MOST_SESSIONS),
      }));
      return { token, proof, expiresAt, project: bearer.project };
    },
    keyOf(token, proof) {
      const hash = hashOf(token);
      const proofHash = hashOf(proof);
      const held = (store.read() ?? EMPTY_RING).sessions;
      const session = alive(held, clock()).find((entry) => isSame(entry.hash, hash));
      return isSame(proofHash, session?.proofHash ?? NOBODY) ? session?.key : undefined;
    },
    close(token) {
      const hash = hashOf(token);
      store.write((held) => ({
        ...held,
        sessions: held.sessions.filter((entry) => !isSame(entry.hash, hash)),
      }));
    },
  };
}

function alive(sessions: readonly SessionEntry[], now: Date): SessionEntry[] {
  return sessions.filter((session) => isAlive(session, now));
}
