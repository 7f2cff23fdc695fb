/** What was used last, by key, within bounds. */
export interface LruCache<Value> {
  get(key: string): Value | undefined;
  /** Also to be called where a value has grown: it is measured here. */
  set(key: string, value: Value): void;
  delete(key: string): void;
  keys(): Iterable<string>;
  /** All values, the one that was used longest ago first. */
  values(): Iterable<Value>;
}

export interface LruCacheBounds<Value> {
  /** How many values are held. */
  readonly most: number;
  /** A value that was not used for so long goes at the next `set`, in ms. */
  readonly idleMs: number;
  /** Bytes of all values; the default is no bound. */
  readonly mostBytes?: number;
  /** Bytes of one value, about; 0 by default. */
  readonly sizeOf?: (value: Value) => number;
  /** Called with a value that goes for lack of room or use; `set` and `delete` of its key do not call it. */
  readonly onDrop?: (value: Value) => void;
}

/** What is beyond the bounds goes, the one that was used longest ago first. */
export function createLruCache<Value>(bounds: LruCacheBounds<Value>): LruCache<Value> {
  const { most, idleMs, mostBytes = Number.POSITIVE_INFINITY, sizeOf = () => 0, onDrop } = bounds;
  // A Map keeps its order: the first is the one that was used longest ago.
  const held = new Map<string, { readonly value: Value; readonly at: number; readonly bytes: number }>();
  let bytes = 0;
  const take = (key: string): Value | undefined => {
    const found = held.get(key);
    if (!found) return undefined;
    held.delete(key);
    bytes -= found.bytes;
    return found.value;
  };
  const put = (key: string, value: Value, at: number): void => {
    const own = sizeOf(value);
    held.set(key, { value, at, bytes: own });
    bytes += own;
  };
  const makeRoom = (now: number): void => {
    for (const [key, { value, at }] of held) {
      if (held.size <= most && bytes <= mostBytes && now - at <= idleMs) break;
      take(key);
      onDrop?.(value);
    }
  };
  return {
    get(key) {
      const now = performance.now();
      const isOver = now - (held.get(key)?.at ?? now) > idleMs;
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
    },
    delete: (key) => void take(key),
    keys: () => held.keys(),
    *values() {
      for (const { value } of held.values()) yield value;
    },
  };
}
