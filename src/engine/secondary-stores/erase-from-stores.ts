import type { VerifiedPlace } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { SESSION_TTL_MS } from "../../ports/sessions.ts";
import type { Ports } from "../ports.ts";
import { tryStore } from "./try-store.ts";

/** What is to go from the places beside the record. */
export interface ErasedContent {
  /** Messages that lost words, by id. */
  readonly messages: "everything" | readonly string[];
  /** The user's revision of the erasure. */
  readonly revision: number;
}

type SecondaryStorePorts = Pick<Ports, "sessions" | "cache" | "clock" | "meter">;

/** A place is asked again until it has nothing; what is put all the time meanwhile is barred, so that few times will do. */
const MAX_ATTEMPTS = 3;

/**
 * Takes what was erased out of the sessions and the cache, and asks each again whether anything is there: a place a line. One
 * that cannot be reached says so, and until when it may hold something.
 */
export async function eraseFromStores(
  ports: SecondaryStorePorts,
  { project, user }: Scope,
  { messages, revision }: ErasedContent,
): Promise<VerifiedPlace[]> {
  const { sessions, cache } = ports;
  const of = { project, user };
  const what = messages === "everything" ? messages : { messages };
  const most = messages === "everything" ? 1 : Math.max(1, messages.length);
  return Promise.all([
    ...(sessions
      ? [
          eraseUntilEmpty(ports, {
            place: formatStorePlace("sessions", sessions),
            of: "sessions",
            take: () => sessions.erase(of, what, { revision }),
            most,
            forMs: SESSION_TTL_MS,
          }),
        ]
      : []),
    ...(cache
      ? [
          eraseUntilEmpty(ports, {
            place: formatStorePlace("cache", cache),
            of: "cache",
            take: () => cache.drop(of, { revision }),
            most: 1,
            forMs: cache.ttlMs,
          }),
        ]
      : []),
  ]);
}

async function eraseUntilEmpty(
  ports: Pick<Ports, "clock" | "meter">,
  emptying: {
    readonly place: string;
    readonly of: "sessions" | "cache";
    /** Takes out what is there, and says how much that was. */
    readonly take: () => Promise<number>;
    /** How much may be there. */
    readonly most: number;
    readonly forMs: number;
  },
): Promise<VerifiedPlace> {
  const { place, of, take, most, forMs } = emptying;
  let found: number | undefined;
  for (let asked = 0; asked < MAX_ATTEMPTS && found !== 0; asked += 1) {
    found = await tryStore(ports, of, take);
    if (found === undefined) break;
  }
  if (found === 0) return { place, found };
  const until = new Date(ports.clock().getTime() + forMs).toISOString();
  return found === undefined ? { place, found: most, until, why: "not reached" } : { place, found, until };
}

/** What the sessions and the cache cannot let go of at once. One that is down says nothing. */
export async function findStoreRemainders(
  ports: Pick<Ports, "sessions" | "cache" | "meter">,
): Promise<{ readonly place: string; readonly forMs?: number }[]> {
  const { sessions, cache } = ports;
  const told = await Promise.all([
    sessions?.remains ? tryStore(ports, "sessions", sessions.remains) : [],
    cache?.remains ? tryStore(ports, "cache", cache.remains) : [],
  ]);
  return told.flatMap((places) => places ?? []);
}

/** How a place beside the record is called in receipts and metrics: "sessions: redis"; in this process, "sessions". */
export function formatStorePlace(what: "sessions" | "cache", { name }: { readonly name: string }): string {
  return name === "memory" ? what : `${what}: ${name}`;
}
