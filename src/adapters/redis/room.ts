import type { Ask } from "./asking.ts";

/** What the server takes and may take, in bytes; no `most` where it may take whatever there is. */
export async function roomOf(
  ask: Ask,
  signal?: AbortSignal,
): Promise<{ readonly bytes: number; readonly most?: number }> {
  const told = String(await ask("INFO", ["memory"], { signal }));
  const bytes = numberIn(told, "used_memory");
  const most = numberIn(told, "maxmemory");
  return { bytes, ...(most > 0 ? { most } : {}) };
}

function numberIn(told: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(told)?.[1] ?? 0);
}
