import type { Ports } from "../ports.ts";
import { tryStore } from "./troubles.ts";

const EVERY_MS = 30_000;

/** Tells the meter, twice a minute, what the sessions' store takes and may take. Gives what ends it. */
export function watchStoreSize(ports: Pick<Ports, "sessions" | "meter">): () => void {
  const { sessions, meter } = ports;
  if (!sessions || !meter) return () => {};
  const look = async (): Promise<void> => {
    const room = await tryStore(ports, "sessions", () => sessions.room());
    if (!room) return;
    meter.set("memory_sessions_store_bytes", room.bytes);
    meter.set("memory_sessions_store_limit_bytes", room.most ?? 0);
  };
  const timer = setInterval(() => void look(), EVERY_MS).unref();
  void look();
  return () => clearInterval(timer);
}
