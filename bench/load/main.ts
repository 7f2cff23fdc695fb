import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openaiServer } from "../../src/testing/openai/openai-server.ts";
import { filled } from "../speed/filling.ts";
import { stolenSince } from "../speed/machine.ts";
import { rounded, type Spread, spreadOf } from "../speed/measure.ts";
import { phase } from "../speed/progress.ts";
import { type KindResults, send, sendInTurn } from "./generator.ts";
import { kindsOf, oncePerPerson } from "./people.ts";
import { type PlainServer, startPlainServer } from "./plain.ts";
import { type Running, started } from "./server.ts";

const USAGE = `npm run -s bench -- --server [--users U] [--per-user N] [--seconds S] [--searches R] [--writes R] [--model-ms MS]
                      [--warm-up S] [--bar MS] [--paced] [--keep FILE] [--json]

Searches (200 a second) and writes (20 a second) over HTTP for S seconds (60) on the built server, with U users (100) of N
memories each (2,000); generator and server share this machine. First each user sends one write and one search, then the server
warms up (10 s). Open loop; a latency counts from the moment at which a request was due. With --model-ms a model stands behind it that takes so
long to answer. With --bar it fails where the 95th of 100 searches or writes takes longer, or any of them fails. With --paced a
plain server of Node, of the same size, is measured first: a machine on which it answers fewer requests gets fewer of both a
second, in proportion. During the load the plain server has a light load of its own. Where the 95th of 100 of those takes more
than a fifth of the bar, the bar is five times that. A load over its bar is measured
again, twice at most.`;

interface Wanted {
  readonly users: number;
  readonly perUser: number;
  readonly seconds: number;
  readonly warmUp: number;
  readonly searches: number;
  readonly writes: number;
  readonly modelMs: number;
  readonly bar: number | undefined;
  readonly keep: string | undefined;
  readonly json: boolean;
  readonly profile: boolean;
  readonly paced: boolean;
}

interface Figures {
  readonly users: number;
  readonly perUser: number;
  readonly seconds: number;
  readonly modelMs: number;
  readonly kinds: {
    readonly [name: string]: Spread & { readonly perSecond: number; readonly errors: object };
  };
  readonly server: { readonly cpu: number; readonly megabytes: number };
  readonly generator: { readonly cpu: number };
  readonly modelCalls: number;
  /** The share of the processors that the host kept to itself meanwhile. */
  readonly stolen: number;
  /** Of the last minute, before and after. */
  readonly load: { readonly before: number; readonly after: number };
}

