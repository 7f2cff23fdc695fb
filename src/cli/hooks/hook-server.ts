import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { DatabaseSync } from "../../adapters/sqlite/node-sqlite.ts";
import { toStorableText } from "../../domain/limits.ts";
import type { Item } from "../../domain/recall.ts";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { formatDataBlock } from "../../engine/prompt-block.ts";
import { type ErrorCode, isMemoryError } from "../../errors.ts";
import { formatItems } from "../../mcp/lines.ts";
import type { HookRequest } from "./hook-events.ts";
import { type HookPlaces, logHook, nameProblem } from "./hook-places.ts";
import { listWaiting, readEvent } from "./hook-spool.ts";

/** Without an event for so long, the process ends, in ms. */
const IDLE_MS = 30 * 60_000;
/** Characters of a request as JSON. A query of 4,000 characters takes 24,000 if each is escaped. */
const MAX_REQUEST_LENGTH = 100_000;
/** Tokens of what is given at the start of a session: the profile, and what bears on its folder. */
const PROFILE_TOKENS = 500;
const FOLDER_TOKENS = 300;
/** Tokens of what is given with a prompt. */
const PROMPT_TOKENS = 500;
const ITEM_LIMIT = 6;
/** How long requests in progress are waited for at the end, in ms. A hook waits for less. */
const CLOSE_MS = 1000;

/** A process that has the memory open for hooks. */
interface HookServer {
  /** Resolves when it has been idle for a while. */
  readonly idle: Promise<void>;
  /** Takes no more events, and stores those that wait. */
  close(): Promise<void>;
}

/**
 * Opens the socket for the hooks of a database, and stores the events that wait: at once, and after each connection. The
 * caller has the claim from `claimHooks`. Throws if it cannot listen.
 */
export async function openHookServer(keepsake: Keepsake, places: HookPlaces): Promise<HookServer> {
  const idle = Promise.withResolvers<void>();
  const timer = setTimeout(() => idle.resolve(), IDLE_MS);
  const storing = createRounds(() => storeWaiting(keepsake, places));
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    timer.refresh();
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      // Only now: a prompt is not to be recalled to itself.
      storing.start();
    });
    answerSocket(socket, (line) => answerRequest(keepsake, places, line));
  });
  try {
    await listen(server, places.socket);
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
  storing.start();
  return {
    idle: idle.promise,
    async close() {
      clearTimeout(timer);
      const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.race([isClosed, pause(CLOSE_MS, undefined, { ref: false })]);
      for (const socket of sockets) socket.destroy();
      await isClosed;
      storing.start();
      await storing.wait();
    },
  };
}

/** Rounds of the same work, one after the other. */
interface Rounds {
  /** Runs another round after the present one. A round that has not begun serves for any number of calls. */
  start(): void;
  /** Resolves after the last round. */
  wait(): Promise<void>;
}

function createRounds(work: () => Promise<void>): Rounds {
  let last = Promise.resolve();
  let isWaiting = false;
  return {
    start() {
      if (isWaiting) return;
      isWaiting = true;
      last = last.then(() => {
        isWaiting = false;
        return work();
      });
    },
    wait: () => last,
  };
}

async function listen(server: Server, path: string): Promise<void> {
  // What a killed process has left. The claim says that no process listens there.
  if (process.platform !== "win32") rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ path, readableAll: false, writableAll: false }, resolve);
  });
}

function answerSocket(socket: Socket, answer: (line: string) => Promise<string>): void {
  let input = "";
  socket.setEncoding("utf8");
  socket.on("error", () => socket.destroy());
  socket.on("data", (text) => {
    input += text;
    if (input.length > MAX_REQUEST_LENGTH) {
      socket.destroy();
      return;
    }
    if (!input.endsWith("\n")) return;
    const line = input;
    input = "";
    void answer(line).then((given) => socket.end(`${JSON.stringify({ text: given })}\n`));
  });
}

/** Gives what a model is told, and nothing if that fails. */
async function answerRequest(keepsake: Keepsake, places: HookPlaces, line: string): Promise<string> {
  try {
    return await giveContext(keepsake, JSON.parse(line) as HookRequest);
  } catch (error) {
    logHook(places, { given: "failed", problem: nameProblem(error) });
    return "";
  }
}

const toMemory = (keepsake: Keepsake, { project, user, agent }: HookRequest): ScopedMemory =>
  keepsake.scope({ project, user, ...(agent === undefined ? {} : { agent }) });

