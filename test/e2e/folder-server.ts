import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { MAIN } from "./shell.ts";

type Variables = { readonly [name: string]: string };

/** A server or a worker that was started in a folder, as a person starts it there. */
export interface FolderProgram {
  /** Where the server listens. */
  readonly url: string;
  /** All that it has printed. */
  printed(): string;
  /** Asks it to end; gives its exit status. */
  end(): Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Starts `keepsake serve` or `keepsake worker` in a folder, and waits until it says that it is ready. */
export async function startInFolder(
  folder: string,
  env: Variables,
  words: readonly string[] = ["serve", "--port", "0"],
): Promise<FolderProgram> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/listens on http:\S+,|runs the jobs of/);
  return {
    url: /listens on (http:\S+),/.exec(printed)?.[1] ?? "",
    printed: () => printed,
    async end() {
      running.delete(child);
      const ended = once(child, "close");
      child.kill("SIGTERM");
      return (await ended)[0] as number | null;
    },
  };
}

/** Ends, at once, what a test has left. */
export function endLeftovers(): void {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
}

/** Writes a `.env` file that only its owner can read. */
export function writeEnvFile(folder: string, variables: Variables): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, ".env"), lines.join(""), { mode: 0o600 });
}

/** Calls a server's API with a key. */
export async function callServer(
  { url }: Pick<FolderProgram, "url">,
  key: string,
  [method, path]: readonly [method: string, path: string],
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
): Promise<{ readonly status: number; readonly json: any; readonly text: string }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}
