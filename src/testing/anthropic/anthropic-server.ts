import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** What the model says: a text, or blocks of text and calls of tools. */
export type AnthropicReply = string | readonly AnthropicReplyBlock[];

type AnthropicReplyBlock =
  | { readonly text: string }
  | { readonly tool: string; readonly input: { readonly [name: string]: unknown } };

/** A request that the server has received. */
export interface AnthropicRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly [field: string]: unknown };
  readonly raw: Buffer;
  /** The body of the answer, byte for byte, as far as it was sent. */
  sent: string;
  /** Whether the client disconnected before its answer was complete. */
  isGone: boolean;
}

/** What the server does instead of answering correctly. */
export type AnthropicTrouble =
  | "hangs"
  | "hangs up"
  | { readonly status: number; readonly type: string; readonly headers?: { readonly [name: string]: string } }
  | { readonly afterEvents: number; readonly it: "ends" | "resets" | "errs" }
  | { readonly betweenMs: number };

/** A running server of Anthropic's Messages API. */
export interface AnthropicServer {
  /** The base URL for a client, without the version. */
  readonly url: string;
  /** Every request, oldest first. */
  readonly received: AnthropicRequest[];
  /** Faults for the next requests, one each. */
  readonly troubles: AnthropicTrouble[];
  reply: (request: AnthropicRequest) => AnthropicReply;
  close(): Promise<void>;
}

interface AnthropicServerOptions {
  /** The only accepted key, in `x-api-key`. Without it, any key or none is accepted. */
  readonly apiKey?: string;
  /** What the model says. Default: a fixed reply. */
  readonly reply?: AnthropicServer["reply"];
}

/**
 * A local server of Anthropic's Messages API, for tests: messages, plain and streamed, with tools; counts of tokens; errors.
 * It keeps every request, and refuses what the real one refuses: a request without its version or `max_tokens`, an empty
 * text, results of tools behind other blocks, more than four breakpoints.
 */
export async function anthropicServer(options: AnthropicServerOptions = {}): Promise<AnthropicServer> {
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  const given: AnthropicServer = {
    url: "",
    received: [],
    troubles: [],
    reply: options.reply ?? (() => "All right."),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await receive(request);
    given.received.push(received);
    response.on("close", () => {
      received.isGone = !response.writableFinished;
    });
    response.setHeader("request-id", `req_${String(given.received.length).padStart(8, "0")}`);
    const trouble = given.troubles.shift();
    if (trouble === "hangs") return;
    if (trouble === "hangs up") return void response.destroy();
    const problem = trouble && "status" in trouble ? trouble : findProblem(received, options.apiKey);
    if (problem) return sendJson(response, received, problem, createError(problem.type, "Refused."));
    if (/count_tokens(?:\?|$)/.test(received.path))
      return sendJson(response, received, { status: 200 }, { input_tokens: countTokens(received.raw) });
    const message = createMessage(received, given.reply(received), given.received.length);
    if (received.body.stream === true) return streamMessage(response, received, message, trouble);
    return sendJson(response, received, { status: 200 }, message);
  };
  // A keep-alive connection that closes while a client reuses it would be an unplanned fault.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(given, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

async function receive(request: IncomingMessage): Promise<AnthropicRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const raw = Buffer.concat(pieces);
  const body = raw.length === 0 ? {} : (JSON.parse(raw.toString("utf8")) as AnthropicRequest["body"]);
  return { path: request.url ?? "/", headers: request.headers, body, raw, sent: "", isGone: false };
}

interface AnthropicProblem {
  readonly status: number;
  readonly type: string;
  readonly headers?: { readonly [name: string]: string };
}

const INVALID: AnthropicProblem = { status: 400, type: "invalid_request_error" };

interface ContentBlock {
  readonly type?: string;
  readonly text?: string;
  readonly cache_control?: unknown;
}

