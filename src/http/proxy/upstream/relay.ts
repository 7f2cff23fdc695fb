import type { IncomingMessage, ServerResponse } from "node:http";
import { SHUTDOWN_MESSAGE } from "../../graceful-shutdown.ts";
import { toOpenAiError } from "../../problem.ts";

/** How an answer ended: all of it came; it was cut over there; the client went away. */
export type RelayEnding = "whole" | "cut" | "gone";

/** Sees an answer pass by. What it throws is nobody's to catch, so it throws nothing. */
export interface RelayObserver {
  /** After the client was given these bytes. */
  onBytes(bytes: Uint8Array): void;
  /** Cuts the connection to the client, if that is in its hands; else an error in the stream has to. */
  cutConnection(): boolean;
  /** Once, at the end. */
  onEnd(how: RelayEnding): void;
}

/**
 * The body of the upstream's answer as the client gets it: the same bytes in the same parts, as they come and no faster than
 * the client reads them. An answer that was cut is cut; a client that goes away ends the request over there.
 */
export function relayToStream(
  incoming: IncomingMessage,
  onlooker: RelayObserver,
): ReadableStream<Uint8Array> {
  let isOver = false;
  const end = (how: RelayEnding): void => {
    if (isOver) return;
    isOver = true;
    onlooker.onEnd(how);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        incoming.on("data", (bytes: Buffer) => {
          if (isOver) return;
          controller.enqueue(bytes);
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
          onlooker.onBytes(bytes);
        });
        incoming.on("error", () => {});
        incoming.once("close", () => {
          if (isOver) return;
          if (incoming.complete) controller.close();
          else if (!onlooker.cutConnection())
            controller.error(new Error("the upstream broke off its answer"));
          end(incoming.complete ? "whole" : "cut");
        });
        incoming.pause();
      },
      pull() {
        incoming.resume();
      },
      cancel() {
        end("gone");
        incoming.destroy();
      },
    },
    // A few parts may wait, so that the next one is on its way while one is written.
    { highWaterMark: 4 },
  );
}

/**
 * The same, written straight to the client: the head goes out in one packet with the first bytes, where those are there, and
 * nothing stands between two sockets. The head of `outgoing` is set before.
 */
export function relayToSocket(
  outgoing: ServerResponse,
  incoming: IncomingMessage,
  onlooker: RelayObserver,
): void {
  let isOver = false;
  const end = (how: RelayEnding): void => {
    if (isOver) return;
    isOver = true;
    onlooker.onEnd(how);
  };
  incoming.on("data", (bytes: Buffer) => {
    if (isOver) return;
    if (!outgoing.write(bytes)) incoming.pause();
    onlooker.onBytes(bytes);
  });
  outgoing.on("drain", () => incoming.resume());
  outgoing.on("error", () => {});
  incoming.on("error", () => {});
  incoming.once("close", () => {
    if (isOver) return;
    if (incoming.complete) outgoing.end();
    else onlooker.cutConnection();
    end(incoming.complete ? "whole" : "cut");
  });
  outgoing.once("close", () => {
    end("gone");
    incoming.destroy();
  });
  // A model may think for long before its first word.
  setImmediate(() => {
    if (!outgoing.headersSent && !outgoing.destroyed) outgoing.flushHeaders();
  });
}

/** The two forms of an error within a stream of OpenAI's. */
type EventStreamDialect = "chat" | "responses";

/** Sees a stream of events pass by, and can end it with an error. */
export interface EventStream {
  /** Takes the bytes that the client was given. */
  take(bytes: Uint8Array): void;
  /** Ends the stream behind a whole event; where none comes to its end in time, the connection is cut. */
  breakOff(outgoing: ServerResponse, incoming: IncomingMessage, passed: (bytes: Uint8Array) => void): void;
}

/** How long the rest of an event is waited for: most servers send an event in one piece. */
const REST_OF_EVENT_MS = 300;
/** An event ends with an empty line. */
const EVENT_END = /\r\n\r\n|\n\n|\r\r/;
/** Not within a text, where the quotes are escaped. */
const SEQUENCE_NUMBER = /(?<!\\)"sequence_number":\s*(\d+)/g;

export function createEventStream(form: EventStreamDialect): EventStream {
  let last: readonly Uint8Array[] = [];
  const textOfLast = (): string => Buffer.concat(last).toString("latin1");
  const isBetween = (): boolean => last.length === 0 || /(?:\r\n\r\n|\n\n|\r\r)$/.test(textOfLast());
  const frame = (): string => {
    const numbers = [...textOfLast().matchAll(SEQUENCE_NUMBER)].map(([, digits]) => Number(digits));
    return createErrorFrame(form, (numbers.at(-1) ?? -1) + 1);
  };
  return {
    take(bytes) {
      last = [...last.slice(-1), bytes];
    },
    breakOff(outgoing, incoming, passed) {
      if (outgoing.destroyed || outgoing.writableEnded) return;
      incoming.removeAllListeners("data");
      const end = (): void => {
        incoming.pause();
        outgoing.end(frame());
      };
      if (isBetween()) return end();
      const cut = setTimeout(() => outgoing.destroy(), REST_OF_EVENT_MS);
      outgoing.once("close", () => clearTimeout(cut));
      incoming.on("data", (bytes: Buffer) => {
        if (outgoing.writableEnded) return;
        const rest = takeRestOfEvent(textOfLast(), bytes);
        outgoing.write(rest);
        passed(rest);
        if (isBetween()) end();
      });
      incoming.resume();
    },
  };
}

/** The bytes up to the end of the event that was begun; all of them, where that does not come. */
function takeRestOfEvent(before: string, bytes: Buffer): Buffer {
  const begun = before.slice(-3);
  const end = EVENT_END.exec(`${begun}${bytes.toString("latin1")}`);
  return end ? bytes.subarray(0, end.index + end[0].length - begun.length) : bytes;
}

function createErrorFrame(form: EventStreamDialect, sequenceNumber: number): string {
  const error = toOpenAiError({ status: 503, code: "unavailable", detail: SHUTDOWN_MESSAGE });
  if (form === "chat") return `data: ${JSON.stringify({ error })}\n\n`;
  // Some clients read the fields of the event, others those of its member `error`.
  const { message, param, code } = error;
  const event = { type: "error", code, message, param, sequence_number: sequenceNumber, error };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
}
