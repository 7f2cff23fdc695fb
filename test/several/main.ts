import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { PeopleLoad } from "../../bench/load/people.ts";
import { type Running, started } from "../../bench/load/server.ts";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";
import { itemsAnswer } from "../../src/testing/test-doubles.ts";
import { type OwnServer, ownServer } from "../services/own-server.ts";
import { type ClientObservations, clients } from "./clients.ts";
import { type OwnDatabase, ownDatabase, type RunningWorker, startedWorker } from "./processes.ts";
import { met, moveIn, steady } from "./steady.ts";

const USAGE = `node test/several/main.ts [--seconds S] [--quiet] [--rest MS]
                             [--searches R] [--writes R] [--users U] [--per-user N]

Two servers that leave the jobs to two workers, on one PostgreSQL (KEEPSAKE_TEST_POSTGRES) and one Redis of their own, with a model
behind them, under load for S seconds (30). Meanwhile one worker is killed, Redis is killed and comes back empty, and one worker is
told to stop; with --quiet nothing of that. Fails where an answer lacks what another server had acknowledged, where a message is
lost or understood twice, or where a request fails. With --searches and --writes U people (100) of N memories each (20) send so many a second as well, at random moments;
those that look whether all is there then rest between two rounds (--rest), or they alone would take all the time that two cores have.`;

/** What is in the hands of a worker that is killed is asked about again: one request's turns. */
const IN_HAND = 30;
/** Half a minute until a message is old enough for a worker, a minute between two looks, and some for a machine that is busy. */
const READ_WITHIN_MS = 180_000;
const MODEL_MS = 20;

interface Parties {
  readonly servers: readonly Running[];
  readonly workers: RunningWorker[];
  readonly redis: OwnServer;
  readonly settings: { readonly [name: string]: string };
  readonly database: OwnDatabase;
}

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const tell = (words: string): void => void process.stderr.write(`${words}\n`);

/** A model that knows every parrot of the turns it is to read, and counts how often it was asked about each. */
async function parrotServer(asked: Map<number, number>): Promise<OpenaiServer> {
  const model = await openaiServer();
  model.reply = async ({ turns }) => {
    const shown = turns.at(-1)?.text ?? "";
    const parrots = [...shown.matchAll(/^(\d+) \[.*Parrot no\. (\d+) answers/gm)];
    for (const [, , number] of parrots) asked.set(Number(number), (asked.get(Number(number)) ?? 0) + 1);
    await rest(MODEL_MS);
    return itemsAnswer(
      ...parrots.map(([, turn, number]) => ({
        turn: Number(turn),
        quote: `Parrot no. ${number} answers to Zed${number}`,
        who: `user/parrot no. ${number}`,
        verb: "be called",
        what: `Zed${number}`,
      })),
    );
  };
  return model;
}

/** Does to them what happens, over so many ms. Gives what was wrong with how they took it. */
async function treatBadly({ workers, redis, settings, database }: Parties, forMs: number): Promise<string[]> {
  const wrong: string[] = [];
  await rest(forMs * 0.25);
  tell("a worker is killed");
  await workers[0]?.end("SIGKILL");
  workers[0] = await startedWorker(database.url, settings);
  await rest(forMs * 0.1);
  tell("Redis is killed");
  await redis.kill();
  await rest(forMs * 0.2);
  const down = await workers[1]?.health();
  if (down?.http !== 200 || down.queue !== "unavailable") wrong.push(`health: ${JSON.stringify(down)}`);
  tell("Redis is back, and empty");
  await redis.start();
  await rest(forMs * 0.15);
  tell("a worker is told to stop");
  const { exit = -1, tookMs = 0 } = (await workers[1]?.end()) ?? {};
  if (exit !== 0 || tookMs > 10_000)
    wrong.push(`the worker ended with ${exit} after ${Math.round(tookMs)} ms`);
  workers[1] = await startedWorker(database.url, settings);
  return wrong;
}

/** Waits until no message waits any more. */
async function understood({ servers }: Parties): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const left = (await jobs(servers)).find(({ name }) => name === "understanding")?.left;
    if (left === 0) return performance.now() - begun;
    if (performance.now() - begun > READ_WITHIN_MS) throw new Error(`${left} messages were never read.`);
    await rest(500);
  }
}

interface JobRow {
  readonly name: string;
  readonly left?: number;
  readonly set_aside?: number;
}

async function jobs(servers: readonly Running[]): Promise<readonly JobRow[]> {
  return (await got<{ items: readonly JobRow[] }>(servers, "/api/v1/jobs")).items;
}

async function got<Body>([server]: readonly Running[], path: string): Promise<Body> {
  const headers = { authorization: `Bearer ${server?.key}` };
  return (await (await fetch(`${server?.url}${path}`, { headers })).json()) as Body;
}

interface Listed {
  readonly items: readonly { readonly text: string; readonly evidence?: number; readonly version?: number }[];
  readonly cursor?: string;
}

