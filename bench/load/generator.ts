import { Agent, request } from "node:http";
import { seeded } from "../speed/vocabulary.ts";

/** Where a request goes, and what it says. */
export interface RequestBody {
  readonly path: string;
  readonly body: object;
}

/** One kind of request: how many a second, and what each is. */
export interface RequestKind {
  readonly name: string;
  readonly perSecond: number;
  make(number: number): RequestBody;
}

/** What came of the requests of one kind. Latencies in milliseconds. */
export interface KindResults {
  readonly name: string;
  readonly latencies: number[];
  /** Status or error code -> how many. */
  readonly errors: Map<string, number>;
}

interface Target {
  readonly url: string;
  readonly key: string;
}

const CONNECTIONS = 64;
const PATIENCE_MS = 30_000;

/**
 * Sends requests at their times, whether the ones before have been answered or not (open loop): each kind at random moments, so many
 * a second in the mean. A latency counts from the moment at which the request was due, so that what waits because the server
 * or this process is behind is not left out (coordinated omission).
 */
export async function send(
  target: Target,
  kinds: readonly RequestKind[],
  seconds: number,
  seed = 1,
): Promise<KindResults[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const begun = performance.now();
  const all = await Promise.all(
    kinds.map((kind, i) => sendKind({ ...target, agent }, kind, { begun, seconds, seed: seed + i })),
  );
  agent.destroy();
  return all;
}

/** Sends requests one after the other, as fast as they are answered. Throws at the first error. */
export async function sendInTurn(target: Target, requests: readonly RequestBody[]): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  try {
    for (const request of requests) {
      const error = await ask({ ...target, agent }, request);
      if (error !== undefined) throw new Error(`A request to get warm was answered with ${error}.`);
    }
  } finally {
    agent.destroy();
  }
}

async function sendKind(
  target: Target & { readonly agent: Agent },
  kind: RequestKind,
  { begun, seconds, seed }: { begun: number; seconds: number; seed: number },
): Promise<KindResults> {
  const random = seeded(seed);
  const sent: KindResults = { name: kind.name, latencies: [], errors: new Map() };
  const answers: Promise<void>[] = [];
  let due = begun;
  for (let number = 0; ; number += 1) {
    // The gaps of a Poisson process: people do not ask in step.
    due += (-Math.log(1 - random()) * 1000) / kind.perSecond;
    if (due > begun + seconds * 1000) break;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const at = due;
    answers.push(
      ask(target, kind.make(number)).then((error) => {
        sent.latencies.push(performance.now() - at);
        if (error !== undefined) sent.errors.set(error, (sent.errors.get(error) ?? 0) + 1);
      }),
    );
  }
  await Promise.all(answers);
  return sent;
}

/** Asks, and reads the answer to its end. Gives what was wrong with it. */
export function ask(
  { url, key, agent }: Target & { readonly agent: Agent },
  { path, body }: RequestBody,
): Promise<string | undefined> {
  const text = JSON.stringify(body);
  return new Promise((resolve) => {
    const asked = request(
      `${url}${path}`,
      {
        agent,
        method: "POST",
        timeout: PATIENCE_MS,
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(text),
        },
      },
      (answer) => {
        let isWhole = false;
        answer.on("end", () => {
          isWhole = answer.complete;
        });
        answer.on("close", () => {
          const { statusCode = 0 } = answer;
          if (statusCode >= 400) resolve(`${statusCode}`);
          else resolve(isWhole ? undefined : "cut");
        });
        answer.resume();
      },
    );
    asked.on("timeout", () => asked.destroy(new Error("timeout")));
    asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end(text);
  });
}
