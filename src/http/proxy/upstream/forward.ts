import type { IncomingMessage } from "node:http";
import type { CallOutcome, CallPurpose, CallReport } from "../../../domain/model-usage.ts";
import { createServerSentEventReader } from "../../../domain/text/server-sent-events.ts";
import { estimateTokens } from "../../../domain/text/split-text.ts";
import { isMemoryError, MemoryError } from "../../../errors.ts";
import type { OperationRequest } from "../../operation.ts";
import { createGatewayError, isAnthropicPath } from "../../problem.ts";
import { getNodeBindings } from "../../request-context.ts";
import type { OpenAiProxy, Provider } from "../proxy.ts";
import type { MemoryAccess } from "../request/memory-access.ts";
import { type ReplyReader, tryParseJson, type UpstreamReply } from "../request/reply-reader.ts";
import {
  createEventStream,
  type EventStream,
  type RelayEnding,
  type RelayObserver,
  relayToSocket,
  relayToStream,
} from "./relay.ts";
import type { UploadBody } from "./upstream-client.ts";
import {
  getUpstreamAccount,
  toClientHeaders,
  toUpstreamHeaders,
  toUpstreamPath,
} from "./upstream-request.ts";

/** A request to forward, with its listeners. */
interface ForwardedRequest {
  readonly provider: Provider;
  readonly purpose?: CallPurpose;
  readonly access: MemoryAccess;
  readonly method: string;
  readonly body?: Uint8Array | UploadBody;
  /** The model, for the log of calls. */
  readonly model?: unknown;
  /** The text sent, to estimate its tokens. */
  readonly sentText?: string;
  readonly reader?: ReplyReader;
  readonly headers?: { readonly [name: string]: string };
  /** Called after the first bytes have been sent to the client, or if there will be none. */
  readonly onFirst?: () => void;
  /** Called after the last bytes of a successful response. */
  readonly onEnd?: (reply: UpstreamReply) => void;
}

/**
 * Forwards a request and returns the response with unchanged status, headers and bytes. Throws 502 or 504 if the upstream
 * gives no response.
 */
export async function forwardRequest(
  call: OperationRequest,
  proxy: OpenAiProxy,
  passing: ForwardedRequest,
): Promise<Response> {
  const startedAt = performance.now();
  const incoming = await sendUpstream(call, proxy, passing, startedAt);
  const status = incoming.statusCode ?? 502;
  const headers = toClientHeaders(incoming.headers);
  for (const [name, value] of Object.entries(passing.headers ?? {})) headers.set(name, value);
  const wire = getNodeBindings(call.exchange);
  // A body without a length is forwarded in chunks as it arrives. A client of HTTP/1.0 does not know them: its body ends with
  // the connection.
  const isChunked = !headers.has("content-length") && wire.incoming?.httpVersion !== "1.0";
  if (isChunked) headers.set("transfer-encoding", "chunked");
  const hear = createReplyListener(incoming, passing.reader);
  const events = findEventStream(call, incoming, status);
  let isFirst = true;
  const first = (): void => {
    if (isFirst) passing.onFirst?.();
    isFirst = false;
  };
  const onlooker: RelayObserver = {
    onBytes(bytes) {
      first();
      hear.take(bytes);
      events?.take(bytes);
    },
    cutConnection() {
      wire.outgoing?.destroy();
      return wire.outgoing !== undefined;
    },
    onEnd(how) {
      first();
      const ending: RelayEnding = how === "cut" && call.signal.aborted ? "gone" : how;
      const reply = hear.reply();
      if (status < 300) passing.onEnd?.(reply);
      reportCall(call, proxy, passing, { startedAt, status, ending, reply });
    },
  };
  const isEmpty = status === 204 || status === 205 || status === 304;
  if (isEmpty) incoming.resume();
  else if (wire.outgoing)
    wire.relay = (outgoing) => {
      // The shutdown waits for writes after the response.
      call.services.lifecycle.trackAfterAnswer(
        new Promise<void>((resolve) => outgoing.once("close", () => resolve())),
      );
      relayToSocket(outgoing, incoming, onlooker);
      const forget = call.services.lifecycle.onBreakOff("streams", () =>
        events?.breakOff(outgoing, incoming, onlooker.onBytes),
      );
      outgoing.once("close", forget);
    };
  const body = isEmpty || wire.relay ? null : relayToStream(incoming, onlooker);
  return new Response(body, { status, headers });
}

/** Gives the event stream of a response, which can end with an error event; undefined for other responses. */
function findEventStream(
  call: OperationRequest,
  { headers }: IncomingMessage,
  status: number,
): EventStream | undefined {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  const isStream = status === 200 && type.startsWith("text/event-stream") && encoding === "identity";
  if (!isStream || headers["content-length"] !== undefined) return undefined;
  const { path } = call.exchange.req;
  if (isAnthropicPath(path)) return createEventStream("messages");
  return createEventStream(path.endsWith("/responses") ? "responses" : "chat");
}

