import { type ChildProcess, fork, spawn } from "node:child_process";
import { join } from "node:path";
import { type Running, started } from "../../bench/load/server.ts";
import { type FromChild, idOf, type ToChild } from "./many-child.ts";
import { badgeOf, type Command, type CommandOutcome, outcomeOfError, sentenceOf } from "./many-commands.ts";

/** A process that uses the file, and a way to ask it. */
export interface Door {
  readonly kind: "library" | "server" | "command line" | "worker";
  ask(command: Command): Promise<CommandOutcome>;
  /** SIGKILL; what is asked afterwards starts it again. */
  kill(): Promise<void>;
  /** In good order. */
  end(): Promise<void>;
}

const CHILD = join(import.meta.dirname, "many-child.ts");
const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const UNKNOWN: CommandOutcome = { status: "unknown", code: "killed" };

/** A program with the library. The process stays for the next file. */
export interface LibraryChild {
  door(path: string): Door;
  stop(): void;
}

export function startLibrary(mutant = ""): LibraryChild {
  let child: ChildProcess | undefined;
  let numbered = 0;
  const open = new Map<number, (outcome: CommandOutcome) => void>();
  const begin = (): ChildProcess => {
    const one = fork(CHILD, {
      env: { ...process.env, MANY_MUTANT: mutant },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    one.on("message", ({ number, outcome }: FromChild) => {
      open.get(number)?.(outcome);
      open.delete(number);
    });
    one.once("exit", () => {
      if (child === one) child = undefined;
      for (const settle of open.values()) settle(UNKNOWN);
      open.clear();
    });
    return one;
  };
  const send = (message: Omit<ToChild, "number">): Promise<CommandOutcome> =>
    new Promise((settle) => {
      child ??= begin();
      numbered += 1;
      open.set(numbered, settle);
      child.send({ number: numbered, ...message }, (error) => {
        if (error) settle(UNKNOWN);
      });
    });
  return {
    door(path) {
      let opened: Promise<CommandOutcome> | undefined;
      return {
        kind: "library",
        async ask(command) {
          opened ??= send({ open: path });
          const { status, ...rest } = await opened;
          if (status !== "done") {
            opened = undefined;
            return { status: "refused", code: "code" in rest ? rest.code : "not opened" };
          }
          return await send({ command });
        },
        async kill() {
          opened = undefined;
          if (child !== undefined) await endedBy(child, "SIGKILL");
        },
        async end() {
          if (opened !== undefined) await send({ close: true });
          opened = undefined;
        },
      };
    },
    stop() {
      child?.kill("SIGKILL");
    },
  };
}

function endedBy(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((settle) => {
    if (child.exitCode !== null || child.signalCode !== null) return settle();
    child.once("exit", () => settle());
    child.kill(signal);
  });
}

/** `keepsake serve`, asked over HTTP. */
export function serverDoor(path: string): Door {
  let starting: Promise<Running> | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = await starting;
    starting = undefined;
    await running?.end(signal);
  };
  return {
    kind: "server",
    async ask(command) {
      starting ??= started(path);
      try {
        return await askServer(await starting, command);
      } catch {
        return UNKNOWN;
      }
    },
    kill: () => end("SIGKILL"),
    end: () => end("SIGTERM"),
  };
}

/** `keepsake`, a process for each command. */
export function commandDoor(path: string): Door {
  const running = new Set<ChildProcess>();
  return {
    kind: "command line",
    async ask(command) {
      const { words, input } = wordsOf(command);
      const child = spawn(process.execPath, [MAIN, ...words, "--db", path, "--json"], {
        env: { PATH: process.env.PATH ?? "" },
      });
      running.add(child);
      let [out, err] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        out += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        err += text;
      });
      child.stdin.on("error", () => {});
      child.stdin.end(input ?? "");
      const status = await new Promise<number | null>((settle) => child.once("close", settle));
      running.delete(child);
      return outcomeOfCommand(command, status, out, err);
    },
    async kill() {
      await Promise.all([...running].map((child) => endedBy(child, "SIGKILL")));
    },
    async end() {},
  };
}

