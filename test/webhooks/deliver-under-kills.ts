import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Webhook } from "standardwebhooks";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const KEY = randomBytes(24).toString("hex");

export interface WebhookRun {
  readonly events: number;
  readonly users: number;
  /** The receiver answers every so many requests with an error. */
  readonly failOneIn: number;
  /** How often a server is killed while events are sent. */
  readonly kills: number;
  readonly servers: number;
  /** A database of PostgreSQL; a file if absent. */
  readonly databaseUrl?: string;
}

export interface WebhookFigures {
  /** Events that are in the logs of the users. */
  readonly events: number;
  /** Events that the receiver took at least once. */
  readonly delivered: number;
  readonly repeated: number;
  /** Events that came before an earlier one of the same user had been taken. */
  readonly outOfOrder: number;
  readonly badSignatures: number;
  readonly refused: number;
  readonly kills: number;
  readonly writingSeconds: number;
  /** From the last write to the last delivery. */
  readonly restSeconds: number;
}

interface Receiver {
  readonly url: string;
  /** Set once the webhook is registered. */
  secret: string;
  readonly counts: {
    requests: number;
    repeated: number;
    outOfOrder: number;
    badSignatures: number;
    refused: number;
  };
  /** The last revision of each user that was taken in order. */
  readonly revisions: Map<string, number>;
  close(): Promise<void>;
}

/** Whether the library of Standard Webhooks accepts the signature, and the time in it. */
export function isSigned(secret: string, headers: NodeJS.Dict<string | string[]>, body: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as { [name: string]: string });
    return true;
  } catch {
    return false;
  }
}

/** What does not hold of a run: an event that is lost, one out of order, a bad signature, or a fault that was not made. */
export function findWebhookProblems(run: WebhookRun, figures: WebhookFigures): string[] {
  const { events, delivered, outOfOrder, badSignatures, refused, kills } = figures;
  return [
    ...(events >= run.events ? [] : [`${events} of ${run.events} events were made`]),
    ...(delivered === events ? [] : [`${events - delivered} of ${events} events did not arrive`]),
    ...(outOfOrder === 0 ? [] : [`${outOfOrder} events came before an earlier one of their user`]),
    ...(badSignatures === 0 ? [] : [`${badSignatures} requests had a signature that does not fit`]),
    ...(run.failOneIn === 0 || refused > 0 ? [] : ["the receiver refused nothing"]),
    ...(kills === run.kills ? [] : [`${kills} of ${run.kills} kills were made`]),
  ];
}

async function startReceiver(failOneIn: number): Promise<Receiver> {
  const counts = { requests: 0, repeated: 0, outOfOrder: 0, badSignatures: 0, refused: 0 };
  const revisions = new Map<string, number>();
  const take = (user: string, revision: number): void => {
    const last = revisions.get(user) ?? 0;
    if (revision <= last) counts.repeated += 1;
    else if (revision > last + 1) counts.outOfOrder += 1;
    else revisions.set(user, revision);
  };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => {
      counts.requests += 1;
      if (!isSigned(receiver.secret, request.headers, body)) counts.badSignatures += 1;
      if (failOneIn > 0 && counts.requests % failOneIn === 0) {
        counts.refused += 1;
        response.writeHead(500).end();
        return;
      }
      const { data } = JSON.parse(body) as { data: { user_id: string; revision: number } };
      take(data.user_id, data.revision);
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    secret: "",
    counts,
    revisions,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}

interface RunningServer {
  child: ChildProcess;
  url: string;
}

async function startServer(folder: string, { databaseUrl }: WebhookRun): Promise<RunningServer> {
  const database = databaseUrl === undefined ? ["--db", join(folder, "m.db")] : [];
  const child = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--json", ...database], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      KEEPSAKE_API_KEY: KEY,
      KEEPSAKE_SECRET: "a secret for this run alone",
      KEEPSAKE_WEBHOOKS: "loopback",
      ...(databaseUrl === undefined ? {} : { MEMORY_DB_URL: databaseUrl }),
    },
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [printed] = await once(child.stdout, "data");
  const { url, error } = JSON.parse(String(printed)) as { url?: string; error?: { message: string } };
  if (url === undefined) throw new Error(`a server did not start: ${error?.message}`);
  return { child, url };
}

