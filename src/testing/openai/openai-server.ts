import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  type AnswerContext,
  createRefusal,
  createTokenMeter,
  type OpenaiAnswer,
  type TokenMeter,
  toRichReply,
  toWrittenText,
} from "./answer.ts";
import {
  createChatAnswer,
  createEmbeddingsAnswer,
  createResponsesAnswer,
  toResponseId,
} from "./endpoints.ts";
import {
  createDefaultReply,
  findChatProblem,
  findResponsesProblem,
  findSchema,
  readChatTurns,
  readResponsesTurns,
} from "./requests.ts";
import type { Received, ReplyTo, RichReply, Trouble, TroubleAt, Turn } from "./script.ts";

/** A running server of OpenAI's protocol. */
export interface OpenaiServer extends AsyncDisposable {
  /** The base URL for a client, ending in "/v1". */
  readonly url: string;
  /** Every request, oldest first. */
  readonly received: Received[];
  /** Faults for the next requests, one each. */
  readonly troubles: (Trouble | TroubleAt)[];
  /** A fault for every request; absent for none. */
  always: Trouble | undefined;
  /** What the model says. */
  reply: ReplyTo;
  /** Whether it rejects answer schemas, as old servers do. */
  refusesSchemas: boolean;
  /** Deletes requests, faults and earlier responses. */
  reset(): void;
  /** Stops the server. */
  close(): Promise<void>;
}

/** Options of `openaiServer`. */
export interface OpenaiServerOptions {
  /** The only accepted key. Without it, any key or none is accepted. */
  readonly apiKey?: string;
  /** What the model says. Default: a fixed reply. */
  readonly reply?: ReplyTo;
  /** Counts the tokens of a text; default: a rough estimate. */
  readonly tokensOf?: (text: string) => number;
  /** Whether it rejects answer schemas, as old servers do (default false). */
  readonly refusesSchemas?: boolean;
  /** Texts per embeddings request; default 2,048, as at OpenAI. */
  readonly mostTexts?: number;
  /** The port on 127.0.0.1; default: any free one. */
  readonly port?: number;
}

interface OpenaiServerState {
  readonly given: OpenaiServer;
  readonly options: OpenaiServerOptions;
  readonly meter: TokenMeter;
  /** Turns of earlier responses with their answers, by id. */
  readonly responses: Map<string, readonly Turn[]>;
  count: number;
}

/**
 * A local server of OpenAI's protocol, for tests: chat completions and responses, plain and streamed, with
 * tools, images and schemas; embeddings; models; errors. A script sets the answers, faults come on demand,
 * and every request is kept. Ids and times are counted, not random, so that runs are equal.
 */
export async function openaiServer(options: OpenaiServerOptions = {}): Promise<OpenaiServer> {
  const responses: OpenaiServerState["responses"] = new Map();
  const server = createServer((request, response) => {
    void handleRequest(state, request, response).catch(() => response.destroy());
  });
  const given: OpenaiServer = {
    url: "",
    received: [],
    troubles: [],
    always: undefined,
    reply: options.reply ?? createDefaultReply,
    refusesSchemas: options.refusesSchemas ?? false,
    reset() {
      given.received.length = 0;
      given.troubles.length = 0;
      given.always = undefined;
      responses.clear();
    },
    close: () => stopServer(server),
    [Symbol.asyncDispose]: () => stopServer(server),
  };
  const state: OpenaiServerState = {
    given,
    options,
    responses,
    meter: createTokenMeter(options.tokensOf),
    count: 0,
  };
  // A keep-alive connection that closes while a client reuses it would be an unplanned fault.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  return Object.assign(given, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
}

function stopServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function handleRequest(
  state: OpenaiServerState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { given, options } = state;
  const raw = await readBytes(request);
  const received = toReceived(state, request, raw);
  given.received.push(received);
  state.count += 1;
  const number = state.count;
  response.on("close", () => {
    received.isGone = !response.writableFinished;
  });
  response.setHeader("x-request-id", `req_${String(number).padStart(8, "0")}`);
  const trouble = takeTrouble(given, received.path);
  // Like the real server, it repeats parts of the request: the key, and the text.
  const words = `${received.authorization} ${raw.toString("utf8")}`;
  if (trouble && (await sendSpoilt(response, received, trouble, words))) return;
  const isWelcome = options.apiKey === undefined || received.authorization === `Bearer ${options.apiKey}`;
  const answer = isWelcome
    ? await createAnswer(state, received, number, trouble)
    : createRefusal(401, `Incorrect API key provided: ${received.authorization}`, "invalid_api_key");
  await sendAnswer(response, received, answer, trouble);
}

