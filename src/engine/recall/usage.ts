import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { MemoryUse, UsageStore } from "../../ports/stores/usage-store.ts";
import { type Meter, NO_METER } from "../../ports/telemetry.ts";
import type { UsageTracker } from "../services.ts";

/** Uses are written this long after the first pending one, or when this many memories have some. */
const FLUSH_DELAY_MS = 2000;
const MAX_WAITING = 2000;
/** While the store cannot be written, uses of more memories than this are not counted. */
const MAX_KEPT = 100_000;

/** Uses by the id of the memory. */
type UsesById = Map<string, MemoryUse>;

/** Uses that are not stored yet, by user. */
interface PendingUses {
  readonly users: Map<string, { readonly scope: Scope; readonly uses: UsesById }>;
  /** The number of memories. */
  count: number;
}

/**
 * Counts the memories that recalls return. Counts are collected in this process and written in batches, so no recall waits
 * for them; a crash loses those of the last two seconds.
 */
export function createUsageTracker(
  usage: UsageStore,
  { meter = NO_METER }: { readonly meter?: Meter | undefined } = {},
): UsageTracker {
  let waiting: PendingUses = { users: new Map(), count: 0 };
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    if (waiting.count === 0) return;
    const batch = waiting;
    waiting = { users: new Map(), count: 0 };
    const all = [...batch.users.values()].map(({ scope, uses }) => ({ scope, uses: [...uses.values()] }));
    try {
      await usage.add(all);
    } catch {
      const failed = all.flatMap(({ uses }) => uses).reduce((total, { count }) => total + count, 0);
      meter.count("memory_uses_total", { outcome: "failed" }, failed);
      // They wait for the next recall.
      for (const { scope, uses } of all) for (const use of uses) addPending(waiting, scope, use);
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  return {
    note(scope, ids, at) {
      for (const id of ids) addPending(waiting, scope, { id, count: 1, lastAt: at });
      meter.count("memory_uses_total", { outcome: "noted" }, ids.length);
      if (waiting.count >= MAX_WAITING) void flush();
      else if (!timer && waiting.count > 0) {
        timer = setTimeout(() => void flush(), FLUSH_DELAY_MS);
        timer.unref();
      }
    },
    async read(scope, ids) {
      await writing;
      const pending = listPending(waiting, scope, ids);
      const all: UsesById = new Map((await usage.read(scope, ids)).map((use) => [use.id, use]));
      for (const use of pending) addUse(all, use);
      return new Map([...all].map(([id, { count, lastAt }]) => [id, { count, lastAt }]));
    },
    flush,
  };
}

function addPending(pending: PendingUses, { project, user }: Scope, use: MemoryUse): void {
  const key = toScopeKey({ project, user });
  const own = pending.users.get(key) ?? { scope: { project, user }, uses: new Map() };
  if (!own.uses.has(use.id)) {
    if (pending.count >= MAX_KEPT) return;
    pending.count += 1;
  }
  pending.users.set(key, own);
  addUse(own.uses, use);
}

function listPending(
  { users }: PendingUses,
  scope: Scope,
  ids: readonly string[] | undefined,
): readonly MemoryUse[] {
  const uses = users.get(toScopeKey(scope))?.uses;
  if (!uses) return [];
  return ids ? ids.flatMap((id) => uses.get(id) ?? []) : [...uses.values()];
}

function addUse(uses: UsesById, use: MemoryUse): void {
  const known = uses.get(use.id);
  uses.set(use.id, known ? addUses(known, use) : use);
}

function addUses(one: MemoryUse, other: MemoryUse): MemoryUse {
  return {
    id: one.id,
    count: one.count + other.count,
    lastAt: one.lastAt > other.lastAt ? one.lastAt : other.lastAt,
  };
}
