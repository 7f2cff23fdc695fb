import type { Meter } from "../ports/meter.ts";
import type { Keepsake } from "./surface.ts";

/** Tells a meter how it stands now: what waits, and how the jobs do. What cannot be read now keeps the value it had. */
export async function recordJobMetrics(keepsake: Pick<Keepsake, "jobs">, meter: Meter): Promise<void> {
  const jobs = await keepsake.jobs().catch(() => []);
  for (const { name, state, left, attempts, setAside = 0, lastRun } of jobs) {
    const labels = { job: name };
    meter.set("memory_job_running", state === "running" ? 1 : 0, labels);
    meter.set("memory_job_failures", attempts, labels);
    meter.set("memory_job_set_aside", setAside, labels);
    if (left !== undefined) meter.set("memory_job_left", left, labels);
    if (lastRun !== undefined) {
      meter.set("memory_job_last_run_timestamp_seconds", Date.parse(lastRun) / 1000, labels);
    }
  }
}
