import type { SendRedisCommand } from "./asking.ts";

/** What the server takes and may take, in bytes; no `most` where it may take whatever there is. */
export async function readMemoryUse(
  ask: SendRedisCommand,
  signal?: AbortSignal,
): Promise<{ readonly bytes: number; readonly most?: number }> {
  const told = String(await ask("INFO", ["memory"], { signal }));
  const bytes = parseInfoNumber(told, "used_memory");
  const most = parseInfoNumber(told, "maxmemory");
  return { bytes, ...(most > 0 ? { most } : {}) };
}

function parseInfoNumber(told: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(told)?.[1] ?? 0);
}
