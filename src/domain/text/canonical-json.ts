/** The number of list entries in one piece. */
const ENTRIES_PER_PIECE = 500;

/** The canonical JSON of an object in pieces. Joined, they equal the result of `toCanonicalJson`. */
export function* iterateCanonicalJson(value: object): Generator<string> {
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  yield "{";
  for (const [i, [name, field]] of fields.entries()) {
    yield `${i === 0 ? "" : ","}${JSON.stringify(name)}:`;
    if (!Array.isArray(field)) yield toCanonicalJson(field);
    else {
      yield "[";
      for (let from = 0; from < field.length; from += ENTRIES_PER_PIECE) {
        yield `${from === 0 ? "" : ","}${toCanonicalJson(field.slice(from, from + ENTRIES_PER_PIECE)).slice(1, -1)}`;
      }
      yield "]";
    }
  }
  yield "}";
}

/** JSON with the fields of objects in alphabetical order, so that equal values give equal bytes. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
