import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import pg from "pg";

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");

/** A database of its own on a server of PostgreSQL. */
export interface OwnDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export async function ownDatabase(server: string): Promise<OwnDatabase> {
  const name = `keepsake_several_${randomBytes(6).toString("hex")}`;
  const asking = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await asking(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asking(`DROP DATABASE ${name} WITH (FORCE)`) };
}

/** The built worker, as a process of its own. */
export interface RunningWorker {
  /** Where it tells how it is. */
  readonly address: string;
  /** What it tells there, and the status of the answer: `{ http: 200, status: "ok", record: "ok", queue: "ok" }`. */
  health(): Promise<{ readonly [field: string]: unknown }>;
  readonly child: ChildProcess;
  /** Sends a signal and waits for the end; gives its exit code, or the signal that ended it, and how long that took (ms). */
  end(signal?: NodeJS.Signals): Promise<{ readonly exit: number | string; readonly tookMs: number }>;
}

/** Starts `keepsake worker` on a database, with these settings and nothing of this shell's. */
export async function startedWorker(
  database: string,
  settings: { readonly [name: string]: string },
): Promise<RunningWorker> {
  const child = spawn(process.execPath, [PROGRAM, "worker", "--db", database, "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...settings },
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? code ?? -1));
  });
  const address = await told(child.stdout);
  return {
    child,
    address,
    async health() {
      const answer = await fetch(address);
      return { ...((await answer.json()) as object), http: answer.status };
    },
    async end(signal = "SIGTERM") {
      const begun = performance.now();
      child.kill(signal);
      return { exit: await ended, tookMs: performance.now() - begun };
    },
  };
}

async function told(output: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const part of output) {
    text += part.toString();
    if (!text.includes("\n")) continue;
    const said = JSON.parse(text) as { health?: string; error?: { message: string } };
    if (said.health === undefined) throw new Error(`The worker did not start: ${said.error?.message}`);
    return said.health;
  }
  throw new Error("The worker stopped before it began. Is dist/ built?");
}
