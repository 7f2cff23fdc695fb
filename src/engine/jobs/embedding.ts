import { countPendingUnits, embedPending } from "../embed-pending.ts";
import type { Ports } from "../ports.ts";
import type { Job } from "./job.ts";

/** How often it is looked for what other processes left behind. */
const EVERY_MS = 60_000;

/** Embeds what waits for the embedder: after a change of it, or where it is a remote one. */
export function createEmbeddingJob(ports: Pick<Ports, "record" | "embedder" | "clock">): Job {
  return {
    name: "embedding",
    about: "gives vectors to what has none of the embedder in use; it is found by its words meanwhile",
    everyMs: EVERY_MS,
    restFactor: 0,
    run: (signal) => embedPending(ports, signal),
    countLeft: () => countPendingUnits(ports),
  };
}
