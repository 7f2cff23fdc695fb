import type { VerifiedPlace } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { SESSION_TTL_MS } from "../../ports/sessions.ts";
import type { Ports } from "../ports.ts";
import { tryStore } from "./try-store.ts";

/** Content to erase from the secondary stores. */
export interface ErasedContent {
  /** Ids of redacted messages. */
  readonly messages: "everything" | readonly string[];
  /** The user's revision after the erasure. */
  readonly revision: number;
}

type SecondaryStorePorts = Pick<Ports, "sessions" | "cache" | "clock" | "meter">;

/** A store is checked until it has nothing left. Writes meanwhile are rejected, so few attempts suffice. */
const MAX_ATTEMPTS = 3;

/**
 * Erases content from the sessions and the cache, and verifies each: one line per store. A store that cannot
 * be reached says so, and until when it may still hold content.
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
    /** Removes the content that is there and gives the count. */
    readonly take: () => Promise<number>;
    /** The maximum count that may be there. */
    readonly most: number;
    readonly forMs: number;
  },
): Promise<VerifiedPlace> {
  const { place, of, take, most, forMs } = emptying;
  let found: number | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS && found !== 0; attempt += 1) {
    found = await tryStore(ports, of, take);
    if (found === undefined) break;
  }
  if (found === 0) return { place, found };
  const until = new Date(ports.clock().getTime() + forMs).toISOString();
  return found === undefined ? { place, found: most, until, why: "not reached" } : { place, found, until };
}

/** What the sessions and the cache cannot delete at once. A store that is down reports nothing. */
export async function findStoreRemainders(
  ports: Pick<Ports, "sessions" | "cache" | "meter">,
): Promise<{ readonly place: string; readonly forMs?: number }[]> {
  const { sessions, cache } = ports;
  const remainders = await Promise.all([
    sessions ? tryStore(ports, "sessions", () => sessions.remains()) : [],
    cache ? tryStore(ports, "cache", () => cache.remains()) : [],
  ]);
  return remainders.flatMap((places) => places ?? []);
}

/** The name of a secondary store in receipts and metrics: "sessions: redis"; in this process, "sessions". */
export function formatStorePlace(what: "sessions" | "cache", { name }: { readonly name: string }): string {
  return name === "memory" ? what : `${what}: ${name}`;
}
