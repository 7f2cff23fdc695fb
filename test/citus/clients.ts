import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

/**
 * A request that was not answered, or with an error. It is sent again. The status 409 says that an earlier try with the same key may
 * still be running.
 */
export interface UnansweredRequest {
  /** When, by `performance.now()`. */
  readonly at: number;
  readonly user: string;
  /** The status of HTTP; 0 without an answer. */
  readonly status: number;
  readonly detail: string;
}

/** What clients of several servers saw. */
export interface CitusObservations {
  /** Memories that were acknowledged, and not erased: number -> user. */
  readonly kept: Map<number, string>;
  /** Memories whose erasure was acknowledged: number -> user. */
  readonly erased: Map<number, string>;
  /** Answers that lack what was acknowledged before the question, or hold what was erased. */
  readonly stale: string[];
  readonly failures: UnansweredRequest[];
  /** Requests that were refused, or failed for longer than a client waits. */
  readonly refused: string[];
  /** How long answered requests took, in ms. */
  readonly searches: number[];
  readonly writes: number[];
}

/** The servers of a run, as clients reach them. */
export type Servers = readonly { readonly url: string; readonly key: string }[];

interface Answer {
  readonly status: number;
  readonly body: {
    readonly id?: string;
    readonly detail?: string;
    readonly items?: readonly { readonly id: string; readonly text: string }[];
    readonly cursor?: string;
  };
}

const AGAIN_MS = 200;
const GIVE_UP_MS = 120_000;
const TIMEOUT_MS = 30_000;

/** The word of a memory, which nothing else contains. */
export const wordOf = (number: number): string => `quillon${number}x`;
const textOf = (number: number): string => `The word for gate ${number} is ${wordOf(number)}.`;

/**
 * Clients that write to one server and ask another at once: each stores memories, and erases every third. A write that fails is
 * sent again with its idempotency key, as a careful program does. Each rests between two rounds, in ms.
 */
export function startClients(
  servers: Servers,
  users: readonly string[],
  { clients, restMs }: { readonly clients: number; readonly restMs: number },
): { readonly seen: CitusObservations; stop(): Promise<void> } {
  const seen: CitusObservations = {
    kept: new Map(),
    erased: new Map(),
    stale: [],
    failures: [],
    refused: [],
    searches: [],
    writes: [],
  };
  let isStopped = false;
  let count = 0;
  const run = async (client: number): Promise<void> => {
    for (let round = client; !isStopped; round += 1) {
      count += 1;
      const user = users[(round * clients + client) % users.length] ?? "";
      await runRound(servers, seen, { here: round % servers.length, user, number: count });
      await pause(restMs);
    }
  };
  const all = Array.from({ length: clients }, (_, client) => run(client));
  return {
    seen,
    async stop() {
      isStopped = true;
      await Promise.all(all);
    },
  };
}

interface Round {
  /** The server that is written to. */
  readonly here: number;
  readonly user: string;
  readonly number: number;
}

async function runRound(
  servers: Servers,
  seen: CitusObservations,
  { here, user, number }: Round,
): Promise<void> {
  const there = (here + 1) % servers.length;
  const path = `/api/v1/memories/${user}`;
  const write = (method: string, at: string, body: object) =>
    sendUntilDone(servers[here], seen, { method, path: at, user, body });
  const isFound = async (): Promise<boolean | undefined> => {
    const query = `What is the word for gate ${number}?`;
    const request = { method: "POST", path: `${path}/search`, user, body: { query, top_k: 10 } };
    const { status, body } = await send(servers[there], seen, request);
    if (status !== 200) return undefined;
    return body.items?.some(({ text }) => text.includes(wordOf(number))) ?? false;
  };
  const stored = await write("POST", "/api/v1/memories", { user_id: user, content: textOf(number) });
  const { id } = stored.body;
  if (stored.status !== 201 || id === undefined) return;
  seen.kept.set(number, user);
  if ((await isFound()) === false) seen.stale.push(`memory ${number} is not found`);
  if (number % 3 !== 0) return;
  // From here on, either outcome is right until the erasure is acknowledged.
  seen.kept.delete(number);
  const { status } = await write("POST", "/api/v1/erasures", { user_id: user, ids: [id] });
  if (status !== 201) return;
  seen.erased.set(number, user);
  if (await isFound()) seen.stale.push(`memory ${number} is found after its erasure`);
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly user: string;
  readonly body?: object;
}

/** Sends a write again until it is answered. */
async function sendUntilDone(
  server: Servers[number] | undefined,
  seen: CitusObservations,
  request: Request,
): Promise<Answer> {
  const key = randomUUID();
  const until = performance.now() + GIVE_UP_MS;
  for (;;) {
    const answer = await send(server, seen, request, key);
    if (answer.status === 201) return answer;
    const isTransient = answer.status === 0 || answer.status === 409 || answer.status >= 500;
    if (!isTransient || performance.now() > until) {
      seen.refused.push(`${request.method} ${request.path}: ${answer.status} ${answer.body.detail ?? ""}`);
      return answer;
    }
    await pause(AGAIN_MS);
  }
}

/** Sends a request once, and records its time or its failure. */
async function send(
  server: Servers[number] | undefined,
  seen: CitusObservations,
  request: Request,
  key?: string,
): Promise<Answer> {
  const begun = performance.now();
  const answer = await ask(server, request, key);
  const { status, body } = answer;
  if (status !== 200 && status !== 201) {
    seen.failures.push({ at: performance.now(), user: request.user, status, detail: body.detail ?? "" });
  } else (key === undefined ? seen.searches : seen.writes).push(performance.now() - begun);
  return answer;
}

async function ask(server: Servers[number] | undefined, request: Request, key?: string): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${server?.key}`,
    ...(request.body ? { "content-type": "application/json" } : {}),
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  try {
    const response = await fetch(`${server?.url}${request.path}`, {
      method: request.method,
      headers,
      ...(request.body ? { body: JSON.stringify(request.body) } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  } catch {
    return { status: 0, body: {} };
  }
}

/** How many memories of a user hold each number. */
export async function countStored(
  server: Servers[number] | undefined,
  user: string,
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  let cursor: string | undefined;
  do {
    const query = `limit=200${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
    const path = `/api/v1/memories/${user}?${query}`;
    const { status, body } = await ask(server, { method: "GET", path, user });
    if (status !== 200) throw new Error(`${path}: ${status} ${body.detail ?? ""}`);
    for (const { text } of body.items ?? []) {
      const number = Number(/quillon(\d+)x/.exec(text)?.[1] ?? 0);
      if (number > 0) found.set(number, (found.get(number) ?? 0) + 1);
    }
    cursor = body.cursor;
  } while (cursor !== undefined);
  return found;
}

/** Stores a first memory, so that the user exists. */
export async function createUser(server: Servers[number] | undefined, user: string): Promise<void> {
  const body = { user_id: user, content: `${user} likes tea.` };
  const { status } = await ask(
    server,
    { method: "POST", path: "/api/v1/memories", user, body },
    randomUUID(),
  );
  if (status !== 201) throw new Error(`The first memory of ${user}: ${status}`);
}