function findProblem(
  { headers, path, body }: AnthropicRequest,
  apiKey: string | undefined,
): AnthropicProblem | undefined {
  if (apiKey !== undefined && headers["x-api-key"] !== apiKey)
    return { status: 401, type: "authentication_error" };
  if (!/^\/v1\/messages(?:\/count_tokens)?(?:\?|$)/.test(path))
    return { status: 404, type: "not_found_error" };
  const messages = Array.isArray(body.messages) ? (body.messages as { content: unknown }[]) : [];
  const isCount = path.includes("count_tokens");
  if (headers["anthropic-version"] === undefined || messages.length === 0) return INVALID;
  if (!isCount && typeof body.max_tokens !== "number") return INVALID;
  const lists = [body.system, ...messages.map(({ content }) => content)].map(toBlocks);
  const blocks = lists.flat();
  const marks = [...blocks, body].filter(({ cache_control: mark }) => mark !== undefined && mark !== null);
  const isEmpty = blocks.some(({ type, text }) => type === "text" && (text ?? "").trim() === "");
  return isEmpty || marks.length > 4 || lists.some(hasLateResult) ? INVALID : undefined;
}

function toBlocks(content: unknown): ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? (content as ContentBlock[]) : [];
}

function hasLateResult(blocks: readonly ContentBlock[]): boolean {
  const first = blocks.findIndex(({ type }) => type !== "tool_result");
  return first >= 0 && blocks.slice(first).some(({ type }) => type === "tool_result");
}

const countTokens = (text: string | Buffer): number => Math.ceil(text.length / 4);

interface AnthropicMessage {
  readonly [field: string]: unknown;
  readonly content: readonly { readonly [field: string]: unknown }[];
  readonly usage: { readonly [name: string]: number };
}

function createMessage(
  { body, raw }: AnthropicRequest,
  reply: AnthropicReply,
  number: number,
): AnthropicMessage {
  const blocks = typeof reply === "string" ? [{ text: reply }] : reply;
  const content = blocks.map((block, i) =>
    "tool" in block
      ? { type: "tool_use", id: `toolu_${number}_${i}`, name: block.tool, input: block.input }
      : { type: "text", text: block.text, citations: null },
  );
  return {
    id: `msg_${String(number).padStart(8, "0")}`,
    type: "message",
    role: "assistant",
    model: String(body.model),
    content,
    stop_reason: blocks.some((block) => "tool" in block) ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: countTokens(raw),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: countTokens(JSON.stringify(content)),
    },
  };
}

const createError = (type: string, message: string): object => ({ type: "error", error: { type, message } });

function sendJson(
  response: ServerResponse,
  received: AnthropicRequest,
  { status, headers }: Pick<AnthropicProblem, "status" | "headers">,
  body: object,
): void {
  received.sent = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(received.sent);
}

/** The events of a message, as the real server sends them. */
function toEvents(message: AnthropicMessage): { readonly type: string }[] {
  const { content, stop_reason, stop_sequence, usage } = message;
  const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  return [
    { type: "message_start", message: begun } as { type: string },
    ...content.flatMap((block, index) => {
      const isText = block.type === "text";
      const whole = isText ? String(block.text) : JSON.stringify(block.input);
      const pieces = whole.match(/\s*\S{1,12}|\s+$/g) ?? [];
      const empty = isText ? { ...block, text: "" } : { ...block, input: {} };
      return [
        { type: "content_block_start", index, content_block: empty },
        ...(index === 0 ? [{ type: "ping" }] : []),
        ...pieces.map((piece) => ({
          type: "content_block_delta",
          index,
          delta: isText
            ? { type: "text_delta", text: piece }
            : { type: "input_json_delta", partial_json: piece },
        })),
        { type: "content_block_stop", index },
      ];
    }),
    {
      type: "message_delta",
      delta: { stop_reason, stop_sequence },
      usage: { output_tokens: usage.output_tokens },
    } as { type: string },
    { type: "message_stop" },
  ];
}

async function streamMessage(
  response: ServerResponse,
  received: AnthropicRequest,
  message: AnthropicMessage,
  trouble: AnthropicTrouble | undefined,
): Promise<void> {
  const cut = typeof trouble === "object" && "afterEvents" in trouble ? trouble : undefined;
  const betweenMs = typeof trouble === "object" && "betweenMs" in trouble ? trouble.betweenMs : 0;
  const send = (event: { readonly type: string }): void => {
    const frame = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    received.sent += frame;
    response.write(frame);
  };
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();
  const events = toEvents(message).slice(0, cut?.afterEvents);
  for (const event of events) {
    if (betweenMs > 0) await pause(betweenMs);
    if (response.destroyed) return;
    send(event);
  }
  // Gives written data time to leave before the connection closes.
  if (cut) await pause(5);
  if (cut?.it === "resets") return void response.socket?.resetAndDestroy();
  if (cut?.it === "errs") send(createError("overloaded_error", "Overloaded") as { readonly type: string });
  response.end();
}
