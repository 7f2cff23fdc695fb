import { type Agent, request } from "node:http";

/** One request of a case or of the others. */
export interface OneRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: string | Buffer;
  /** Headers beside the key and the type of the body. */
  readonly headers?: { readonly [name: string]: string };
  /** Sends a byte of the body every so many ms, and goes away after `leaveMs`. */
  readonly slowly?: { readonly everyMs: number; readonly leaveMs: number };
}

export interface Target {
  readonly url: string;
  readonly key: string;
}

/** What came of a request: its status, or the code of the error of the connection. */
export type RequestOutcome = string;

/** The outcome of a request that was not answered within its time. */
export const TOO_LATE = "no answer in time";

/** Asks, reads the answer to its end, and gives its status. */
export function asked(
  { url, key }: Target,
  one: OneRequest,
  { agent, patienceMs }: { readonly agent: Agent; readonly patienceMs: number },
): Promise<RequestOutcome> {
  const { method, path, body, headers = {}, slowly } = one;
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve) => {
    const sent = request(
      `${url}${path}`,
      {
        agent,
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...length,
          ...headers,
        },
      },
      (answer) => {
        answer.once("close", () => done(answer.complete ? `${answer.statusCode}` : "cut"));
        answer.resume();
      },
    );
    const late = setTimeout(() => {
      done(TOO_LATE);
      sent.destroy();
    }, patienceMs);
    const done = (outcome: RequestOutcome): void => {
      clearTimeout(late);
      resolve(outcome);
    };
    sent.on("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    if (slowly && body !== undefined) trickle(sent, Buffer.from(body), slowly);
    else sent.end(body);
  });
}

function trickle(
  sent: ReturnType<typeof request>,
  body: Buffer,
  { everyMs, leaveMs }: { readonly everyMs: number; readonly leaveMs: number },
): void {
  let at = 0;
  const timer = setInterval(() => {
    if (sent.destroyed) clearInterval(timer);
    else sent.write(body.subarray(at, at + 1));
    at += 1;
  }, everyMs);
  setTimeout(() => {
    clearInterval(timer);
    sent.destroy();
  }, leaveMs);
}