function takeTrouble(given: OpenaiServer, path: string): Trouble | undefined {
  const meets = (planned: Trouble | TroubleAt): boolean =>
    typeof planned === "string" || !("at" in planned) || path.endsWith(planned.at);
  const place = given.troubles.findIndex(meets);
  const [planned] = place < 0 ? [] : given.troubles.splice(place, 1);
  if (planned === undefined) return given.always;
  return typeof planned === "object" && "at" in planned ? planned.trouble : planned;
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function toReceived(state: OpenaiServerState, request: IncomingMessage, raw: Buffer): Received {
  const { method = "GET", url: path = "/", headers } = request;
  const body = parseBody(raw) ?? {};
  const earlier = state.responses.get(String(body.previous_response_id)) ?? [];
  const turns = stripQuery(path).endsWith("/responses")
    ? readResponsesTurns(body, earlier)
    : readChatTurns(body);
  const { authorization } = headers;
  const at = performance.now();
  return { method, path, headers, authorization, body, raw, at, turns, sent: "", isGone: false };
}

function parseBody(raw: Buffer): Received["body"] | undefined {
  try {
    const value: unknown = JSON.parse(raw.toString("utf8"));
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const stripQuery = (url: string): string => url.replace(/\?.*$/s, "");

async function createAnswer(
  state: OpenaiServerState,
  received: Received,
  number: number,
  trouble: Trouble | undefined,
): Promise<OpenaiAnswer> {
  const { method, body } = received;
  const path = stripQuery(received.path);
  if (method === "GET" && /^\/v1\/models(\/|$)/.test(path)) return createModelsAnswer(path);
  const [, id = ""] = /^\/v1\/responses\/([^/]+)$/.exec(path) ?? [];
  if (state.responses.has(id)) return findStoredAnswer(state, method, id);
  const isWritten = path === "/v1/chat/completions" || path === "/v1/responses";
  if (method !== "POST" || (!isWritten && path !== "/v1/embeddings"))
    return createRefusal(404, `Invalid URL (${method} ${path})`);
  if (parseBody(received.raw) === undefined)
    return createRefusal(400, "We could not parse the JSON body of your request.");
  if (path === "/v1/embeddings")
    return createEmbeddingsAnswer(body, state.meter.tokensOf, state.options.mostTexts);
  return writeAnswer(state, received, number, trouble);
}

/** A stored response. Any accepted key may read and delete it. */
function findStoredAnswer({ responses }: OpenaiServerState, method: string, id: string): OpenaiAnswer {
  if (method !== "DELETE") return { status: 200, body: { id, object: "response", status: "completed" } };
  responses.delete(id);
  return { status: 200, body: { id, object: "response", deleted: true } };
}

async function writeAnswer(
  state: OpenaiServerState,
  received: Received,
  number: number,
  trouble: Trouble | undefined,
): Promise<OpenaiAnswer> {
  const { body, turns } = received;
  const isResponse = stripQuery(received.path) === "/v1/responses";
  const previous = body.previous_response_id;
  if (typeof previous === "string" && !state.responses.has(previous))
    return createRefusal(
      400,
      `Previous response with id '${previous}' not found.`,
      "previous_response_not_found",
    );
  if (state.given.refusesSchemas && Object.keys(findSchema(body) ?? {}).length > 0)
    return createRefusal(400, "response_format: type 'json_schema' is not supported by this server");
  const problem = (isResponse ? findResponsesProblem : findChatProblem)(body, turns);
  if (problem !== undefined) return createRefusal(400, problem);
  const replies: RichReply[] = [];
  for (let choice = 0; choice < Number(body.n ?? 1); choice += 1)
    replies.push(spoilReply(toRichReply(await state.given.reply(received)), trouble));
  const usage = state.meter.count(received, replies.map(toWrittenText).join(""));
  const making: AnswerContext = { request: received, replies, number, usage };
  if (!isResponse) return createChatAnswer(making);
  // Instructions apply to one request only.
  const kept = turns.slice(typeof body.instructions === "string" ? 1 : 0);
  state.responses.set(toResponseId(number), [...kept, ...replies.map(toTurn)]);
  return createResponsesAnswer(making);
}

const spoilReply = (right: RichReply, trouble: Trouble | undefined): RichReply =>
  typeof trouble === "object" && "says" in trouble ? toRichReply(trouble.says(right)) : right;

const toTurn = ({ text = "", toolCalls }: RichReply): Turn => ({
  role: "assistant",
  text,
  images: 0,
  ...(toolCalls ? { toolCalls } : {}),
});

/** Sends the fault if it is the whole answer. `words` is what the real server would repeat in its error. */
async function sendSpoilt(
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

/** Sends an answer. A stream is sent frame by frame, with the fault applied. */
async function sendAnswer(
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
    // Gives written data time to leave before the connection closes.
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

const MODEL_IDS: readonly string[] = [
  "gpt-4o-mini",
  "gpt-4o-mini-2024-07-18",
  "gpt-4o",
  "text-embedding-3-small",
];

/** The answer of `GET /v1/models` and `GET /v1/models/{id}`. */
function createModelsAnswer(path: string): OpenaiAnswer {
  const id = /^\/v1\/models\/(.+)$/.exec(path)?.[1];
  if (id === undefined) return { status: 200, body: { object: "list", data: MODEL_IDS.map(toModel) } };
  const name = decodeURIComponent(id);
  if (MODEL_IDS.includes(name)) return { status: 200, body: toModel(name) };
  return createRefusal(404, `The model '${name}' does not exist`, "model_not_found", "model");
}

const toModel = (id: string): { [field: string]: unknown } => ({
  id,
  object: "model",
  created: 1_721_172_741,
  owned_by: "system",
});

export { hashToVector } from "./endpoints.ts";

/** The answer of an embeddings server. */
// A type, not an interface, so that it can be changed like any JSON.
type EmbeddingsAnswer = {
  readonly object: "list";
  readonly model: string;
  readonly data: { object: "embedding"; index: number; embedding: number[] }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
};

type EmbeddingsTrouble =
  | Exclude<Trouble | TroubleAt, { change: unknown }>
  | { readonly change: (answer: EmbeddingsAnswer) => unknown };

/** A server of OpenAI's protocol, for embeddings only. */
export interface EmbeddingsServer extends Omit<OpenaiServer, "troubles" | "always"> {
  readonly troubles: EmbeddingsTrouble[];
  always: EmbeddingsTrouble | undefined;
}

export const startEmbeddingsServer = (options: OpenaiServerOptions = {}): Promise<EmbeddingsServer> =>
  openaiServer(options);
