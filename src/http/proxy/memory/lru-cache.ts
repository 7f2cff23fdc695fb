/** A cache with bounds that drops the least recently used values. */
export interface LruCache<Value> {
  get(key: string): Value | undefined;
  /** Sets and measures a value. Call it again after a value has grown. */
  set(key: string, value: Value): void;
  delete(key: string): void;
  keys(): Iterable<string>;
  /** Gives all values, least recently used first. */
  values(): Iterable<Value>;
}

export interface LruCacheBounds<Value> {
  /** Maximum number of values. */
  readonly most: number;
  /** Time without use after which a value is dropped, in ms, also if the cache is not used. */
  readonly idleMs: number;
  /** Maximum bytes of all values. Default: no limit. */
  readonly mostBytes?: number;
  /** Gives the approximate bytes of one value. Default: 0. */
  readonly sizeOf?: (value: Value) => number;
  /** Called with a value dropped for size or age, not for `set` or `delete` of its key. */
  readonly onDrop?: (value: Value) => void;
}

/** Creates an LRU cache. */
export function createLruCache<Value>(bounds: LruCacheBounds<Value>): LruCache<Value> {
  const { most, idleMs, mostBytes = Number.POSITIVE_INFINITY, sizeOf = () => 0, onDrop } = bounds;
  // A Map keeps its order: the first entry is the least recently used.
  const entries = new Map<string, { readonly value: Value; readonly at: number; readonly bytes: number }>();
  let bytes = 0;
  const take = (key: string): Value | undefined => {
    const found = entries.get(key);
    if (!found) return undefined;
    entries.delete(key);
    bytes -= found.bytes;
    return found.value;
  };
  const put = (key: string, value: Value, at: number): void => {
    const own = sizeOf(value);
    entries.set(key, { value, at, bytes: own });
    bytes += own;
  };
  const makeRoom = (now: number): void => {
    for (const [key, { value, at }] of entries) {
      if (entries.size <= most && bytes <= mostBytes && now - at <= idleMs) break;
      take(key);
      onDrop?.(value);
    }
  };
  const watch = createSweep(
    () => {
      const [first] = entries.values();
      return first && first.at + idleMs + 1 - performance.now();
    },
    () => makeRoom(performance.now()),
  );
  return {
    get(key) {
      const now = performance.now();
      const isOver = now - (entries.get(key)?.at ?? now) > idleMs;
      const value = take(key);
      if (value === undefined) return undefined;
      if (isOver) {
        onDrop?.(value);
        return undefined;
      }
      put(key, value, now);
      return value;
    },
    set(key, value) {
      const now = performance.now();
      take(key);
      put(key, value, now);
      makeRoom(now);
      watch();
    },
    delete: (key) => void take(key),
    keys: () => entries.keys(),
    *values() {
      for (const { value } of entries.values()) yield value;
    },
  };
}

/** The longest wait of a timer. */
const MAX_WAIT_MS = 2_147_483_647;

/**
 * Gives a function that waits for the next time to sweep, unless it waits already. `findWait` gives that time in ms from now;
 * undefined if nothing is left to sweep. The wait does not keep the process alive.
 */
export function createSweep(findWait: () => number | undefined, sweep: () => void): () => void {
  let isWaiting = false;
  const watch = (): void => {
    const wait = isWaiting ? undefined : findWait();
    if (wait === undefined) return;
    isWaiting = true;
    const run = (): void => {
      isWaiting = false;
      sweep();
      watch();
    };
    setTimeout(run, Math.min(Math.max(1, Math.ceil(wait)), MAX_WAIT_MS)).unref();
  };
  return watch;
}
