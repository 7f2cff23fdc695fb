import { createParser } from "eventsource-parser";

/** Reads a stream of server-sent events (WHATWG HTML, 9.2) from its bytes, however they are split. */
interface ServerSentEventReader {
  /** Takes the next bytes of the stream. */
  take(bytes: Uint8Array): void;
  /** Ends the stream. A last event without an empty line counts. */
  end(): void;
}

interface ServerSentEventReaderOptions {
  /** Called with the data of each event that has data. Other fields and comments are ignored. */
  readonly onData: (data: string) => void;
  /** Maximum length of a line, and of the data of an event, in characters. */
  readonly maxLength: number;
  /** Called for an event that is too long, and may throw. The event is dropped in any case. */
  readonly onTooLong?: () => void;
}

/** Creates a reader of server-sent events whose memory is bounded. */
export function createServerSentEventReader(options: ServerSentEventReaderOptions): ServerSentEventReader {
  const { onData, maxLength, onTooLong } = options;
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent({ data }) {
      // The standard has no event without data.
      if (data !== "") onData(data);
    },
    onError({ type }) {
      if (type !== "max-buffer-size-exceeded") return;
      // The parser refuses more input until then.
      parser.reset();
      onTooLong?.();
    },
  });
  return {
    take: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })),
    // Ends the line and the event.
    end: () => parser.feed(`${decoder.decode()}\n\n`),
  };
}
