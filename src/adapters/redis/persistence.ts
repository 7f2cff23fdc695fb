import type { VectorIndexRemainder } from "../../ports/follower.ts";
import type { SendRedisCommand } from "./asking.ts";
import { toList } from "./walk.ts";

/**
 * Files in which a server goes on holding what was deleted: its append-only file until that is rewritten, its snapshots until the
 * next one. A server that does not say whether it writes snapshots may.
 */
export async function readPersistence(
  ask: SendRedisCommand,
  signal?: AbortSignal,
): Promise<VectorIndexRemainder[]> {
  const told = String(await ask("INFO", ["persistence"], { signal }));
  const [, save] = toList(await ask("CONFIG", ["GET", "save"], { signal }).catch(() => ["save", "unknown"]));
  return [
    ...(/^aof_enabled:1/m.test(told)
      ? [{ place: "Redis' append-only file, until it is rewritten (BGREWRITEAOF)" }]
      : []),
    ...(save === "" ? [] : [{ place: "Redis' snapshot, until the next one (BGSAVE)" }]),
  ];
}