/** Sends the request and gives the beginning of the response. Throws a problem if there is none. */
async function sendUpstream(
  call: OperationRequest,
  proxy: OpenAiProxy,
  passing: ForwardedRequest,
  startedAt: number,
): Promise<IncomingMessage> {
  const deadline = AbortSignal.timeout(proxy.deadlineMs);
  const { method, body, provider } = passing;
  // At a shutdown, a response that has begun is ended where it is sent, in its own form.
  const waiting = new AbortController();
  const forget = call.services.lifecycle.onBreakOff("requests", (reason) => waiting.abort(reason));
  const signal = AbortSignal.any([call.exchange.req.raw.signal, waiting.signal, deadline]);
  const sending = {
    method,
    path: toUpstreamPath(call.exchange.req.url),
    headers: getUpstreamHeaders(call, proxy, provider),
    signal,
  };
  try {
    const incoming = await provider.client.send({ ...sending, ...(body ? { body } : {}) });
    const { statusCode = 502 } = incoming;
    if (statusCode < 300 || statusCode === 304 || statusCode >= 400) return incoming;
    incoming.destroy();
    throw new MemoryError("unavailable", createRedirectProblem(provider));
  } catch (error) {
    // The user's message is stored whatever happens to the response.
    passing.onFirst?.();
    reportCall(call, proxy, passing, { startedAt, status: deadline.aborted ? "timeout" : "unreachable" });
    if (deadline.aborted) throw createDeadlineError(proxy);
    throw isMemoryError(error) ? createGatewayError(error.message) : error;
  } finally {
    forget();
  }
}

const createRedirectProblem = ({ name }: Provider): string =>
  `The upstream responds with a redirect, which is not followed. Set ${name.toUpperCase()}_BASE_URL to its target.`;

const createDeadlineError = ({ deadlineMs }: OpenAiProxy): Error =>
  createGatewayError(
    `The upstream did not finish its response within ${Math.round(deadlineMs / 1000)} s.`,
    504,
  );

function getUpstreamHeaders(
  call: OperationRequest,
  { userHeaders }: OpenAiProxy,
  provider: Provider,
): ReturnType<typeof toUpstreamHeaders> {
  return toUpstreamHeaders(call.exchange.req.raw.headers, getUpstreamAccount(call, provider), userHeaders);
}

/** Maximum length of an event in characters: the last event of a response contains all of it again. */
const MAX_EVENT_LENGTH = 32_000_000;

/** Creates a listener that reads the response while it is forwarded, if its format is known. */
function createReplyListener(
  incoming: IncomingMessage,
  reader: ReplyReader | undefined,
): { take(bytes: Uint8Array): void; reply(): UpstreamReply } {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = incoming.headers;
  const none: UpstreamReply = { text: "", calls: [], isComplete: true };
  if (!reader || encoding !== "identity" || (incoming.statusCode ?? 0) >= 300)
    return { take() {}, reply: () => none };
  if (type.startsWith("text/event-stream")) {
    const events = createServerSentEventReader({ onData: reader.readEvent, maxLength: MAX_EVENT_LENGTH });
    return { take: events.take, reply: reader.getReply };
  }
  const pieces: Uint8Array[] = [];
  return {
    take: (bytes) => void pieces.push(bytes),
    reply() {
      reader.readDocument(tryParseJson(Buffer.concat(pieces).toString("utf8")));
      return reader.getReply();
    },
  };
}

function reportCall(
  call: OperationRequest,
  proxy: OpenAiProxy,
  { provider, purpose, model, sentText: sent = "", access: who }: ForwardedRequest,
  end: {
    readonly startedAt: number;
    readonly status: number | "timeout" | "unreachable";
    readonly ending?: RelayEnding;
    readonly reply?: UpstreamReply;
  },
): void {
  if (purpose === undefined) return;
  const { startedAt, status, ending = "cut", reply = { text: "", calls: [], isComplete: false } } = end;
  const report = createCallReport({
    purpose,
    model: typeof model === "string" ? model : "",
    host: provider.client.host,
    ms: performance.now() - startedAt,
    status: typeof status === "number" ? status : 503,
    ending,
    sent,
    reply,
  });
  const outcome = call.signal.aborted ? "aborted" : typeof status === "number" ? report.outcome : status;
  const { user } = who;
  proxy.onCall({ ...report, outcome }, { project: call.project(), ...(user === undefined ? {} : { user }) });
  proxy.meter.count("keepsake_proxy_requests_total", { purpose, memory: who.mode, outcome });
}

/** Creates the report of an upstream call for the log of calls. Estimates tokens that the server does not report. */
function createCallReport(call: {
  readonly purpose: CallPurpose;
  readonly model: string;
  readonly host: string;
  readonly ms: number;
  readonly status: number;
  readonly ending: RelayEnding;
  readonly sent: string;
  readonly reply: UpstreamReply;
}): CallReport {
  const { purpose, host, ms, reply, status, ending } = call;
  const isAnswer = status < 300;
  const usage = reply.usage ?? {
    tokensIn: isAnswer ? estimateTokens(call.sent) : 0,
    tokensCached: 0,
    tokensOut: estimateTokens(reply.text),
    isEstimated: true,
  };
  const outcome = isAnswer ? toOutcome(reply, ending, purpose) : toRefusedOutcome(status);
  return { purpose, model: reply.model ?? call.model, host, ms, outcome, units: 1, ...usage };
}

function toOutcome(
  { isRefusal, isComplete: isWhole }: UpstreamReply,
  ending: RelayEnding,
  purpose: CallPurpose,
): CallOutcome {
  if (ending === "gone") return "aborted";
  if (ending === "cut" || (purpose === "chat" && !isWhole)) return "cut";
  return isRefusal ? "refused" : "ok";
}

function toRefusedOutcome(status: number): CallOutcome {
  if (status === 429) return "rate_limited";
  return status < 500 ? "rejected" : "failed";
}
