/** What was used lately, by key: at most `most` of it, and nothing that nobody asked for within `idleMs`. */
export interface Lately<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

export function lately<Value>(most: number, idleMs: number): Lately<Value> {
  // A Map keeps its order: the first is the one that was used longest ago.
  const held = new Map<string, { value: Value; at: number }>();
  return {
    get(key) {
      const found = held.get(key);
      if (!found) return undefined;
      held.delete(key);
      const now = performance.now();
      if (now - found.at > idleMs) return undefined;
      held.set(key, { value: found.value, at: now });
      return found.value;
    },
    set(key, value) {
      held.delete(key);
      held.set(key, { value, at: performance.now() });
      for (const oldest of held.keys()) {
        if (held.size <= most) break;
        held.delete(oldest);
      }
    },
    delete: (key) => void held.delete(key),
  };
}
