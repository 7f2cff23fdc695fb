import type { IncomingMessage } from "node:http";
import type { Purpose } from "../../../domain/model-call.ts";
import { isMemoryError, MemoryError } from "../../../errors.ts";
import { wireOf } from "../../app-types.ts";
import type { Asked } from "../../operation.ts";
import type { Who } from "../asked/who.ts";
import { noAnswer } from "../problems.ts";
import type { OpenAiProxy } from "../proxy.ts";
import { eventReader } from "../replies/events.ts";
import { parsed, type Reply, type ReplyReader } from "../replies/reply.ts";
import { upstreamAccount } from "./account.ts";
import { headersBack, headersOn } from "./headers.ts";
import { type EventStream, eventStream } from "./last-event.ts";
import { upstreamPath } from "./path.ts";
import { type Ending, type Onlooker, relayed, relayedTo } from "./relay.ts";
import { reportOf } from "./reports.ts";
import type { UploadBody } from "./upload.ts";

/** A request as it goes on, and who is to hear of its answer. */
export interface PassingOn {
  readonly purpose?: Purpose;
  readonly who: Who;
  readonly method: string;
  readonly body?: Uint8Array | UploadBody;
  /** For the ledger. */
  readonly model?: unknown;
  /** The words that are sent, for an estimate of their tokens. */
  readonly sent?: string;
  readonly reader?: ReplyReader;
  readonly headers?: { readonly [name: string]: string };
  /** After the first bytes of the answer were handed to the client, or where none will come. */
  readonly onFirst?: () => void;
  /** After the last bytes of an answer that is no error. */
  readonly onEnd?: (reply: Reply) => void;
}

/**
 * Passes a request on and its answer back: status, headers and bytes as they are. Where the upstream gives no answer at
 * all, a 502 or 504 says so.
 */
export async function passOn(asked: Asked, proxy: OpenAiProxy, passing: PassingOn): Promise<Response> {
  const begun = performance.now();
  const incoming = await sent(asked, proxy, passing, begun);
  const status = incoming.statusCode ?? 502;
  const headers = headersBack(incoming.headers);
  for (const [name, value] of Object.entries(passing.headers ?? {})) headers.set(name, value);
  // What has no length is sent on part by part, without waiting for more of it.
  if (!headers.has("content-length")) headers.set("transfer-encoding", "chunked");
  const hear = listener(incoming, passing.reader);
  const events = eventsOf(asked, incoming, status);
  let isFirst = true;
  const first = (): void => {
    if (isFirst) passing.onFirst?.();
    isFirst = false;
  };
  const wire = wireOf(asked.exchange);
  const onlooker: Onlooker = {
    passed(bytes) {
      first();
      hear.take(bytes);
      events?.take(bytes);
    },
    cut() {
      wire.outgoing?.destroy();
      return wire.outgoing !== undefined;
    },
    ended(how) {
      first();
      const ending: Ending = how === "cut" && asked.signal.aborted ? "gone" : how;
      const reply = hear.reply();
      if (status < 300) passing.onEnd?.(reply);
      report(asked, proxy, passing, { begun, status, ending, reply });
    },
  };
  const isEmpty = status === 204 || status === 205 || status === 304;
  if (isEmpty) incoming.resume();
  else if (wire.outgoing)
    wire.relay = (outgoing) => {
      // The end of the server waits for what is stored behind the answer.
      asked.services.lifecycle.after(new Promise<void>((resolve) => outgoing.once("close", () => resolve())));
      relayedTo(outgoing, incoming, onlooker);
      const forget = asked.services.lifecycle.onBreakOff("streams", () =>
        events?.breakOff(outgoing, incoming, onlooker.passed),
      );
      outgoing.once("close", forget);
    };
  const body = isEmpty || wire.relay ? null : relayed(incoming, onlooker);
  return new Response(body, { status, headers });
}

/** Whether the answer is a stream of events, which can end with an error in its own form. */
function eventsOf(asked: Asked, { headers }: IncomingMessage, status: number): EventStream | undefined {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  const isStream = status === 200 && type.startsWith("text/event-stream") && encoding === "identity";
  if (!isStream || headers["content-length"] !== undefined) return undefined;
  return eventStream(asked.exchange.req.path.endsWith("/responses") ? "responses" : "chat");
}

