import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** A fault on a request's way. With `at`, only for paths with this ending. */
export type ProxyTrouble = { readonly at?: string } & (
  | {
      readonly status: number;
      readonly body?: string;
      readonly headers?: { readonly [name: string]: string };
    }
  /** Delay before the request is forwarded. */
  | { readonly afterMs: number }
  /**
   * No answer; a closed connection; an invalid answer; or the request is forwarded and its answer withheld.
   */
  | { readonly it: "hangs" | "hangs up" | "answers nonsense" | "does it and hangs" }
);

/** A proxy in front of a server that a test cannot stop. The client attributes its faults to the server. */
export interface HttpProxy extends AsyncDisposable {
  readonly url: string;
  /** Paths of all requests, oldest first. */
  readonly received: string[];
  /** Faults for the next requests, one each. */
  readonly troubles: ProxyTrouble[];
  /** A fault for every request; absent for none. */
  always: ProxyTrouble | undefined;
  /** Refuses connections. Later, `up` accepts them again. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

/** Forwards requests to an address, with faults on demand. For tests. */
export async function startHttpProxy(target: string): Promise<HttpProxy> {
  const server = createServer((incoming, outgoing) => {
    void handleRequest(given, target, incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.keepAliveTimeout = 0;
  const listening = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const given: HttpProxy = {
    url: "",
    received: [],
    troubles: [],
    always: undefined,
    down: () => stopServer(server),
    up: () => listening(Number(new URL(given.url).port)),
    close: () => stopServer(server),
    [Symbol.asyncDispose]: () => stopServer(server),
  };
  await listening(0);
  return Object.assign(given, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function stopServer(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function handleRequest(
  given: HttpProxy,
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const path = incoming.url ?? "/";
  given.received.push(path);
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const trouble = takeTrouble(given, path);
  if (trouble && "status" in trouble) {
    outgoing.writeHead(trouble.status, { ...trouble.headers });
    outgoing.end(trouble.body ?? "");
    return;
  }
  if (trouble && "it" in trouble && trouble.it !== "does it and hangs") {
    if (trouble.it === "hangs up") outgoing.destroy();
    if (trouble.it === "answers nonsense") outgoing.end("<html>Welcome</html>");
    return;
  }
  if (trouble && "afterMs" in trouble) await pause(trouble.afterMs);
  const isKeptBack = trouble !== undefined && "it" in trouble;
  forwardRequest(target, incoming, Buffer.concat(pieces), (answer) => {
    if (isKeptBack) return void answer.resume();
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
}

function forwardRequest(
  target: string,
  incoming: IncomingMessage,
  body: Buffer,
  onAnswer: (answer: IncomingMessage) => void,
): void {
  const { method, headers } = incoming;
  const passing = request(
    new URL(incoming.url ?? "/", target),
    { ...(method ? { method } : {}), headers },
    onAnswer,
  );
  passing.on("error", () => incoming.socket.destroy());
  passing.end(body);
}

function takeTrouble(given: HttpProxy, path: string): ProxyTrouble | undefined {
  const meets = ({ at }: ProxyTrouble): boolean =>
    at === undefined || path.replace(/\?.*$/s, "").endsWith(at);
  const place = given.troubles.findIndex(meets);
  const [planned] = place < 0 ? [] : given.troubles.splice(place, 1);
  return planned ?? (given.always && meets(given.always) ? given.always : undefined);
}
