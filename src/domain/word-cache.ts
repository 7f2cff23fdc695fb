const caches = new Set<Map<string, unknown>>();

/** Keeps what is made of each word: of at most `most` words, and until the next erasure. */
export function memoizeByWord<Value>(most: number, make: (word: string) => Value): (word: string) => Value {
  const made = new Map<string, Value>();
  caches.add(made);
  return (word) => {
    const known = made.get(word);
    if (known !== undefined) return known;
    const value = make(word);
    // A long word is a rare one, and a bound on words alone would be none on bytes.
    if (word.length > LONGEST) return value;
    if (made.size >= most) made.clear();
    made.set(word, value);
    return value;
  };
}

/** In characters. */
const LONGEST = 64;

/** Drops the words of every such cache in this thread: one of them may have been erased. */
export function clearWordCaches(): void {
  for (const made of caches) made.clear();
}
