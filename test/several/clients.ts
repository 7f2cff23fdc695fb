import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";

/** What clients of several servers saw. */
export interface ClientObservations {
  /** Messages that were acknowledged: user and number. */
  readonly told: { readonly user: string; readonly number: number }[];
  /** Answers that a server gave without what another had acknowledged before the question. */
  readonly stale: string[];
  /** Requests that were not answered as they should be. */
  readonly failed: string[];
  /** Requests that had to be sent again, for the server said that it is busy (503), as any client would. */
  readonly again: string[];
  /** How long requests took, in ms. */
  readonly searches: number[];
  readonly writes: number[];
}

export interface Clients {
  readonly seen: ClientObservations;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly id?: string;
    readonly text?: string;
    /** Of an error. */
    readonly detail?: string;
    readonly items?: readonly Item[];
  };
}

interface Item {
  readonly id: string;
  readonly text: string;
  readonly status?: string;
}

const AGAIN = 3;
const AGAIN_MS = 500;
const CLIENTS = 6;
const USERS = 12;

/** What no rule reads, and a model does. */
export const said = (number: number): string => `Parrot no. ${number} answers to Zed${number}, mostly.`;

/**
 * Clients that write by one server and ask another at once whether it is there: messages, memories that are changed, and
 * memories that are erased. Each rests between two rounds, in ms: those that never do take all the time there is.
 */