/** The answer as it begins. What is no answer is a problem of ours to tell. */
async function sent(
  asked: Asked,
  proxy: OpenAiProxy,
  passing: PassingOn,
  begun: number,
): Promise<IncomingMessage> {
  const deadline = AbortSignal.timeout(proxy.deadlineMs);
  const { method, body } = passing;
  // An answer that has begun when the server has to end is ended where it goes out, in its own form.
  const waiting = new AbortController();
  const forget = asked.services.lifecycle.onBreakOff("requests", (reason) => waiting.abort(reason));
  const signal = AbortSignal.any([asked.exchange.req.raw.signal, waiting.signal, deadline]);
  const sending = {
    method,
    path: upstreamPath(asked.exchange.req.url),
    headers: headersFor(asked, proxy),
    signal,
  };
  try {
    const incoming = await proxy.sender.send({ ...sending, ...(body ? { body } : {}) });
    const { statusCode = 502 } = incoming;
    if (statusCode < 300 || statusCode === 304 || statusCode >= 400) return incoming;
    incoming.destroy();
    throw new MemoryError("unavailable", REDIRECTED);
  } catch (error) {
    // What the user said stands, whatever became of the answer.
    passing.onFirst?.();
    report(asked, proxy, passing, { begun, status: deadline.aborted ? "timeout" : "unreachable" });
    if (deadline.aborted) throw TOO_LATE(proxy);
    throw isMemoryError(error) ? noAnswer(error.message) : error;
  } finally {
    forget();
  }
}

const REDIRECTED =
  "The model's server answers with a redirect, which is not followed. Set OPENAI_BASE_URL to where it points.";

const TOO_LATE = ({ deadlineMs }: OpenAiProxy): Error =>
  noAnswer(`The model's server did not finish its answer within ${Math.round(deadlineMs / 1000)} s.`, 504);

function headersFor(asked: Asked, proxy: OpenAiProxy): ReturnType<typeof headersOn> {
  return headersOn(asked.exchange.req.raw.headers, upstreamAccount(asked, proxy), proxy.userHeaders);
}

/** Reads the answer as it passes by, where it is one that can be read. */
function listener(
  incoming: IncomingMessage,
  reader: ReplyReader | undefined,
): { take(bytes: Uint8Array): void; reply(): Reply } {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = incoming.headers;
  const none: Reply = { text: "", calls: [], isWhole: true };
  if (!reader || encoding !== "identity" || (incoming.statusCode ?? 0) >= 300)
    return { take() {}, reply: () => none };
  if (type.startsWith("text/event-stream")) {
    const events = eventReader(reader.event);
    return { take: events.take, reply: reader.reply };
  }
  const pieces: Uint8Array[] = [];
  return {
    take: (bytes) => void pieces.push(bytes),
    reply() {
      reader.document(parsed(Buffer.concat(pieces).toString("utf8")));
      return reader.reply();
    },
  };
}

function report(
  asked: Asked,
  proxy: OpenAiProxy,
  { purpose, model, sent = "", who }: PassingOn,
  end: {
    readonly begun: number;
    readonly status: number | "timeout" | "unreachable";
    readonly ending?: Ending;
    readonly reply?: Reply;
  },
): void {
  if (purpose === undefined) return;
  const { begun, status, ending = "cut", reply = { text: "", calls: [], isWhole: false } } = end;
  const told = reportOf({
    purpose,
    model: typeof model === "string" ? model : "",
    host: proxy.sender.host,
    ms: performance.now() - begun,
    status: typeof status === "number" ? status : 503,
    ending,
    sent,
    reply,
  });
  const outcome = asked.signal.aborted ? "aborted" : typeof status === "number" ? told.outcome : status;
  const { user } = who;
  proxy.onCall({ ...told, outcome }, { project: asked.project(), ...(user === undefined ? {} : { user }) });
  proxy.meter.count("keepsake_proxy_requests_total", { purpose, memory: who.mode, outcome });
}
