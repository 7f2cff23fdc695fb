import type { Ports } from "../ports.ts";
import { tryStore } from "./troubles.ts";

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