async function call(
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ [field: string]: unknown }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { [field: string]: unknown };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Adds memories by all servers at once. A write that a kill cut off is made again, maybe twice: each is an event. */
async function addMemories(servers: readonly RunningServer[], { events, users }: WebhookRun): Promise<void> {
  let next = 0;
  const work = async (writer: number): Promise<void> => {
    for (let number = next++; number < events; number = next++) {
      const body = { user_id: `user-${number % users}`, content: `The number of the day is ${number}.` };
      for (;;) {
        const server = servers[writer % servers.length] as RunningServer;
        try {
          await call(server.url, "POST", "/api/v1/memories", body);
          break;
        } catch {
          await pause(50);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(8, users) }, (_, writer) => work(writer)));
}

/** Sends events of users to a webhook while servers are killed, and counts what arrives. */
export async function deliverUnderKills(run: WebhookRun): Promise<WebhookFigures> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-webhooks-"));
  const receiver = await startReceiver(run.failOneIn);
  const servers: RunningServer[] = [];
  let kills = 0;
  try {
    for (let i = 0; i < run.servers; i += 1) servers.push(await startServer(folder, run));
    const [first] = servers as [RunningServer];
    const made = await call(first.url, "POST", "/api/v1/webhooks", { url: receiver.url });
    receiver.secret = String(made.secret);
    const begun = performance.now();
    const killing = (async () => {
      while (kills < run.kills) {
        const share = (run.events * (kills + 1)) / (run.kills + 1);
        while (receiver.counts.requests < share / 2) await pause(20);
        const server = servers[kills % servers.length] as RunningServer;
        server.child.kill("SIGKILL");
        await once(server.child, "exit");
        kills += 1;
        Object.assign(server, await startServer(folder, run));
      }
    })();
    await addMemories(servers, run);
    const written = performance.now();
    await killing;
    const expected = await readRevisions(servers[0] as RunningServer, run);
    const deadline = performance.now() + 600_000;
    const isComplete = (): boolean =>
      [...expected].every(([user, last]) => receiver.revisions.get(user) === last);
    while (!isComplete() && performance.now() < deadline) await pause(20);
    const { requests: _requests, ...counts } = receiver.counts;
    const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0);
    return {
      events: sum(expected.values()),
      delivered: sum(receiver.revisions.values()),
      ...counts,
      kills,
      writingSeconds: Math.round((written - begun) / 100) / 10,
      restSeconds: Math.round((performance.now() - written) / 100) / 10,
    };
  } finally {
    for (const { child } of servers) child.kill("SIGKILL");
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The last revision of each user. */
async function readRevisions({ url }: RunningServer, { users }: WebhookRun): Promise<Map<string, number>> {
  const revisions = new Map<string, number>();
  for (let i = 0; i < users; i += 1) {
    const path = `/api/v1/history/user-${i}?limit=1`;
    const { items } = (await call(url, "GET", path)) as { items: { revision: number }[] };
    revisions.set(`user-${i}`, items[0]?.revision ?? 0);
  }
  return revisions;
}

if (import.meta.main) {
  // `node test/webhooks/deliver-under-kills.ts --events 10000 --users 100 --fail 3 --kills 3`. Ends with 1 if anything does not hold.
  const { values } = parseArgs({
    options: {
      events: { type: "string", default: "10000" },
      users: { type: "string", default: "100" },
      fail: { type: "string", default: "3" },
      kills: { type: "string", default: "3" },
      servers: { type: "string", default: "1" },
      "database-url": { type: "string" },
    },
  });
  const databaseUrl = values["database-url"];
  const run: WebhookRun = {
    events: Number(values.events),
    users: Number(values.users),
    failOneIn: Number(values.fail),
    kills: Number(values.kills),
    servers: Number(values.servers),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  };
  const figures = await deliverUnderKills(run);
  const problems = findWebhookProblems(run, figures);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${JSON.stringify({ test: "W1", ...figures, faults: problems.length })}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
