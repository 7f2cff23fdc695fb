import type { IncomingMessage, ServerResponse } from "node:http";

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
