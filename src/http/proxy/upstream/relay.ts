import type { IncomingMessage, ServerResponse } from "node:http";
import { SHUTDOWN_MESSAGE } from "../../graceful-shutdown.ts";
import { toAnthropicError, toOpenAiError } from "../../problem.ts";

/** How a response ended: complete, cut by the upstream, or the client disconnected. */
export type RelayEnding = "whole" | "cut" | "gone";

/** Observes a forwarded response. It must not throw. */
export interface RelayObserver {
  /** Called after these bytes have been sent to the client. */
  onBytes(bytes: Uint8Array): void;
  /** Cuts the connection to the client. Gives false if it cannot; the stream must then end with an error. */
  cutConnection(): boolean;
  /** Called once, at the end. */
  onEnd(how: RelayEnding): void;
}

/**
 * Relays the upstream's body as a stream: the same bytes in the same chunks, no faster than the client reads. A cut response
 * is cut here too. A disconnect of the client ends the upstream request.
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
            controller.error(new Error("the upstream cut off its response"));
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
    // A few chunks may wait, so that the next one arrives while one is written.
    { highWaterMark: 4 },
  );
}

/**
 * Relays the body directly from socket to socket. The head goes out in one packet with the first bytes, if those are there.
 * The head of `outgoing` must be set before.
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
  // A model may take long before its first word, so the head is sent now.
  setImmediate(() => {
    if (!outgoing.headersSent && !outgoing.destroyed) outgoing.flushHeaders();
  });
}

/** The forms of an error in the streams of providers. */
type EventStreamDialect = "chat" | "responses" | "messages";

/** Observes an event stream, and can end it with an error. */
export interface EventStream {
  /** Takes the bytes sent to the client. */
  take(bytes: Uint8Array): void;
  /** Ends the stream after a complete event. If none completes in time, cuts the connection. */
  breakOff(outgoing: ServerResponse, incoming: IncomingMessage, passed: (bytes: Uint8Array) => void): void;
}

/** How long to wait for the rest of an event, in ms. Most servers send an event in one piece. */
const REST_OF_EVENT_MS = 300;
/** An event ends with an empty line. */
const EVENT_END = /\r\n\r\n|\n\n|\r\r/;
/** Does not match inside a text, whose quotes are escaped. */
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

/** Gives the bytes up to the end of the current event; all of them if it does not end. */
function takeRestOfEvent(before: string, bytes: Buffer): Buffer {
  const begun = before.slice(-3);
  const end = EVENT_END.exec(`${begun}${bytes.toString("latin1")}`);
  return end ? bytes.subarray(0, end.index + end[0].length - begun.length) : bytes;
}

function createErrorFrame(form: EventStreamDialect, sequenceNumber: number): string {
  const problem = { status: 503, code: "unavailable", detail: SHUTDOWN_MESSAGE } as const;
  if (form === "messages") return `event: error\ndata: ${JSON.stringify(toAnthropicError(problem))}\n\n`;
  const error = toOpenAiError(problem);
  if (form === "chat") return `data: ${JSON.stringify({ error })}\n\n`;
  // Some clients read the fields of the event, others those of its member `error`.
  const { message, param, code } = error;
  const event = { type: "error", code, message, param, sequence_number: sequenceNumber, error };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
}
