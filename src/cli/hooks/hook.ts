import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { dirname, resolve as resolvePath } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  formatHookOutput,
  HOOK_CLIENTS,
  type HookClient,
  type HookRequest,
  parseHookEvent,
} from "./hook-events.ts";
import { type HookPlaces, logHook, nameProblem, openHookPlaces } from "./hook-places.ts";
import { flushEvent, spoolEvent } from "./hook-spool.ts";

/** The time that a hook takes at most, from the start of its process, in ms. */
const DEADLINE_MS = 150;
/** The time that is left for the answer to be printed, in ms. */
const RESERVE_MS = 10;
/** What a hook has at least on a machine so busy that the time is up when its process has started, in ms. */
const LEAST_MS = 50;
/** Whatever hangs, such as a client that does not read what is printed, ends then, in ms. */
const HARD_END_MS = 1000;
const MAX_INPUT_BYTES = 2_000_000;
/** Characters of what is searched for. All of it is in the event that waits. */
const MAX_QUERY_LENGTH = 4000;
const MAX_ANSWER_LENGTH = 200_000;

interface HookOptions {
  readonly event: string;
  readonly client: HookClient;
  readonly db: string;
  readonly user: string;
  readonly project: string;
  readonly agent?: string;
}

/**
 * Answers one event of a client: `hook EVENT --client NAME --db FILE [--user ID] [--project ID] [--agent ID]`. This module
 * loads nothing of the memory, because a client waits for it. It always ends the process with status 0, and prints what the
 * client understands or nothing.
 */
export async function runHook(words: readonly string[]): Promise<void> {
  const endsAt = Math.max(DEADLINE_MS - RESERVE_MS, performance.now() + LEAST_MS);
  const end = (): never => process.exit(0);
  setTimeout(end, HARD_END_MS);
  process.on("uncaughtException", end);
  process.stdout.removeAllListeners("error").on("error", end);
  const options = parseHookWords(words);
  if (options) await answerEvent(options, endsAt);
  // What is open still, such as stdin, is not waited for.
  end();
}

async function answerEvent(options: HookOptions, endsAt: number): Promise<void> {
  const { event, client, user, project, agent } = options;
  let places: HookPlaces | undefined;
  const fields: { [name: string]: string } = { event, client };
  try {
    places = openHookPlaces(options.db);
    const parsed = parseHookEvent(client, event, await readInput(endsAt));
    if (!parsed) return logHook(places, { ...fields, result: "not used", ms: toElapsed() });
    const named = { user, project, ...(agent === undefined ? {} : { agent }) };
    const request: HookRequest = { id: randomUUID(), ...parsed, ...named, at: new Date().toISOString() };
    const isFlushed = keepEvent(places, request, fields);
    const answer = await askMemory(places, request, endsAt);
    if (answer === undefined) wakeMemory(options);
    const output = formatHookOutput(client, event, answer ?? "");
    if (output !== "") await print(output);
    logHook(places, { ...fields, result: describeResult(answer, output), ms: toElapsed() });
    await Promise.race([isFlushed, pause(toRest(endsAt))]);
  } catch (error) {
    if (places)
      logHook(places, { ...fields, result: "failed", problem: nameProblem(error), ms: toElapsed() });
  }
}

/** Puts what was said into a queue until it is stored. If that fails, the model still gets what is known. */
async function keepEvent(
  places: HookPlaces,
  request: HookRequest,
  fields: { [name: string]: string },
): Promise<void> {
  if (request.kind === "start") return;
  try {
    await flushEvent(spoolEvent(places, request));
  } catch (error) {
    fields.lost = nameProblem(error);
  }
}

function describeResult(answer: string | undefined, output: string): string {
  if (answer === undefined) return "waits";
  return output === "" ? "nothing" : "given";
}

const toElapsed = (): number => Math.round(performance.now());

const toRest = (endsAt: number): number => Math.max(0, endsAt - performance.now());

function print(output: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(output, () => resolve());
  });
}

function parseHookWords([event, ...rest]: readonly string[]): HookOptions | undefined {
  const value = (name: string): string | undefined => {
    const at = rest.indexOf(name);
    return at === -1 ? undefined : rest[at + 1];
  };
  const client = HOOK_CLIENTS.find((name) => name === value("--client"));
  const given = value("--db");
  if (event === undefined || client === undefined || given === undefined) return undefined;
  const db = resolvePath(given);
  const agent = value("--agent");
  return {
    event,
    client,
    db,
    user: value("--user") ?? "me",
    project: value("--project") ?? "default",
    ...(agent === undefined ? {} : { agent }),
  };
}

/**
 * Reads the event from stdin, as JSON. A client may keep stdin open, so it ends with the JSON, or when the time is up. Throws
 * if what came by then is not JSON.
 */
async function readInput(endsAt: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  await new Promise<void>((resolve, reject) => {
    // What has arrived by then counts, also if this process did not run meanwhile.
    setTimeout(() => setImmediate(resolve), toRest(endsAt));
    process.stdin.once("end", resolve).once("error", reject);
    process.stdin.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_INPUT_BYTES) return reject(new RangeError("the event is too long"));
      chunks.push(chunk);
      if (isLastChunk(chunk) && isJson(chunks)) resolve();
    });
  });
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/** Whether an object may end with a chunk. It saves the attempt to parse what is not complete. */
const isLastChunk = (chunk: Buffer): boolean => chunk.toString("latin1").trimEnd().endsWith("}");

function isJson(chunks: readonly Buffer[]): boolean {
  try {
    JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

/**
 * Asks the process that has the memory open, which also stores what waits. Gives undefined if there is none, or if it ends
 * meanwhile; nothing if it takes too long.
 */
function askMemory(
  { socket: path }: HookPlaces,
  request: HookRequest,
  endsAt: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let answer = "";
    let isConnected = false;
    const give = (text: string | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    // It stores what waits as soon as a hook has gone.
    const timer = setTimeout(() => give(isConnected ? "" : undefined), toRest(endsAt));
    socket.setEncoding("utf8");
    socket.once("connect", () => {
      isConnected = true;
      const text = request.text.trim().slice(0, MAX_QUERY_LENGTH);
      socket.write(`${JSON.stringify({ ...request, text })}\n`);
    });
    socket.on("data", (text) => {
      answer += text;
      if (answer.endsWith("\n")) give(parseAnswer(answer));
      else if (answer.length > MAX_ANSWER_LENGTH) give(undefined);
    });
    socket.once("error", () => give(undefined));
    socket.once("close", () => give(undefined));
  });
}

function parseAnswer(line: string): string | undefined {
  try {
    const { text } = JSON.parse(line) as { readonly text?: unknown };
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Starts a process that stores what waits. Nothing waits for it. */
function wakeMemory({ db }: HookOptions): void {
  const main = fileURLToPath(new URL("../main.js", import.meta.url));
  const child = spawn(process.execPath, [main, "hooks", "serve", "--db", db], {
    // The client's folder may hold the settings of another program.
    cwd: dirname(db),
    detached: true,
    stdio: "ignore",
  });
  child.once("error", () => {});
  child.unref();
}