/** Each message's one memory, of every user. */
async function countOf(
  { servers }: Parties,
  seen: ClientObservations,
): Promise<{ lost: number; twice: number }> {
  const found = new Map<number, number>();
  for (const user of new Set(seen.told.map((one) => one.user))) {
    let cursor: string | undefined;
    do {
      const query = `limit=200${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
      const page = await got<Listed>(servers, `/api/v1/memories/${user}?${query}`);
      for (const { text, evidence = 1 } of page.items) {
        const number = Number(/parrot no\. (\d+)/.exec(text)?.[1] ?? 0);
        if (number > 0) found.set(number, (found.get(number) ?? 0) + evidence);
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  const numbers = seen.told.map(({ number }) => number);
  return {
    lost: numbers.filter((number) => !found.has(number)).length,
    twice: [...found.values()].filter((times) => times > 1).length,
  };
}

function shareOf(times: readonly number[], share: number): number {
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0);
}

interface Trying {
  readonly forMs: number;
  readonly isQuiet: boolean;
  readonly others: PeopleLoad;
  readonly restMs: number;
}

async function tried(
  parties: Parties,
  asked: ReadonlyMap<number, number>,
  { forMs, isQuiet, others, restMs }: Trying,
) {
  const load = clients(parties.servers, restMs);
  const sending = steady(parties.servers, others, forMs / 1000);
  const begun = performance.now();
  const wrong = isQuiet ? [] : await treatBadly(parties, forMs);
  await rest(Math.max(0, forMs - (performance.now() - begun)));
  await load.stop();
  const steadily = await sending;
  const seconds = (performance.now() - begun) / 1000;
  tell(`${load.seen.told.length} messages told; waiting until all are understood`);
  const readMs = await understood(parties);
  const { seen } = load;
  const { lost, twice } = await countOf(parties, seen);
  const again = [...asked.values()].reduce((sum, times) => sum + times - 1, 0);
  const aside = (await jobs(parties.servers)).reduce((sum, { set_aside = 0 }) => sum + set_aside, 0);
  const figures = {
    seconds: Math.round(seconds),
    requests: seen.searches.length + seen.writes.length,
    told: seen.told.length,
    lost,
    twice,
    asked_again: again,
    stale: seen.stale.length,
    failed: seen.failed.length,
    sent_again: seen.again.length,
    set_aside: aside,
    understood_after_s: Math.round(readMs / 1000),
    search_ms: { p50: shareOf(seen.searches, 0.5), p95: shareOf(seen.searches, 0.95) },
    ...(Object.keys(steadily).length > 0 ? { steadily } : {}),
    write_ms: { p50: shareOf(seen.writes, 0.5), p95: shareOf(seen.writes, 0.95) },
  };
  for (const one of [...wrong, ...seen.stale.slice(0, 10), ...seen.failed.slice(0, 10)])
    tell(`WRONG: ${one}`);
  const refused = Object.values(steadily).flatMap(({ errors }) => Object.keys(errors));
  const isRight =
    refused.length + wrong.length + lost + twice + seen.stale.length + seen.failed.length + aside === 0 &&
    again <= (isQuiet ? 0 : IN_HAND * 2) &&
    seen.told.length > 0;
  return { figures, isRight };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "30" },
      quiet: { type: "boolean", default: false },
      rest: { type: "string", default: "0" },
      searches: { type: "string", default: "0" },
      writes: { type: "string", default: "0" },
      users: { type: "string", default: "100" },
      "per-user": { type: "string", default: "20" },
      help: { type: "boolean", default: false },
    },
  });
  const { KEEPSAKE_TEST_POSTGRES: server } = process.env;
  if (values.help || server === undefined) throw new Error(USAGE);
  execFileSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], {
    stdio: [0, 2, 2],
  });
  await using stack = new AsyncDisposableStack();
  const redis = await ownServer("redis");
  stack.defer(() => redis.remove());
  const database = await ownDatabase(server);
  stack.defer(() => database.drop());
  const others: PeopleLoad = {
    searches: Number(values.searches),
    writes: Number(values.writes),
    users: Number(values.users),
    perUser: Number(values["per-user"]),
  };
  const isSteady = others.searches + others.writes > 0;
  const secret = isSteady ? await moveIn(database.url, others) : "a-secret-for-this-run-only-0123456789";
  const asked = new Map<number, number>();
  const model = await parrotServer(asked);
  stack.defer(() => model.close());
  const settings = {
    KEEPSAKE_SECRET: secret,
    REDIS_URL: redis.address,
    KEEPSAKE_QUEUE: "bullmq",
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "sk-none",
    OPENAI_MODEL: "gpt-4o-mini",
    KEEPSAKE_UNDERSTAND_AFTER_MS: "1000",
  };
  const servers: Running[] = [];
  const workers: RunningWorker[] = [];
  stack.defer(async () => {
    const ends = [...servers, ...workers].map((one) => one.end("SIGKILL"));
    await Promise.all(ends);
  });
  for (const _ of [1, 2])
    servers.push(await started(database.url, { ...settings, KEEPSAKE_JOBS: "workers" }));
  for (const _ of [1, 2]) workers.push(await startedWorker(database.url, settings));
  const parties = { servers, workers, redis, settings, database };
  if (isSteady) {
    await Promise.all(servers.map((server, i) => met(server, others, `met-${i}`)));
    // By what was said there the workers meet them too.
    await understood(parties);
  }
  const { figures, isRight } = await tried(parties, asked, {
    forMs: Number(values.seconds) * 1000,
    isQuiet: values.quiet,
    restMs: Number(values.rest),
    others,
  });
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  if (!isRight) process.exitCode = 1;
}

await main();
