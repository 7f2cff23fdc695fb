import type { FollowerRemains } from "../../ports/follower.ts";
import type { Ask } from "./asking.ts";
import { list } from "./walk.ts";

/**
 * Files in which a server goes on holding what was deleted: its append-only file until that is rewritten, its snapshots until the
 * next one. A server that does not say whether it writes snapshots may.
 */
export async function persistenceOf(ask: Ask, signal?: AbortSignal): Promise<FollowerRemains[]> {
  const told = String(await ask("INFO", ["persistence"], { signal }));
  const [, save] = list(await ask("CONFIG", ["GET", "save"], { signal }).catch(() => ["save", "unknown"]));
  return [
    ...(/^aof_enabled:1/m.test(told)
      ? [{ place: "Redis' append-only file, until it is rewritten (BGREWRITEAOF)" }]
      : []),
    ...(save === "" ? [] : [{ place: "Redis' snapshot, until the next one (BGSAVE)" }]),
  ];
}
