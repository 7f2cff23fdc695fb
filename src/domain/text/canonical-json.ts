/** So many entries of a list are one piece. */
const ENTRIES_PER_PIECE = 500;

/** The canonical JSON of an object in pieces: joined, they are what `canonical` gives. */
export function* iterateCanonicalJson(value: object): Generator<string> {
  const fields = Object.entries(value)
    .filter(([, held]) => held !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  yield "{";
  for (const [i, [name, held]] of fields.entries()) {
    yield `${i === 0 ? "" : ","}${JSON.stringify(name)}:`;
    if (!Array.isArray(held)) yield toCanonicalJson(held);
    else {
      yield "[";
      for (let from = 0; from < held.length; from += ENTRIES_PER_PIECE) {
        yield `${from === 0 ? "" : ","}${toCanonicalJson(held.slice(from, from + ENTRIES_PER_PIECE)).slice(1, -1)}`;
      }
      yield "]";
    }
  }
  yield "}";
}

/** JSON with the fields of objects in alphabetical order, so that the same value gives the same bytes everywhere. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
