/**
 * Many in the order of their keys, and those of one key as they came. The keys alone are sorted, by what is built in, and all
 * else goes step by step: to sort 100,000 by a function would hold everybody else up.
 */
export function* sortByKey<One, Key extends string | number>(
  all: Iterable<One>,
  keyOf: (one: One) => Key,
): Generator<void, One[], void> {
  const byKey = new Map<Key, One[]>();
  for (const one of all) {
    const key = keyOf(one);
    const held = byKey.get(key);
    if (held) held.push(one);
    else byKey.set(key, [one]);
    yield;
  }
  const ordered: One[] = [];
  for (const key of sortKeys([...byKey.keys()])) {
    for (const one of byKey.get(key) ?? []) ordered.push(one);
    yield;
  }
  return ordered;
}

function sortKeys<Key extends string | number>(keys: Key[]): Key[] {
  const numbers = keys.filter((key) => typeof key === "number");
  // Numbers among themselves: the built-in order of an array is that of texts.
  if (numbers.length === keys.length) return [...Float64Array.from(numbers).sort()] as Key[];
  return keys.sort();
}
