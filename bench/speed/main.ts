import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createMemory, type Keepsake } from "../../src/index.ts";
import { scanOf, wordsOf } from "./baseline.ts";
import { type MadeUp, madeUp, questions } from "./made-up.ts";
import { rounded, type Spread, timed } from "./measure.ts";

const USAGE = `npm run -s bench -- [--users N] [--per-user N] [--json]
Measures on an SQLite file in a temporary folder: N users (1) with N messages each (10,000).`;

interface Figures {
  readonly users: number;
  readonly per_user: number;
  /** What one user holds: messages, and memories read from them. */
  readonly held: { readonly messages: number; readonly memories: number };
  /** Milliseconds. */
  readonly start_up_ms: number;
  readonly import_per_second: number;
  readonly remember_ms: Spread;
  readonly remember_unread_ms: Spread;
  readonly recall_hot_ms: Spread;
  readonly recall_after_write_ms: Spread;
  readonly recall_cold_ms: Spread;
  readonly answer_ms: Spread;
  readonly baseline: {
    readonly js_scan_ms: Spread;
    readonly bm25_ms: Spread;
    readonly recall_to_js_scan: number;
    readonly recall_to_bm25: number;
  };
  readonly file_bytes: number;
  readonly bytes_per_message: number;
  /** Per message and memory held. */
  readonly bytes_per_memory: number;
  readonly rss_bytes: number;
}

async function main(): Promise<number> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const users = Number(parsed.users);
  const perUser = Number(parsed["per-user"]);
  if (![users, perUser].every((count) => Number.isInteger(count) && count > 0)) {
    console.error(USAGE);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "keepsake-bench-"));
  try {
    const figures = await measure(folder, users, perUser);
    console.log(parsed.json ? JSON.stringify(figures) : tableOf(figures));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
}

function parse() {
  return parseArgs({
    options: {
      users: { type: "string", default: "1" },
      "per-user": { type: "string", default: "10000" },
      json: { type: "boolean", default: false },
    },
  }).values;
}

/** Every measurement is of the last user, so that with many users it shows what the others cost: nothing. */
async function measure(folder: string, users: number, perUser: number): Promise<Figures> {
  const path = join(folder, "bench.db");
  const began = performance.now();
  let memory = await createMemory({ path });
  const startUp = performance.now() - began;
  const said = madeUp(perUser, users);
  const name = `user-${users}`;
  const importSeconds = await fill(memory, users, perUser);
  const user = memory.scope({ user: name });
  const { total } = await user.list({ limit: 1 });

  const asked = questions(300, said, 7);
  const extra = madeUp(900, users + 1000).map(({ id, ...message }) => ({ ...message, id: `extra-${id}` }));
  await timed(50, (i) => user.recall(asked[i] ?? ""));
  const hot = await timed(300, (i) => user.recall(asked[i] ?? ""));
  const answers = await timed(100, (i) => user.answer(asked[i] ?? ""));
  const remember = await timed(300, (i) => user.remember(extra[i] ?? []));
  const unread = await timed(300, (i) => user.remember(extra[300 + i] ?? [], { extract: "never" }));
  const afterWrite = await timed(
    100,
    (i) => user.recall(asked[i] ?? ""),
    (i) => user.remember(extra[600 + i] ?? [], { extract: "never" }),
  );
  const cold = await coldRecalls(memory, path, name, asked);
  memory = cold.memory;
  const rss = process.memoryUsage.rss();
  await memory.close();
  const bytes = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

  const scan = scanOf(perUser + total, 256);
  const query = new Float32Array(256).fill(0.0625);
  await timed(10, () => scan(query));
  const jsScan = await timed(100, () => scan(query));
  const words = wordsOf(said);
  const bm25 = await timed(100, (i) => words(asked[i] ?? ""));
  return {
    users,
    per_user: perUser,
    held: { messages: perUser, memories: total },
    start_up_ms: rounded(startUp),
    import_per_second: Math.round((users * perUser) / importSeconds),
    remember_ms: remember,
    remember_unread_ms: unread,
    recall_hot_ms: hot,
    recall_after_write_ms: afterWrite,
    recall_cold_ms: cold.spread,
    answer_ms: answers,
    baseline: {
      js_scan_ms: jsScan,
      bm25_ms: bm25,
      recall_to_js_scan: rounded(hot.p50 / jsScan.p50),
      recall_to_bm25: rounded(hot.p50 / bm25.p50),
    },
    file_bytes: bytes,
    bytes_per_message: Math.round(bytes / (users * perUser)),
    bytes_per_memory: Math.round(bytes / (users * (perUser + total))),
    rss_bytes: rss,
  };
}

/** Takes in everything; gives the seconds it took. */
async function fill(memory: Keepsake, users: number, perUser: number): Promise<number> {
  const began = performance.now();
  for (let number = 1; number <= users; number += 1) {
    const messages: MadeUp[] = madeUp(perUser, number);
    for await (const { stored } of memory.scope({ user: `user-${number}` }).import(messages)) {
      if (process.stderr.isTTY) process.stderr.write(`\ruser ${number} of ${users}: ${stored} of ${perUser}`);
    }
  }
  if (process.stderr.isTTY) process.stderr.write("\n");
  return (performance.now() - began) / 1000;
}

/** The first recall of a process that has just opened the file. */
async function coldRecalls(
  open: Keepsake,
  path: string,
  name: string,
  asked: readonly string[],
): Promise<{ spread: Spread; memory: Keepsake }> {
  let memory = open;
  const taken: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    await memory.close();
    memory = await createMemory({ path });
    const began = performance.now();
    await memory.scope({ user: name }).recall(asked[i] ?? "");
    taken.push(performance.now() - began);
  }
  taken.sort((one, other) => one - other);
  const [, , middle = 0, , most = 0] = taken;
  return { spread: { n: 5, p50: rounded(middle), p95: rounded(most), p99: rounded(most) }, memory };
}

function tableOf(figures: Figures): string {
  const { baseline, held } = figures;
  const line = (name: string, { p50, p95, p99 }: Spread): string =>
    `${name.padEnd(34)}${[p50, p95, p99].map((ms) => String(ms).padStart(9)).join("")}`;
  const one = (name: string, value: string | number): string =>
    `${name.padEnd(34)}${String(value).padStart(9)}`;
  return [
    `${held.messages} messages and ${held.memories} memories of one user, ${figures.users} users`,
    "",
    `${"milliseconds".padEnd(34)}${["p50", "p95", "p99"].map((head) => head.padStart(9)).join("")}`,
    line("recall", figures.recall_hot_ms),
    line("recall after a write", figures.recall_after_write_ms),
    line("recall, first of a process", figures.recall_cold_ms),
    line("answer", figures.answer_ms),
    line("remember one message, durable", figures.remember_ms),
    line("  the same, not read for memories", figures.remember_unread_ms),
    line("baseline: plain scan of vectors", baseline.js_scan_ms),
    line("baseline: BM25 alone", baseline.bm25_ms),
    "",
    one("recall / plain scan", baseline.recall_to_js_scan),
    one("recall / BM25 alone", baseline.recall_to_bm25),
    one("import, messages per second", figures.import_per_second),
    one("bytes per message in the file", figures.bytes_per_message),
    one("  per message or memory", figures.bytes_per_memory),
    one("resident memory, MB", Math.round(figures.rss_bytes / 1e6)),
    one("start-up, ms", figures.start_up_ms),
  ].join("\n");
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
