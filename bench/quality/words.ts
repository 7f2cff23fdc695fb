/** Words of a text for comparing: lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether whole words of `part` stand in `text`, one after another. */
export function holds(text: string, part: string): boolean {
  const all = wordsOf(text);
  const wanted = wordsOf(part);
  return wanted.length > 0 && all.some((_, at) => wanted.every((word, i) => all[at + i] === word));
}

/** How alike two texts are by their words: the harmonic mean of precision and recall, each word counted as often as it stands. */
export function wordF1(one: string, other: string): number {
  const a = wordsOf(one);
  const b = wordsOf(other);
  const left = new Map<string, number>();
  for (const word of b) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of a) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    shared += 1;
    left.set(word, count - 1);
  }
  return shared === 0 ? 0 : (2 * shared) / (a.length + b.length);
}