function wantedOf(): Wanted {
  const { values } = parseArgs({
    options: {
      server: { type: "boolean" },
      users: { type: "string", default: "100" },
      "per-user": { type: "string", default: "2000" },
      seconds: { type: "string", default: "60" },
      "warm-up": { type: "string", default: "10" },
      searches: { type: "string", default: "200" },
      writes: { type: "string", default: "20" },
      "model-ms": { type: "string", default: "0" },
      bar: { type: "string" },
      keep: { type: "string" },
      json: { type: "boolean", default: false },
      profile: { type: "boolean", default: false },
      paced: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) throw new Error(USAGE);
  const number = (name: keyof typeof values): number => {
    const value = Number(values[name]);
    if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} must be a number.\n\n${USAGE}`);
    return value;
  };
  return {
    users: number("users"),
    perUser: number("per-user"),
    seconds: number("seconds"),
    warmUp: number("warm-up"),
    searches: number("searches"),
    writes: number("writes"),
    modelMs: number("model-ms"),
    bar: values.bar === undefined ? undefined : number("bar"),
    keep: values.keep,
    json: values.json,
    profile: values.profile,
    paced: values.paced,
  };
}

/** `mark` tells the messages of one measurement from those of another on the same file. Something else may be done meanwhile. */
async function measured(
  path: string,
  wanted: Wanted,
  mark: string,
  meanwhile: () => Promise<void> = async () => {},
): Promise<Figures> {
  const before = loadavg()[0] ?? 0;
  const model = wanted.modelMs > 0 ? await openaiServer() : undefined;
  if (model) model.always = { afterMs: wanted.modelMs };
  const settings: Record<string, string> = model
    ? { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "sk-none", OPENAI_MODEL: "gpt-4o-mini" }
    : {};
  const server = await started(path, settings, wanted.profile ? ["--cpu-prof", "--cpu-prof-dir=."] : []);
  try {
    phase(`${wanted.warmUp} s to get warm`);
    // A random draw leaves some people out, whose memories would then be read from the file during the measurement.
    await sendInTurn(server, oncePerPerson(wanted, `first-${mark}`));
    await send(server, kindsOf(wanted, `warm-up-${mark}`), wanted.warmUp, 100);
    phase(`${wanted.seconds} s of ${wanted.searches} searches and ${wanted.writes} writes a second`);
    const used = server.used();
    const own = process.cpuUsage();
    const stolen = stolenSince();
    const [sent] = await Promise.all([
      send(server, kindsOf(wanted, `measured-${mark}`), wanted.seconds),
      meanwhile(),
    ]);
    return figuresOf(wanted, sent, {
      server,
      used,
      own: process.cpuUsage(own),
      stolen: stolen(),
      before,
      modelCalls: model?.received.length ?? 0,
    });
  } finally {
    await server.end();
    await model?.close();
  }
}

function figuresOf(
  { users, perUser, seconds, modelMs }: Wanted,
  sent: readonly KindResults[],
  seen: {
    server: Running;
    used: ReturnType<Running["used"]>;
    own: NodeJS.CpuUsage;
    stolen: number;
    before: number;
    modelCalls: number;
  },
): Figures {
  const now = seen.server.used();
  return {
    users,
    perUser,
    seconds,
    modelMs,
    kinds: Object.fromEntries(
      sent.map(({ name, latencies, errors }) => [
        name,
        {
          ...spreadOf(latencies),
          perSecond: rounded(latencies.length / seconds),
          max: rounded(Math.max(...latencies)),
          errors: Object.fromEntries(errors),
        },
      ]),
    ),
    server: { cpu: rounded((now.seconds - seen.used.seconds) / seconds), megabytes: now.megabytes },
    generator: { cpu: rounded((seen.own.user + seen.own.system) / 1e6 / seconds) },
    modelCalls: seen.modelCalls,
    stolen: rounded(seen.stolen),
    load: { before: rounded(seen.before), after: rounded(loadavg()[0] ?? 0) },
  };
}

function lines(figures: Figures): string[] {
  const { kinds, server, generator, load, modelMs, modelCalls } = figures;
  return [
    `${figures.users} users of ${figures.perUser} memories, ${figures.seconds} s${modelMs > 0 ? `, a model that takes ${modelMs} ms (${modelCalls} calls)` : ""}`,
    ...Object.entries(kinds).map(
      ([name, { p50, p95, p99, perSecond, errors }]) =>
        `${name.padEnd(8)} ${`${perSecond}/s`.padEnd(9)} p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms, errors ${JSON.stringify(errors)}`,
    ),
    `server: ${Math.round(server.cpu * 100)} % of a core, ${server.megabytes} MB; generator: ${Math.round(generator.cpu * 100)} %; the host kept ${Math.round(figures.stolen * 100)} % of the processors; load average ${load.before} before, ${load.after} after`,
  ];
}

function isWithin(figures: Figures, bar: number): boolean {
  return !hasErrors(figures) && Object.values(figures.kinds).every(({ p95 }) => p95 < bar);
}

function hasErrors({ kinds }: Figures): boolean {
  return Object.values(kinds).some(({ errors }) => Object.keys(errors).length > 0);
}

/** What is asked of a machine that is so much slower. It gets warm by as many requests, up to four times as long. */
function slowed(wanted: Wanted, pace: number): Wanted {
  const [searches, writes] = [rounded(wanted.searches * pace), rounded(wanted.writes * pace)];
  return { ...wanted, searches, writes, warmUp: rounded(wanted.warmUp / Math.max(pace, 0.25)) };
}

/** A server that is too slow is so in each of them; a host that halts for a minute is not. */
const TRIES = 3;
/** The bar may be this many times what a light load takes on the plain server at the same time. */
const SLOWER_THAN_PLAIN = 5;

/** As many searches and writes as this machine keeps pace, and whether they are within the bar. An error is over it. */
async function paced(
  path: string,
  all: Wanted,
  plain: PlainServer,
): Promise<{ figures: Figures; isOver: boolean }> {
  for (let tries = 1; ; tries += 1) {
    const pace = rounded(await plain.pace());
    phase(`a plain server has ${Math.round(100 * pace)} % of the pace that the whole load needs`);
    let bar = all.bar;
    const figures = await measured(path, slowed(all, pace), `${tries}`, async () => {
      const p95 = await plain.lightLoad(all.seconds);
      if (all.bar !== undefined) bar = Math.max(all.bar, SLOWER_THAN_PLAIN * p95);
      phase(`95 of 100 of a light load on the plain server took ${rounded(p95)} ms`);
    });
    const isOver = bar !== undefined && !isWithin(figures, bar);
    if (!isOver || tries === TRIES || hasErrors(figures)) return { figures, isOver };
    for (const line of lines(figures)) phase(line);
  }
}

/** The figures of the whole load, or of what this machine can take of it, and whether they are over the bar. */
async function judged(
  path: string,
  wanted: Wanted,
  folder: string,
): Promise<{ figures: Figures; isOver: boolean }> {
  if (!wanted.paced) {
    const figures = await measured(path, wanted, "1");
    return { figures, isOver: wanted.bar !== undefined && !isWithin(figures, wanted.bar) };
  }
  const plain = await startPlainServer(folder);
  try {
    return await paced(path, wanted, plain);
  } finally {
    plain.end();
  }
}

async function main(): Promise<number> {
  const wanted = wantedOf();
  const folder = mkdtempSync(join(tmpdir(), "keepsake-load-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  const path = join(folder, "load.db");
  await filled(path, {
    users: wanted.users,
    perUser: wanted.perUser,
    ...(wanted.keep === undefined ? {} : { kept: wanted.keep }),
  });
  const { figures, isOver } = await judged(path, wanted, folder);
  if (wanted.json) console.log(JSON.stringify(figures));
  else for (const line of lines(figures)) console.log(line);
  return isOver ? 1 : 0;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
