import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createDataAnswer } from "./data-plane.ts";
import type { StoredIndex } from "./namespaces.ts";
import {
  createControlRefusal,
  createDataRefusal,
  createSuccess,
  PINECONE_LIMITS,
  type PineconeAnswer,
  type PineconeBody,
} from "./protocol.ts";

/** A fault instead of the right answer. With `at`, only for paths with this ending. */
type PineconeTrouble = { readonly at?: string } & (
  | { readonly status: number }
  /** Carries out the request after a delay; or does so and never answers. */
  | { readonly afterMs: number }
  | { readonly it: "hangs" | "hangs up" | "answers nonsense" | "does it and hangs" }
);

export interface PineconeReceived {
  readonly method: string;
  /** With the query, relative to the host: "/vectors/upsert". */
  readonly path: string;
  readonly body: PineconeBody;
  readonly bytes: number;
}

export interface PineconeServer extends AsyncDisposable {
  /** The URL of the control plane: a client's `controllerHostUrl`. */
  readonly url: string;
  /** Every request, oldest first. */
  readonly received: PineconeReceived[];
  /** Faults for the next requests, one each. */
  readonly troubles: PineconeTrouble[];
  /** A fault for every request; absent for none. */
  always: PineconeTrouble | undefined;
  /** The time in ms for which reads do not show a write; Pinecone is eventually consistent. */
  lagMs: number;
  /** Requests per second to one namespace, of one kind. More are answered with 429. */
  perSecond: number;
  /** Refuses connections. Later, `up` accepts them again, with all data kept. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Deletes every index. */
  empty(): void;
  close(): Promise<void>;
}

interface PineconeServerOptions {
  /** The only accepted key. Without it, any key is accepted. */
  readonly apiKey?: string;
  /** Without it, reads show every write at once. */
  readonly lagMs?: number;
  readonly perSecond?: number;
  /** How long an index takes to become ready, and to disappear, in ms (default 0). */
  readonly createMs?: number;
  readonly terminateMs?: number;
}

interface PineconeServerState {
  readonly given: PineconeServer;
  readonly options: PineconeServerOptions;
  readonly indexes: PineconeIndexes;
  /** Requests of the current second, by kind and namespace. */
  readonly counts: Map<string, number>;
  second: number;
}

/** At Pinecone, every index has its own host; here, a path. */
const HOST = /^\/hosts\/([^/]+)(\/.*)$/;

/**
 * A local server of Pinecone's protocol, for tests: control plane and data plane of API version 2026-07 for
 * indexes, records and namespaces. It has request limits, delayed reads, rate limits and faults on demand.
 *
 * Written from Pinecone's public documents (OpenAPI, pages on limits) and its official client, not from
 * answers of the service. Details that these leave open are marked ASSUMED.
 */