/** What a model is told at an event; empty for nothing. */
async function giveContext(keepsake: Keepsake, request: HookRequest): Promise<string> {
  const { kind, text, folder } = request;
  if (kind === "reply") return "";
  if (kind === "prompt") return findLines(keepsake, request, { query: text, maxTokens: PROMPT_TOKENS });
  const profile = await toMemory(keepsake, request).profile({ maxTokens: PROFILE_TOKENS });
  const blocks = [
    formatDataBlock(profile.text, createNonce()),
    folder === undefined
      ? ""
      : await findLines(keepsake, request, { query: folder, maxTokens: FOLDER_TOKENS }),
  ];
  return blocks.filter((block) => block !== "").join("\n");
}

const createNonce = (): string => randomBytes(8).toString("hex");

/** What bears on a query, as fenced lines. What is copied from a terminal has colours, and characters that no query may have. */
async function findLines(
  keepsake: Keepsake,
  request: HookRequest,
  { query, maxTokens }: { readonly query: string; readonly maxTokens: number },
): Promise<string> {
  const { text } = toStorableText(stripVTControlCharacters(query));
  const { items } = await toMemory(keepsake, request).recall(text, { limit: ITEM_LIMIT });
  const others = items.filter((item) => !isOnlyFrom(item, request.id));
  const { promptGuard } = keepsake;
  return formatItems(others, text, { promptGuard, nonce: createNonce(), maxTokens }).text;
}

/** Whether an item comes from one message alone. An event that waits may be stored before its question is answered. */
function isOnlyFrom({ sources }: Item, message: string): boolean {
  return sources.length > 0 && sources.every((source) => source.message === message);
}

/** Stores the events that wait, and removes each when it is stored. Never throws: what fails is in the log, and waits on. */
async function storeWaiting(keepsake: Keepsake, places: HookPlaces): Promise<void> {
  try {
    for (const file of listWaiting(places)) await storeEvent(keepsake, places, file);
  } catch (error) {
    logHook(places, { stored: "waits", problem: nameProblem(error) });
  }
}

async function storeEvent(keepsake: Keepsake, places: HookPlaces, file: string): Promise<void> {
  try {
    const request = readEvent(file);
    if (request) await storeTurn(keepsake, places, request);
    else logHook(places, { stored: "unreadable" });
  } catch (error) {
    const isRefused = isMemoryError(error) && REFUSALS.has(error.code);
    logHook(places, { stored: isRefused ? "refused" : "waits", problem: nameProblem(error) });
    if (!isRefused) return;
  }
  // Not before it is committed. If this process is killed now, the next one stores it again: by its id, once.
  rmSync(file, { force: true });
}

/** What is refused so would be refused again. Everything else passes, such as a full disk. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(["invalid_input", "forbidden", "not_found", "unsupported"]);

/** Stores what was said. It erases nothing: to a coding assistant, "forget the old parser" is about code. */
async function storeTurn(keepsake: Keepsake, places: HookPlaces, request: HookRequest): Promise<void> {
  const { id, kind, text, session, at } = request;
  const role = kind === "prompt" ? ("user" as const) : ("assistant" as const);
  await toMemory(keepsake, request).remember(
    { id, role, content: text, at, ...(session === undefined ? {} : { session }) },
    { mayErase: false },
  );
  logHook(places, { stored: role });
}

/** How long a process waits for the one that has the claim, until it ends or answers, in ms. */
const CLAIM_MS = 30_000;
const CLAIM_PAUSE_MS = 50;

/** The right to be the process that has the memory open for hooks. It ends with the process, however that ends. */
interface HookClaim {
  /** Lets another process have it. */
  release(): void;
}

/**
 * Claims a database's hooks for this process. Gives undefined if another process has them and answers, or if it neither
 * answers nor ends for 30 seconds. Throws if the claim's file cannot be opened.
 */
export async function claimHooks(places: HookPlaces): Promise<HookClaim | undefined> {
  for (const end = performance.now() + CLAIM_MS; performance.now() < end; await pause(CLAIM_PAUSE_MS)) {
    const claim = tryClaim(places);
    if (claim) return claim;
    // This connection also has it store what waits.
    if (await isAnswered(places.socket)) return undefined;
  }
  return undefined;
}

/** The system's code for a file that another process has locked. */
const SQLITE_BUSY = 5;

/** A lock of SQLite: the operating system gives it to one process, and takes it back when that is killed. */
function tryClaim({ claim: path }: HookPlaces): HookClaim | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if ((error as { readonly errcode?: unknown }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const give = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => give(true));
    socket.once("error", () => give(false));
  });
}
