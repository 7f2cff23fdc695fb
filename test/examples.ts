import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A fenced block of a page. */
export interface PageExample {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** The `text` block that follows at once, if there is one: what the code prints. */
  readonly output?: string;
}

/** Every fenced block of a Markdown page. */
export function examplesOf(page: string, markdown: string): PageExample[] {
  const blocks = [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```$)?/gm)];
  return blocks.map((block) => ({
    page,
    line: markdown.slice(0, block.index).split("\n").length,
    language: block[1] ?? "",
    code: block[2] ?? "",
    ...(block[3] === undefined ? {} : { output: block[3] }),
  }));
}

/**
 * Runs a `console` block: lines that begin with `$ ` are commands (a `\` at the end carries on), the others what they
 * print, with `…` for an id. Commands run in one empty folder where `npx keepsake` is there; those that talk to port
 * 7420 find a server.
 */
export async function runConsole(
  example: PageExample,
  folder: string,
): Promise<{ printed: string; shown: string }> {
  const place = mkdtempSync(join(folder, "console-"));
  const environment = {
    PATH: [join(folder, "node_modules/.bin"), dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: place,
    KEEPSAKE_API_KEY: "ks_an-example-key-for-the-readme-only",
    KEY: "ks_an-example-key-for-the-readme-only",
    NO_COLOR: "1",
  };
  const server = example.code.includes("localhost:7420") ? await serve(place, environment) : undefined;
  try {
    let printed = "";
    for (const command of commandsOf(example.code)) {
      const text = server ? command.replaceAll("7420", String(server.port)) : command;
      const ran = spawnSync("bash", ["-c", text], { cwd: place, env: environment, encoding: "utf8" });
      printed += `$ ${command}\n${ran.stdout}`;
      if (ran.stdout !== "" && !ran.stdout.endsWith("\n")) printed += "\n";
      if (ran.status !== 0) printed += `(ended with ${ran.status})\n${ran.stderr}`;
    }
    return { printed: printed.replaceAll(ID, "…"), shown: example.code };
  } finally {
    await server?.stop();
  }
}

function commandsOf(code: string): string[] {
  return [...code.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map((match) => match[1] ?? "");
}

async function freePort(): Promise<number> {
  const socket = createServer();
  await new Promise<void>((resolve) => socket.listen(0, "127.0.0.1", resolve));
  const address = socket.address();
  await new Promise((resolve) => socket.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** A server on an empty database, ready to answer. */
async function serve(
  folder: string,
  environment: { readonly [name: string]: string | undefined },
): Promise<{ port: number; stop: () => Promise<void> }> {
  const port = await freePort();
  const main = join(import.meta.dirname, "../dist/cli/main.js");
  const child = spawn(
    process.execPath,
    [main, "serve", "--port", String(port), "--db", join(folder, "server.db")],
    {
      cwd: folder,
      env: environment,
      stdio: "ignore",
    },
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for (let attempt = 0; attempt < 100; attempt++) {
    const health = await fetch(`http://127.0.0.1:${port}/api/v1/health`).catch(() => undefined);
    if (health?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return { port, stop };
}
