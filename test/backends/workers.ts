import { readdirSync, readFileSync } from "node:fs";

/** The processes of FAISS that look after a folder, as Linux tells of them. */
export function workersOf(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      try {
        return readFileSync(`/proc/${id}/cmdline`, "utf8").includes(`worker.py\0${folder}\0`);
      } catch {
        return false;
      }
    });
}

export function signalWorkers(folder: string, signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
  for (const id of workersOf(folder)) process.kill(id, signal);
}
