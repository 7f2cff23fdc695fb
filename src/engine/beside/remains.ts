import type { Ports } from "../ports.ts";
import { ifThere } from "./troubles.ts";

/** What the sessions and the cache cannot let go of at once. One that is down says nothing. */
export async function remainsBeside(
  ports: Pick<Ports, "sessions" | "cache" | "meter">,
): Promise<{ readonly place: string; readonly forMs?: number }[]> {
  const { sessions, cache } = ports;
  const told = await Promise.all([
    sessions?.remains ? ifThere(ports, "sessions", sessions.remains) : [],
    cache?.remains ? ifThere(ports, "cache", cache.remains) : [],
  ]);
  return told.flatMap((places) => places ?? []);
}