export async function startPineconeServer(options: PineconeServerOptions = {}): Promise<PineconeServer> {
  const server = createServer({ maxHeaderSize: PINECONE_LIMITS.addressBytes }, (request, response) => {
    void handleRequest(state, request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 0;
  const given: PineconeServer = {
    url: "",
    received: [],
    troubles: [],
    always: undefined,
    lagMs: options.lagMs ?? 0,
    perSecond: options.perSecond ?? Number.POSITIVE_INFINITY,
    down: () => stopServer(server),
    up: () => startListening(server, Number(new URL(given.url).port)),
    empty: () => state.indexes.all.clear(),
    close: () => stopServer(server),
    [Symbol.asyncDispose]: () => stopServer(server),
  };
  const { createMs = 0, terminateMs = 0 } = options;
  const hostOf = (name: string): string => `${given.url}/hosts/${name}`;
  const indexes = { all: new Map(), hostOf, createMs, terminateMs };
  const state: PineconeServerState = { given, options, indexes, counts: new Map(), second: 0 };
  await startListening(server, 0);
  return Object.assign(given, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

const startListening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));

function stopServer(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function handleRequest(
  state: PineconeServerState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const raw = Buffer.concat(pieces);
  const [, name, path = request.url ?? "/"] = HOST.exec(request.url ?? "/") ?? [];
  const received = { method: request.method ?? "GET", path, body: parseBody(raw), bytes: raw.byteLength };
  state.given.received.push(received);
  const { apiKey } = state.options;
  const isWelcome = apiKey === undefined || request.headers["api-key"] === apiKey;
  const answer = (): PineconeAnswer =>
    isWelcome ? createAnswer(state, name, received) : createDataRefusal(401, "Unauthorized");
  const trouble = takeTrouble(state.given, path);
  if (trouble && "it" in trouble) return spoilAnswer(response, trouble.it, answer);
  if (trouble && "status" in trouble)
    return sendAnswer(response, createDataRefusal(trouble.status, "by order of the test"));
  if (trouble) await pause(trouble.afterMs);
  sendAnswer(response, answer());
}

function spoilAnswer(
  response: ServerResponse,
  how: "hangs" | "hangs up" | "answers nonsense" | "does it and hangs",
  answer: () => PineconeAnswer,
): void {
  if (how === "does it and hangs") answer();
  if (how === "hangs up") response.destroy();
  if (how === "answers nonsense") response.end("<html>Welcome</html>");
}

function takeTrouble(given: PineconeServer, path: string): PineconeTrouble | undefined {
  const meets = ({ at }: PineconeTrouble): boolean =>
    at === undefined || path.replace(/\?.*$/s, "").endsWith(at);
  const place = given.troubles.findIndex(meets);
  const [planned] = place < 0 ? [] : given.troubles.splice(place, 1);
  return planned ?? (given.always && meets(given.always) ? given.always : undefined);
}

function parseBody(raw: Buffer): PineconeBody {
  try {
    const value: unknown = JSON.parse(raw.toString("utf8"));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function createAnswer(
  state: PineconeServerState,
  name: string | undefined,
  received: PineconeReceived,
): PineconeAnswer {
  const { method, path, body, bytes } = received;
  if (name === undefined) return createControlAnswer(state.indexes, method, path, body);
  const index = state.indexes.all.get(decodeURIComponent(name));
  // ASSUMED: the host of an index that is deleted or not ready answers 404.
  if (!index || index.goneAt !== undefined || performance.now() < index.readyAt) {
    return createDataRefusal(404, "Not Found");
  }
  const { pathname, searchParams: query } = new URL(path, state.given.url);
  const namespace = String(body.namespace ?? query.get("namespace") ?? "");
  if (isRateLimited(state, `${pathname} ${namespace}`)) {
    return createDataRefusal(
      429,
      `Too many requests to namespace ${namespace}: ${state.given.perSecond} per second`,
    );
  }
  return createDataAnswer({ index, method, path: pathname, query, body, bytes, lagMs: state.given.lagMs });
}

function isRateLimited(state: PineconeServerState, kind: string): boolean {
  const second = Math.floor(performance.now() / 1000);
  if (second !== state.second) state.counts.clear();
  state.second = second;
  const count = (state.counts.get(kind) ?? 0) + 1;
  state.counts.set(kind, count);
  return count > state.given.perSecond;
}

function sendAnswer(response: ServerResponse, { status, body, headers = {} }: PineconeAnswer): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json", ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

/** Indexes by name, and what the control plane needs to create one. */
interface PineconeIndexes {
  readonly all: Map<string, StoredIndex>;
  /** The URL of an index's own host. */
  hostOf(name: string): string;
  /** How long an index takes to become ready, and to disappear, in ms. */
  readonly createMs: number;
  readonly terminateMs: number;
}

/** Answers of the control plane (API version 2026-07): list, create, describe and delete indexes. */
function createControlAnswer(
  indexes: PineconeIndexes,
  method: string,
  path: string,
  body: PineconeBody,
): PineconeAnswer {
  const now = performance.now();
  for (const { name, goneAt } of indexes.all.values()) {
    if (goneAt !== undefined && goneAt <= now) indexes.all.delete(name);
  }
  if (path === "/indexes") {
    if (method === "POST") return createIndex(indexes, body);
    return createSuccess({ indexes: [...indexes.all.values()].map((one) => toIndexModel(indexes, one)) });
  }
  const name = decodeURIComponent(/^\/indexes\/([^/]+)$/.exec(path)?.[1] ?? "");
  const index = indexes.all.get(name);
  if (!index) return createControlRefusal(404, `Resource ${name} not found`);
  if (method === "GET") return createSuccess(toIndexModel(indexes, index));
  if (method !== "DELETE") return createControlRefusal(404, "Not Found");
  index.goneAt ??= now + indexes.terminateMs;
  if (indexes.terminateMs === 0) indexes.all.delete(name);
  return { status: 202, body: "" };
}

function createIndex(indexes: PineconeIndexes, body: PineconeBody): PineconeAnswer {
  const { name, deployment, schema, tags } = body;
  if (typeof name !== "string" || !/^[a-z0-9](?:[a-z0-9-]{0,43}[a-z0-9])?$/.test(name)) {
    return createControlRefusal(400, "Name must consist of lower case alphanumeric characters or '-'");
  }
  if (indexes.all.has(name)) return createControlRefusal(409, "Resource already exists");
  const field = (schema as { fields?: { [name: string]: PineconeBody } } | undefined)?.fields?._values;
  const { dimension, metric } = field ?? {};
  if (typeof dimension !== "number" || dimension < 1 || dimension > 20_000 || typeof metric !== "string") {
    return createControlRefusal(400, "Invalid dimension or metric");
  }
  const index: StoredIndex = {
    name,
    dimension,
    metric,
    deployment: deployment as object,
    tags: (tags as StoredIndex["tags"] | undefined) ?? {},
    readyAt: performance.now() + indexes.createMs,
    namespaces: new Map(),
  };
  indexes.all.set(name, index);
  return { status: 201, body: toIndexModel(indexes, index) };
}

function toIndexModel(indexes: PineconeIndexes, index: StoredIndex): object {
  const { name, dimension, metric, deployment, tags, readyAt, goneAt } = index;
  const isReady = goneAt === undefined && performance.now() >= readyAt;
  const state = goneAt === undefined ? (isReady ? "Ready" : "Initializing") : "Terminating";
  return {
    name,
    host: indexes.hostOf(name),
    status: { ready: isReady, state },
    deployment,
    schema: { fields: { _values: { type: "dense_vector", dimension, metric } } },
    tags,
    deletion_protection: "disabled",
  };
}
