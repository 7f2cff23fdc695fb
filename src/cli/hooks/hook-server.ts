import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { basename, join } from "node:path";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { formatDataBlock } from "../../engine/prompt-block.ts";
import { getErrorCode, isRetryable } from "../../errors.ts";
import { formatItems } from "../../mcp/lines.ts";
import type { HookRequest } from "./hook-events.ts";
import { type HookPlaces, logHook } from "./hook-places.ts";

/** Without an event for so long, the process ends, in ms. */
const IDLE_MS = 30 * 60_000;
const MAX_REQUEST_LENGTH = 500_000;
/** Tokens of what is given at the start of a session, and with a prompt. */
const START_TOKENS = 800;
const PROMPT_TOKENS = 500;
const PROMPT_LIMIT = 6;

/** A process that has the memory open for hooks. */
interface HookServer {
  /** Resolves when it has been idle for a while. */
  readonly idle: Promise<void>;
  /** Finishes what is being stored. */
  close(): Promise<void>;
}

/** Opens the socket for the hooks of a database. Gives undefined if another process has it. */
export async function openHookServer(
  keepsake: Keepsake,
  places: HookPlaces,
): Promise<HookServer | undefined> {
  if (await isAnswered(places.socket)) return undefined;
  if (process.platform !== "win32") rmSync(places.socket, { force: true });
  const idle = Promise.withResolvers<void>();
  const timer = setTimeout(() => idle.resolve(), IDLE_MS);
  // One after the other: a reply is stored after the prompt that it answers.
  let storing: Promise<void> = Promise.resolve();
  const store = (request: HookRequest): void => {
    // Whatever fails with one event, the next is stored.
    storing = storing.then(() => storeTurn(keepsake, places, request)).catch(() => {});
  };
  const storeWaiting = (): void => {
    const waiting = takeWaiting(places);
    waiting.requests.forEach(store);
    if (waiting.requests.length > 0) void storing.then(waiting.remove);
  };
  const server = createServer((socket) => {
    timer.refresh();
    // A hook that was too late to ask has left its words, and knocks through another process.
    storeWaiting();
    answerSocket(socket, async (request) => {
      const text = await giveContext(keepsake, request);
      if (request.kind !== "start") store(request);
      return text;
    });
  });
  const isListening = await listen(server, places.socket);
  if (!isListening) {
    clearTimeout(timer);
    return undefined;
  }
  storeWaiting();
  return {
    idle: idle.promise,
    async close() {
      clearTimeout(timer);
      server.close();
      await storing;
    },
  };
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const give = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", () => give(true));
    socket.once("error", () => give(false));
  });
}

function listen(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ path, readableAll: false, writableAll: false }, () => resolve(true));
  });
}

function answerSocket(socket: Socket, answer: (request: HookRequest) => Promise<string>): void {
  let input = "";
  socket.setEncoding("utf8");
  socket.on("error", () => socket.destroy());
  socket.on("data", (text) => {
    input += text;
    if (input.length > MAX_REQUEST_LENGTH) socket.destroy();
    if (!input.endsWith("\n")) return;
    const line = input;
    input = "";
    void Promise.resolve()
      .then(() => answer(JSON.parse(line) as HookRequest))
      .catch(() => "")
      .then((given) => socket.end(`${JSON.stringify({ text: given })}\n`));
  });
}

const toMemory = (keepsake: Keepsake, { project, user }: HookRequest): ScopedMemory =>
  keepsake.scope({ project, user });

/** What a model is told at an event; empty for nothing. */
async function giveContext(keepsake: Keepsake, request: HookRequest): Promise<string> {
  const memory = toMemory(keepsake, request);
  const nonce = randomBytes(8).toString("hex");
  if (request.kind === "start") {
    const { text } = await memory.profile({ maxTokens: START_TOKENS });
    return formatDataBlock(text, nonce);
  }
  if (request.kind === "reply") return "";
  const query = request.text.slice(0, 4000);
  const { items } = await memory.recall(query, { limit: PROMPT_LIMIT });
  const { promptGuard } = keepsake;
  return formatItems(items, query, { promptGuard, nonce, maxTokens: PROMPT_TOKENS }).text;
}

/**
 * Stores what was said. It erases nothing: to a coding assistant, "forget the old parser" is about code. A failure is
 * in the log.
 */
async function storeTurn(keepsake: Keepsake, places: HookPlaces, request: HookRequest): Promise<void> {
  const { id, kind, text, session, at } = request;
  const role = kind === "prompt" ? ("user" as const) : ("assistant" as const);
  try {
    await toMemory(keepsake, request).remember(
      { id, role, content: text, at, ...(session === undefined ? {} : { session }) },
      { mayErase: false },
    );
    logHook(places, { stored: role });
  } catch (error) {
    // A full disk passes, so the words wait for the next process. What is refused would be refused again.
    if (isRetryable(error)) appendFileSync(places.spool, `${JSON.stringify(request)}\n`, { mode: 0o600 });
    logHook(places, { stored: isRetryable(error) ? "waits" : "refused", problem: getErrorCode(error) });
  }
}

/** Events that came while no process had the memory open. */
interface WaitingEvents {
  readonly requests: readonly HookRequest[];
  /** Removes their files, once they are stored. Until then, the next process would store them: by their ids, once. */
  remove(): void;
}

function takeWaiting({ folder, spool }: HookPlaces): WaitingEvents {
  if (existsSync(spool)) renameSync(spool, `${spool}.${Date.now()}`);
  const files = readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(spool)}.`))
    .sort()
    .map((name) => join(folder, name));
  const requests = files
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as HookRequest];
      } catch {
        // The last line of a process that was killed.
        return [];
      }
    });
  return {
    requests,
    remove: () => {
      for (const file of files) rmSync(file, { force: true });
    },
  };
}
