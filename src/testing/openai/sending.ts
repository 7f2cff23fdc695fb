import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createRefusal, type OpenaiAnswer } from "./answer.ts";
import type { Received, Trouble } from "./script.ts";

/** Whether the trouble is the whole answer. Words are what the real server would repeat in its error. */
export async function sendSpoilt(
  response: ServerResponse,
  received: Received,
  trouble: Trouble,
  words: string,
): Promise<boolean> {
  if (trouble === "hangs") return true;
  if (trouble === "hangs up") response.destroy();
  else if ("status" in trouble) {
    const { status, code = null, headers = {} } = trouble;
    await sendAnswer(response, received, createRefusal(status, words, code), undefined, headers);
  } else if ("answer" in trouble) {
    received.sent = trouble.answer;
    response.end(trouble.answer);
  } else if ("afterMs" in trouble) {
    await pause(trouble.afterMs);
    return false;
  } else return false;
  return true;
}

/** Sends an answer; a stream frame by frame, with what the trouble does to it. */
export async function sendAnswer(
  response: ServerResponse,
  received: Received,
  answer: OpenaiAnswer,
  trouble?: Trouble,
  headers: { readonly [name: string]: string } = {},
): Promise<void> {
  if ("frames" in answer) return streamAnswer(response, received, answer.frames, trouble);
  const changed =
    typeof trouble === "object" && "change" in trouble ? trouble.change(answer.body) : answer.body;
  received.sent = JSON.stringify(changed);
  response.writeHead(answer.status, { "content-type": "application/json", ...headers });
  response.end(received.sent);
}

async function streamAnswer(
  response: ServerResponse,
  received: Received,
  frames: readonly string[],
  trouble: Trouble | undefined,
): Promise<void> {
  const betweenMs = typeof trouble === "object" && "betweenMs" in trouble ? trouble.betweenMs : 0;
  const cut = typeof trouble === "object" && "afterEvents" in trouble ? trouble : undefined;
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  });
  response.flushHeaders();
  for (const [place, frame] of frames.entries()) {
    if (place === cut?.afterEvents) return cutConnection(response, received, cut.it);
    if (betweenMs > 0) await pause(betweenMs);
    if (response.destroyed) return;
    received.sent += frame;
    response.write(frame);
  }
  response.end();
}

async function cutConnection(
  response: ServerResponse,
  received: Received,
  how: "ends" | "resets" | "errs" | "hangs",
): Promise<void> {
  if (how === "hangs") return;
  if (how === "resets") {
    // What was written is on its way before the connection goes.
    await pause(5);
    response.socket?.resetAndDestroy();
    return;
  }
  if (how === "errs") {
    const error = {
      message: "The server had an error while processing your request.",
      type: "server_error",
      param: null,
      code: null,
    };
    const frame = `data: ${JSON.stringify({ error })}\n\n`;
    received.sent += frame;
    response.write(frame);
  }
  response.end();
}
