import { spawn } from "node:child_process";
import { join } from "node:path";
import { rounded } from "./measure.ts";

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");
const STARTS = 5;

/**
 * From the start of the built server's process to its answer to the first search, in milliseconds: the median of five.
 * The first start of all makes a key and is not counted.
 */
export async function serverStart(path: string, user: string, queries: readonly string[]): Promise<number> {
  const { key } = await start(path, user, queries[0] ?? "", undefined);
  const taken: number[] = [];
  for (let i = 1; i <= STARTS; i += 1) taken.push((await start(path, user, queries[i] ?? "", key)).taken);
  taken.sort((one, other) => one - other);
  return rounded(taken[Math.floor(STARTS / 2)] ?? 0);
}

async function start(path: string, user: string, query: string, known: string | undefined) {
  const began = performance.now();
  const server = spawn(process.execPath, [PROGRAM, "serve", "--db", path, "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  try {
    const { url, key: made } = await firstWords(server.stdout);
    if (!url)
      throw new Error("The server did not start. Is dist/ as new as src/? `npm run bench` sees to it.");
    const key = known ?? made;
    const response = await fetch(`${url}/api/v1/memories/${user}/search`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    await response.json();
    if (!response.ok) throw new Error(`The server answered a search with status ${response.status}.`);
    return { taken: performance.now() - began, key };
  } finally {
    server.kill();
    await ended;
  }
}

/** The document that the server prints when it listens. */
async function firstWords(output: AsyncIterable<Buffer>): Promise<{ url?: string; key?: string }> {
  let text = "";
  for await (const part of output) {
    text += part.toString();
    try {
      return JSON.parse(text) as { url?: string; key?: string };
    } catch {
      // Not all of it is there yet.
    }
  }
  throw new Error("The server stopped before it listened. Is dist/ built?");
}