/** `keepsake worker`, which is asked for nothing, and opens and closes the file. */
export function workerDoor(path: string): Door {
  const child = spawn(process.execPath, [MAIN, "worker", "--db", path, "--json"], {
    env: { PATH: process.env.PATH ?? "" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return {
    kind: "worker",
    ask: async () => ({ status: "refused", code: "unsupported" }),
    kill: () => endedBy(child, "SIGKILL"),
    end: () => endedBy(child, "SIGTERM"),
  };
}

interface Sending {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

async function askServer({ url, key }: Running, command: Command): Promise<CommandOutcome> {
  const sending = sendingOf(command);
  if (sending === undefined) return { status: "refused", code: "unsupported" };
  const lines = command.op === "import";
  const response = await fetch(`${url}${sending.path}`, {
    method: sending.method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(sending.body === undefined
        ? {}
        : { "content-type": lines ? "application/x-ndjson" : "application/json" }),
      ...(sending.key === undefined ? {} : { "idempotency-key": sending.key }),
    },
    ...(sending.body === undefined
      ? {}
      : { body: lines ? linesOf(sending.body as object[]) : JSON.stringify(sending.body) }),
  });
  const text = await response.text();
  if (!response.ok) return outcomeOfError(codeIn(text) ?? `status ${response.status}`);
  return outcomeOfAnswer(command, text);
}

function sendingOf(command: Command): Sending | undefined {
  switch (command.op) {
    case "remember": {
      const { user, word, id, key } = command;
      const message = { role: "user", content: sentenceOf(word), ...(id === undefined ? {} : { id }) };
      return { method: "POST", path: "/api/v1/messages", body: { user_id: user, messages: [message] }, key };
    }
    case "import":
      return { method: "POST", path: `/api/v1/import/${command.user}`, body: messagesOf(command.words) };
    case "add": {
      const body = { user_id: command.user, content: badgeOf(command.word) };
      return { method: "POST", path: "/api/v1/memories", body };
    }
    case "update":
      return { method: "PATCH", path: pathOf(command), body: { content: badgeOf(command.word) } };
    case "get":
      return { method: "GET", path: pathOf(command) };
    case "undo":
      return {
        method: "POST",
        path: `/api/v1/memories/${command.user}/undo`,
        body: { revision: command.revision },
      };
    case "forget":
      return {
        method: "POST",
        path: "/api/v1/erasures",
        body: { user_id: command.user, about: command.word },
      };
    case "erase-user":
      return { method: "DELETE", path: `/api/v1/memories/${command.user}/all` };
    case "list":
      return { method: "GET", path: `/api/v1/memories/${command.user}?limit=1000` };
    case "export":
      return { method: "GET", path: `/api/v1/export/${command.user}` };
    case "search": {
      const body = { query: `Do I use ${command.word}?` };
      return { method: "POST", path: `/api/v1/memories/${command.user}/search`, body };
    }
    default:
      return undefined;
  }
}

function pathOf({ user, id }: { readonly user: string; readonly id: string }): string {
  return `/api/v1/memories/${user}/${id}`;
}

function messagesOf(words: readonly string[]): object[] {
  return words.map((word) => ({ id: `i-${idOf(word)}`, role: "user", content: sentenceOf(word) }));
}

function linesOf(documents: readonly object[]): string {
  return documents.map((one) => `${JSON.stringify(one)}\n`).join("");
}

function outcomeOfAnswer(command: Command, text: string): CommandOutcome {
  if (command.op === "export" || command.op === "search" || command.op === "list")
    return { status: "done", text };
  const answer = JSON.parse(text) as {
    id?: string;
    content?: string;
    text?: string;
    complete?: boolean;
    revision?: number;
    receipt?: { revision: number };
    memories?: { id: string }[];
  };
  const revision = answer.revision ?? answer.receipt?.revision;
  const id = answer.id ?? answer.memories?.[0]?.id;
  return {
    status: "done",
    text: command.op === "get" ? (answer.content ?? answer.text ?? "") : answer.complete ? "complete" : "",
    ...(revision === undefined ? {} : { revision }),
    ...(id === undefined ? {} : { id }),
  };
}

function wordsOf(command: Command): { readonly words: readonly string[]; readonly input?: string } {
  const user = "user" in command ? ["--user", command.user] : [];
  switch (command.op) {
    case "remember":
      return { words: ["remember", sentenceOf(command.word), ...user] };
    case "get":
      return { words: ["get", command.id, ...user] };
    case "undo":
      return { words: ["undo", String(command.revision), ...user] };
    case "forget":
      return { words: ["forget", command.word, "--yes", ...user] };
    case "erase-user":
      return { words: ["forget", "--everything", "--yes", ...user] };
    case "list":
      return { words: ["list", ...user] };
    case "export":
      return { words: ["export", ...user] };
    case "search":
      return { words: ["recall", `Do I use ${command.word}?`, ...user] };
    case "doctor":
      return { words: ["doctor"] };
    case "backup":
      return { words: ["backup", command.file] };
    default:
      return { words: ["list", ...user] };
  }
}

/** What the server has no route for is not asked there. */
export function isForServer(command: Command): boolean {
  return sendingOf(command) !== undefined;
}

/** What the command line has no command for is not asked there. */
export function isForCommandLine({ op }: Command): boolean {
  return !["import", "add", "update"].includes(op);
}

function outcomeOfCommand(command: Command, status: number | null, out: string, err: string): CommandOutcome {
  if (status === null) return UNKNOWN;
  if (command.op === "doctor" && status === 1) return outcomeOfDoctor(out, err);
  if (status === 0) {
    const isRead = ["export", "search", "list", "doctor", "backup"].includes(command.op);
    return isRead
      ? { status: "done", text: command.op === "doctor" ? "" : out }
      : outcomeOfAnswer(command, out);
  }
  // 3: nothing was found.
  if (status === 3 && command.op !== "get") return { status: "done", text: "" };
  if (status === 3) return { status: "refused", code: "not_found" };
  return outcomeOfError(codeIn(`${out}${err}`) ?? `status ${status}: ${err.slice(0, 200)}`);
}

/** An erasure that another process has not verified yet, or was killed before it did, is no fault of the file. */
const UNVERIFIED = "it was not verified to the end";

/** What `doctor` said when it ended with 1. Text is a fault; a file that was locked for too long was not looked at. */
function outcomeOfDoctor(out: string, err: string): CommandOutcome {
  const code = codeIn(`${out}${err}`);
  if (code === "unavailable") return { status: "unknown", code };
  const said = out.startsWith("{") ? (JSON.parse(out) as DoctorReport) : undefined;
  const isSound = said?.healthy === true && said.faults?.length === 0;
  const isOpen = isSound && said.receipts?.every(({ problem }) => problem === UNVERIFIED);
  return { status: "done", text: isOpen ? "" : `it ended with 1: ${out}${err}` };
}

interface DoctorReport {
  readonly healthy?: boolean;
  readonly faults?: readonly unknown[];
  readonly receipts?: readonly { readonly problem: string }[];
}

function codeIn(text: string): string | undefined {
  return /"code":\s*"([a-z_]+)"/.exec(text)?.[1];
}
