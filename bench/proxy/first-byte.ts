import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { person } from "../speed/made-up.ts";

const USAGE = `node bench/proxy/first-byte.ts [--turns N] [--memories M] [--json]

How much later the first byte of a streamed chat comes through the proxy than directly from the model's server, a mock
of OpenAI's on this machine that answers at once; and through the proxy with memory off. All in the same run, in turns, over kept connections, each of the three
programs a process of its own; the user has M memories (2,000), and each of the N turns (300) begins a conversation with words that
were never said before, after a hundred others. A moment lies between two requests, in which what was said is stored and understood.`;

const KEY = "a-key-for-the-measuring-alone";
const ROOT = join(import.meta.dirname, "../..");
/** Between two requests, in ms: nobody writes faster. */
const PAUSE_MS = 60;
/** A server runs for days: what is measured is how it runs then, not its first requests. */
const WARM_UP = 100;

const agent = new Agent({ keepAlive: true });
const children: ChildProcess[] = [];

/** A program of ours, and the first line of JSON that it prints. */
async function begun(args: readonly string[], environment: object = {}): Promise<{ url: string }> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "inherit"],
    // Its programs run in the environment that it runs in.
    env: { ...process.env, ...environment },
  });
  children.push(child);
  let text = "";
  for await (const part of child.stdout ?? []) {
    text += String(part);
    try {
      return JSON.parse(text) as { url: string };
    } catch {
      // Not all of it is there yet.
    }
  }
  throw new Error(`${args[0]} stopped before it said where it listens.`);
}

async function filled(path: string, memories: number): Promise<void> {
  const child = spawn(process.execPath, ["bench/speed/fill.ts", path, "1", "1", String(memories)], {
    cwd: ROOT,
  });
  const status = await new Promise((resolve) => child.once("exit", resolve));
  if (status !== 0) throw new Error("The user's memories could not be made.");
}

interface Times {
  readonly first: number;
  readonly last: number;
  readonly memory: unknown;
}

/** From the request to the first byte of the answer's body, and to the last, in ms. */
function asked(url: string, body: string, more: { readonly [name: string]: string } = {}): Promise<Times> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const asking = request(
      `${url}/chat/completions`,
      {
        method: "POST",
        agent,
        headers: {
          authorization: `Bearer ${KEY}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          ...more,
        },
      },
      (response) => {
        let first: number | undefined;
        response.on("data", () => {
          first ??= performance.now() - begun;
        });
        response.on("end", () => {
          if (response.statusCode !== 200 || first === undefined)
            reject(new Error(`status ${response.statusCode}`));
          else
            resolve({
              first,
              last: performance.now() - begun,
              memory: response.headers["x-keepsake-memory"],
            });
        });
      },
    );
    asking.on("error", reject);
    asking.end(body);
  });
}

function share(values: readonly number[], of: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return Math.round((sorted[Math.floor((sorted.length - 1) * of)] ?? 0) * 100) / 100;
}

const rowOf = (values: readonly number[]) => ({
  p50: share(values, 0.5),
  p95: share(values, 0.95),
  p99: share(values, 0.99),
});

async function measured(turns: number, memories: number): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-first-byte-"));
  try {
    const path = join(folder, "memory.db");
    await filled(path, memories);
    const upstream = await begun(["bench/proxy/upstream.ts"]);
    const keepsake = await begun(["src/cli/main.ts", "serve", "--db", path, "--port", "0", "--json"], {
      KEEPSAKE_API_KEY: KEY,
      OPENAI_API_KEY: "sk-none",
      OPENAI_BASE_URL: upstream.url,
      KEEPSAKE_EXTRACTOR: "rules",
    });
    return await compared({ direct: upstream.url, proxied: `${keepsake.url}/v1` }, turns, memories);
  } finally {
    agent.destroy();
    for (const child of children) child.kill();
    await Promise.all(children.map((child) => new Promise((resolve) => child.once("exit", resolve))));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compared(
  urls: { direct: string; proxied: string },
  turns: number,
  memories: number,
): Promise<object> {
  const one = person(1);
  const ways = ["direct", "off", "proxied"] as const;
  const times = { direct: [] as Times[], off: [] as Times[], proxied: [] as Times[] };
  for (let i = 0; i < turns + WARM_UP; i += 1) {
    const words = one.question(i, memories);
    const messages = [{ role: "user", content: words }];
    const body = JSON.stringify({ model: "gpt-4o-mini", user: one.name, stream: true, messages });
    // Who goes first changes with each turn.
    for (const way of i % 2 === 0 ? ways : ways.toReversed()) {
      const url = way === "direct" ? urls.direct : urls.proxied;
      const taken = await asked(url, body, way === "off" ? { "x-keepsake-memory": "off" } : {});
      if (i >= WARM_UP) times[way].push(taken);
      await pause(PAUSE_MS);
    }
  }
  const firsts = (way: (typeof ways)[number]): number[] => times[way].map(({ first }) => first);
  const later = firsts("proxied").map((taken, i) => taken - (firsts("direct")[i] ?? 0));
  return {
    turns,
    memories,
    with_memory: times.proxied.filter(({ memory }) => memory === "on").length,
    first_byte_ms: {
      direct: rowOf(firsts("direct")),
      memory_off: rowOf(firsts("off")),
      proxied: rowOf(firsts("proxied")),
      later: rowOf(later),
    },
    last_byte_ms: {
      direct: rowOf(times.direct.map(({ last }) => last)),
      proxied: rowOf(times.proxied.map(({ last }) => last)),
    },
  };
}

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "300" },
    memories: { type: "string", default: "2000" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(USAGE);
else {
  const result = await measured(Number(values.turns), Number(values.memories));
  console.log(values.json ? JSON.stringify(result) : JSON.stringify(result, undefined, 2));
}
