import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import {
  formatHookOutput,
  HOOK_CLIENTS,
  type HookClient,
  type HookRequest,
  parseHookEvent,
} from "./hook-events.ts";
import { type HookPlaces, logHook, openHookPlaces } from "./hook-places.ts";

/** The time that a hook takes at most, from the start of its process, in ms. */
const DEADLINE_MS = 150;
/** The time that is left for the answer to be printed, in ms. */
const RESERVE_MS = 10;
/** How long an answer is waited for on a machine so busy that the time is up when the process has started, in ms. */
const LEAST_MS = 50;
/** Whatever hangs, such as a client that does not close stdin, ends then, in ms. */
const HARD_END_MS = 2000;
const MAX_INPUT_BYTES = 2_000_000;

interface HookOptions {
  readonly event: string;
  readonly client: HookClient;
  readonly db: string;
  readonly user: string;
  readonly project: string;
}

/**
 * Answers one event of a client: `hook EVENT --client NAME --db FILE [--user ID] [--project ID]`. This module loads nothing
 * of the memory, because a client waits for it. It always ends with status 0, and prints what the client understands or
 * nothing.
 */
export async function runHook(words: readonly string[]): Promise<void> {
  const end = setTimeout(() => process.exit(0), HARD_END_MS);
  let places: HookPlaces | undefined;
  let fields: object = { event: words[0] ?? "" };
  try {
    const options = parseHookWords(words);
    if (!options) return;
    fields = { event: options.event, client: options.client };
    places = openHookPlaces(options.db);
    const parsed = parseHookEvent(options.client, options.event, JSON.parse(await readInput()));
    if (!parsed) return logHook(places, { ...fields, result: "not used", ms: toElapsed() });
    const { user, project } = options;
    const request: HookRequest = { id: randomUUID(), ...parsed, user, project, at: new Date().toISOString() };
    const answer = await askMemory(places, request);
    if (answer === undefined) wakeMemory(places, options, request);
    const output = formatHookOutput(options.client, options.event, answer ?? "");
    if (output !== "") process.stdout.write(output);
    logHook(places, {
      ...fields,
      result: answer === undefined ? "waits" : output === "" ? "nothing" : "given",
      ms: toElapsed(),
    });
  } catch (error) {
    if (places) logHook(places, { ...fields, result: "failed", problem: toProblem(error), ms: toElapsed() });
  } finally {
    clearTimeout(end);
    process.exitCode = 0;
  }
}

/** The name of an error, never its message: that may quote what was said. */
function toProblem(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === "string" ? code : String(name ?? "Error");
}

const toElapsed = (): number => Math.round(performance.now());

function parseHookWords([event, ...rest]: readonly string[]): HookOptions | undefined {
  const value = (name: string): string | undefined => {
    const at = rest.indexOf(name);
    return at === -1 ? undefined : rest[at + 1];
  };
  const client = HOOK_CLIENTS.find((name) => name === value("--client"));
  const db = value("--db");
  if (event === undefined || client === undefined || db === undefined) return undefined;
  return { event, client, db, user: value("--user") ?? "me", project: value("--project") ?? "default" };
}

async function readInput(): Promise<string> {
  let size = 0;
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_INPUT_BYTES) throw new RangeError("the event is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Asks the process that has the memory open. Gives undefined if there is none, or if it is too slow. */
function askMemory({ socket: path }: HookPlaces, request: HookRequest): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let answer = "";
    const give = (text: string | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    // What was sent is handled even if nobody waits for the answer.
    const timer = setTimeout(
      () => give(isSent ? "" : undefined),
      Math.max(LEAST_MS, DEADLINE_MS - RESERVE_MS - performance.now()),
    );
    let isSent = false;
    socket.setEncoding("utf8");
    socket.once("connect", () => {
      socket.write(`${JSON.stringify(request)}\n`, () => {
        isSent = true;
      });
    });
    socket.on("data", (text) => {
      answer += text;
      if (!answer.endsWith("\n")) return;
      give((JSON.parse(answer) as { readonly text: string }).text);
    });
    socket.once("error", () => give(undefined));
    socket.once("close", () => give(isSent ? "" : undefined));
  });
}

/** Puts what was said where the next process finds it, and starts one. Nothing waits for it. */
function wakeMemory({ spool }: HookPlaces, { db }: HookOptions, request: HookRequest): void {
  if (request.kind !== "start") appendFileSync(spool, `${JSON.stringify(request)}\n`, { mode: 0o600 });
  const main = fileURLToPath(new URL("../main.js", import.meta.url));
  const child = spawn(process.execPath, [main, "hooks", "serve", "--db", db], {
    detached: true,
    stdio: "ignore",
  });
  child.once("error", () => {});
  child.unref();
}
