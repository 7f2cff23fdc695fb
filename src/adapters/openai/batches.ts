/** OpenAI reads 8,191 tokens of a text, and 300,000 in one request. A token is one byte of UTF-8 or more. */
const MOST_BYTES_OF_A_TEXT = 8191;
const MOST_BYTES_AT_ONCE = 300_000;

/** The text as it is sent: well-formed, and as much of its beginning as a model surely reads. */
export function toEmbeddableText(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length * 3 <= MOST_BYTES_OF_A_TEXT) return whole;
  // `read` never ends inside a character.
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(MOST_BYTES_OF_A_TEXT));
  return whole.slice(0, read);
}

/** Texts in order, cut into requests of at most `most` texts and of no more tokens than a server takes at once. */
export function splitIntoBatches(texts: readonly string[], most: number): string[][] {
  const batches: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const last = batches.at(-1);
    if (last && last.length < most && bytes + size <= MOST_BYTES_AT_ONCE) {
      last.push(text);
      bytes += size;
    } else {
      batches.push([text]);
      bytes = size;
    }
  }
  return batches;
}
