import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { spreadOf } from "../speed/measure.ts";
import { ask, type RequestKind, send } from "./generator.ts";
import { listeningUrl } from "./server.ts";

/** A plain server of Node, which tells how fast this machine is now: a loop of additions takes the same while memory is ten times as slow. */
export interface PlainServer {
  /** 1 where it answers as many requests a second as the whole load needs, less where this machine is slower. */
  pace(): Promise<number>;
  /** The latency in milliseconds of 95 of 100 searches of a light load on it, so many seconds long. */
  lightLoad(seconds: number): Promise<number>;
  end(): void;
}

const PROGRAM = join(import.meta.dirname, "plain-server.ts");
/** Requests that wait at once, one in eleven a write, and how long they are sent. */
const AT_ONCE = 8;
const SEARCHES_TO_A_WRITE = 10;
const SECONDS = 6;
/** Requests a second of the plain server where the load takes about half of what the measured server can do. */
const FULL_PACE = 600;
const LIGHT_LOAD: RequestKind = {
  name: "search",
  perSecond: 5,
  make: (number) => ({ path: "/searches", body: { query: `request ${number}` } }),
};

/** Starts it on a new database in a folder. */
export async function startPlainServer(folder: string): Promise<PlainServer> {
  const path = join(folder, "plain.db");
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
  const child = spawn(process.execPath, [PROGRAM, path], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await listeningUrl(child.stdout);
  return {
    async pace() {
      await countAnswers(url, SECONDS / 3);
      return Math.min(1, (await countAnswers(url, SECONDS)) / SECONDS / FULL_PACE);
    },
    async lightLoad(seconds) {
      const [searches] = await send({ url, key: "none" }, [LIGHT_LOAD], seconds);
      return spreadOf(searches?.latencies ?? []).p95;
    },
    end: () => child.kill(),
  };
}

/** How many requests are answered within so many seconds, where each of several loops sends its next when it has its answer. */
async function countAnswers(url: string, seconds: number): Promise<number> {
  const target = { url, key: "none", agent: new Agent({ keepAlive: true }) };
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const loop = async (): Promise<void> => {
    for (let number = 0; performance.now() < end; number += 1) {
      const path = number % (SEARCHES_TO_A_WRITE + 1) === 0 ? "/writes" : "/searches";
      const error = await ask(target, { path, body: { query: `request ${number}` } });
      if (error !== undefined) throw new Error(`The plain server answered with ${error}.`);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
  target.agent.destroy();
  return count;
}