export function clients(servers: readonly { url: string; key: string }[], restMs = 0): Clients {
  const seen: ClientObservations = { told: [], stale: [], failed: [], again: [], searches: [], writes: [] };
  let isStopped = false;
  let count = 0;
  const one = async (client: number): Promise<void> => {
    const agents = servers.map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (let round = 0; !isStopped; round += 1) {
      const here = (round + client) % servers.length;
      const there = (here + 1) % servers.length;
      count += 1;
      const asking = askingOf(servers, agents, seen);
      const turn = { here, there, number: count, user: `user-${(round * 5 + client) % USERS}`, asking, seen };
      // Not all of them erase at the same time: people do not act in step.
      await ([told, told, changed, told, erased][(round + client) % 5] ?? told)(turn);
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    for (const agent of agents) agent.destroy();
  };
  const all = Array.from({ length: CLIENTS }, (_, client) => one(client));
  return {
    seen,
    async stop() {
      isStopped = true;
      await Promise.all(all);
    },
  };
}

type Asking = (
  server: number,
  method: string,
  path: string,
  body?: object,
  expected?: number,
) => Promise<Answer>;

interface Round {
  readonly here: number;
  readonly there: number;
  readonly number: number;
  readonly user: string;
  readonly asking: Asking;
  readonly seen: ClientObservations;
}

/** What was said by one server is found by the other. */
async function told({ here, there, number, user, asking, seen }: Round): Promise<void> {
  const messages = [{ id: `m${number}`, role: "user", content: said(number) }];
  const { status } = await asking(here, "POST", "/api/v1/messages", { user_id: user, messages }, 201);
  if (status !== 201) return;
  seen.told.push({ user, number });
  const items = await found(asking, there, user, `What answers to Zed${number}?`);
  if (items && !items.some(({ text }) => text.includes(`Zed${number}`)))
    seen.stale.push(`message ${number} not found`);
}

/** What is changed by one server is changed for the other, and what is binned is gone. */
async function changed({ here, there, number, user, asking, seen }: Round): Promise<void> {
  const path = `/api/v1/memories/${user}`;
  const ask = `What is in locker Kappa${number}?`;
  const text = (what: string): string => `Locker Kappa${number} holds ${what}.`;
  const body = { user_id: user, content: text("an umbrella") };
  const { id } = (await asking(here, "POST", "/api/v1/memories", body, 201)).body;
  if (id === undefined) return;
  const before = await found(asking, there, user, ask);
  if (before && !before.some((item) => item.id === id)) seen.stale.push(`memory ${number} not found`);
  await asking(there, "PATCH", `${path}/${id}`, { content: text("a violin") }, 200);
  const after = await found(asking, here, user, ask);
  const held = after?.filter((item) => item.id === id && item.status === "current").map((item) => item.text);
  if (held && held.join() !== text("a violin"))
    seen.stale.push(`memory ${number} is as it was: ${held.join()}`);
  await asking(here, "DELETE", `${path}/${id}`, undefined, 200);
  const late = await found(asking, there, user, ask);
  if (late?.some((item) => item.id === id && item.status === "current")) {
    seen.stale.push(`memory ${number} is still there`);
  }
}

/** What is erased by one server is gone for the other. */
async function erased({ here, there, number, user, asking, seen }: Round): Promise<void> {
  const ask = `What is the word for gate Omega${number}?`;
  const body = { user_id: user, content: `The word for gate Omega${number} is Quillon${number}.` };
  const { id } = (await asking(here, "POST", "/api/v1/memories", body, 201)).body;
  if (id === undefined) return;
  const before = await found(asking, there, user, ask);
  if (before && !before.some((item) => item.id === id)) seen.stale.push(`memory ${number} not found`);
  await asking(there, "POST", "/api/v1/erasures", { user_id: user, ids: [id] }, 201);
  const after = await found(asking, here, user, ask);
  if (after?.some(({ text }) => text.includes(`Quillon${number}`)))
    seen.stale.push(`${number} after erasure`);
  const gone = await asking(here, "GET", `/api/v1/memories/${user}/${id}`, undefined, 404);
  if (gone.status === 200) seen.stale.push(`memory ${number} after its erasure`);
}

/** Nothing where there was no answer: that is a failure of its own. */
async function found(
  asking: Asking,
  server: number,
  user: string,
  query: string,
): Promise<readonly Item[] | undefined> {
  const path = `/api/v1/memories/${user}/search`;
  const { status, body } = await asking(server, "POST", path, { query, top_k: 10 }, 200);
  return status === 200 ? (body.items ?? []) : undefined;
}

function askingOf(
  servers: readonly { url: string; key: string }[],
  agents: readonly Agent[],
  seen: ClientObservations,
): Asking {
  return async (server, method, path, body, expected = 200) => {
    const { url = "", key = "" } = servers[server] ?? {};
    // The same request sent again is the same write.
    const once = `${method}-${randomUUID()}`;
    const sent = async (): Promise<Answer> => {
      const begun = performance.now();
      const answer = await ask(`${url}${path}`, { method, key, once, agent: agents[server] }, body);
      (path.endsWith("/search") ? seen.searches : seen.writes).push(performance.now() - begun);
      return answer;
    };
    let answer = await sent();
    for (let time = 0; answer.status === 503 && time < AGAIN; time += 1) {
      seen.again.push(answer.body.detail ?? "");
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      answer = await sent();
    }
    if (answer.status !== expected) {
      const { detail = "" } = answer.body;
      seen.failed.push(`${method} ${path.replace(/[0-9a-f-]{36}/, "ID")}: ${answer.status} ${detail}`);
    }
    return answer;
  };
}

function ask(
  url: string,
  {
    method,
    key,
    once,
    agent,
  }: {
    readonly method: string;
    readonly key: string;
    readonly once: string;
    readonly agent: Agent | undefined;
  },
  body: object | undefined,
): Promise<Answer> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    ...(method === "POST" ? { "idempotency-key": once } : {}),
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
  };
  return new Promise((resolve) => {
    const lost = (): void => resolve({ status: 0, body: {} });
    const sent = request(url, { method, headers, ...(agent ? { agent } : {}) }, (response) => {
      let given = "";
      response.setEncoding("utf8");
      response.on("data", (part) => {
        given += part;
      });
      response.on("error", lost);
      response.on("end", () => {
        const status = response.statusCode ?? 0;
        resolve({ status, body: given === "" ? {} : (JSON.parse(given) as Answer["body"]) });
      });
    });
    sent.on("error", lost);
    sent.end(text);
  });
}
