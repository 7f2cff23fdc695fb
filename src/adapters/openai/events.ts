/** Longer than this no line of a stream is. */
const MAX_LINE_CHARACTERS = 4_000_000;

/**
 * The data of a stream of server-sent events (HTML Living Standard, 9.2), one for each event, wherever the pieces were cut.
 * Comments and other fields are passed over; an event without its empty line at the end of the stream counts.
 */
export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, void> {
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    if (line !== "" || data.length === 0) continue;
    yield data.join("\n");
    data = [];
  }
  if (data.length > 0) yield data.join("\n");
}

async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    if (rest.length > MAX_LINE_CHARACTERS) throw new RangeError("a line of the stream has no end");
    // A carriage return at the end may be half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield* (rest + decoder.decode()).split(/\r\n|\n|\r/);
}
