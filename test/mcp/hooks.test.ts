import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
let home: string;
let db: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ks-"));
  db = join(home, "memory.db");
});
afterEach(() => {
  for (const pid of listStarted()) endProcess(pid);
  rmSync(home, { recursive: true, force: true });
});

const env = () => ({ PATH: process.env.PATH, HOME: home });
const folder = (): string => {
  const all = join(home, ".keepsake/hooks");
  return join(all, readdirSync(all)[0] ?? "");
};

/** The processes that hooks started for this database. Those that have just begun are in no log yet. */
function listStarted(): number[] {
  if (process.platform !== "linux")
    return existsSync(join(home, ".keepsake/hooks")) ? readLog().flatMap(({ pid }) => pid ?? []) : [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && readCommand(name).includes(db))
    .map(Number);
}

function readCommand(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    // It has ended.
    return [];
  }
}

/** Ends a process that a hook started, if it runs still. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

interface HookLine {
  readonly ms?: number;
  readonly pid?: number;
  readonly result?: string;
  readonly server?: string;
  readonly stored?: string;
}

const readLog = (): HookLine[] =>
  (existsSync(join(folder(), "hooks.log")) ? readFileSync(join(folder(), "hooks.log"), "utf8") : "")
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as HookLine);

const readWaiting = (): string[] => readdirSync(join(folder(), "waiting"));

interface HookRun {
  readonly status: number;
  readonly output: string;
}

/** Runs the hook as a client does. One that keeps stdin open ends it when the hook has ended. */
async function hook(event: string, input: string, keepsOpen = false): Promise<HookRun> {
  const args = [MAIN, "hook", event, "--client", "claude-code", "--db", db, "--user", "ana"];
  const child = spawn(process.execPath, args, { env: env(), stdio: ["pipe", "pipe", "ignore"] });
  let output = "";
  child.stdout.on("data", (text) => (output += text));
  child.stdin.on("error", () => {});
  child.stdin.write(input);
  if (!keepsOpen) child.stdin.end();
  const [status] = (await once(child, "exit")) as [number];
  return { status, output };
}

const spawnServer = (): ChildProcess =>
  spawn(process.execPath, [MAIN, "hooks", "serve", "--db", db], { env: env(), stdio: "ignore" });

async function startServer(): Promise<ChildProcess> {
  const child = spawnServer();
  await waitFor(() => readLog().some(({ server }) => server === "started"));
  return child;
}

/** Whether a process listens for hooks. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** Kills the process that has the memory open. Others may wait for its end. */
function killServers(): void {
  for (const { pid } of readLog()) if (pid) endProcess(pid);
}

/** The words of all messages of the user, in the order of their time. */
function listMessages(): string[] {
  const args = [MAIN, "export", "--db", db, "--user", "ana"];
  const { stdout } = spawnSync(process.execPath, args, { env: env(), encoding: "utf8" });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly message?: { readonly content: string } })
    .flatMap(({ message }) => (message ? [message.content] : []));
}

async function waitFor(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 50_000; Date.now() < end; ) {
    try {
      if (await isTrue()) return;
    } catch {
      // Not there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("it did not happen");
}

const prompt = (text: string, session = "s1"): string =>
  JSON.stringify({ session_id: session, prompt: text });

it("a prompt without a process that has the memory open is stored by the one that the hook starts", {
  timeout: 120_000,
}, async () => {
  expect(await hook("UserPromptSubmit", prompt("I live in Porto."))).toEqual({ status: 0, output: "" });
  await waitFor(() => readLog().some(({ stored }) => stored === "user"));
  await waitFor(() => readWaiting().length === 0);
  for (const path of [folder(), join(folder(), "waiting")]) expect(statSync(path).mode & 0o777).toBe(0o700);
  // It was started for this folder alone. The log names no words.
  expect(readFileSync(join(folder(), "hooks.log"), "utf8")).not.toContain("Porto");
  const child = spawn(process.execPath, [MAIN, "list", "--db", db, "--user", "ana", "--json"], {
    env: env(),
  });
  let listed = "";
  child.stdout.on("data", (text) => (listed += text));
  await once(child, "exit");
  expect(listed).toContain("The user lives in Porto.");
});

it("a server that hooks reach gives what is known, and stores prompts and replies once", {
  timeout: 180_000,
}, async () => {
  await hook("UserPromptSubmit", prompt("My cat is called Moss."));
  await waitFor(() => readLog().some(({ stored }) => stored === "user"));
  const outputs: string[] = [];
  // A busy machine may be too slow for the limit of time, so it is asked until it answers.
  await waitForAnswer(async () => {
    const { status, output } = await hook("UserPromptSubmit", prompt("What is my cat called?", "s2"));
    expect(status).toBe(0);
    if (output !== "") outputs.push(output);
    return outputs.length > 0;
  });
  const { hookSpecificOutput } = JSON.parse(outputs[0] ?? "");
  expect(hookSpecificOutput).toEqual({
    hookEventName: "UserPromptSubmit",
    additionalContext: expect.stringMatching(/^<keepsake-[0-9a-f]{16}>[\s\S]*Moss/),
  });
  expect(
    (await hook("Stop", JSON.stringify({ session_id: "s2", last_assistant_message: "Moss." }))).output,
  ).toBe("");
  await waitFor(() => readLog().some(({ stored }) => stored === "assistant"));
});

async function waitForAnswer(ask: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 40; i += 1) if (await ask()) return;
  throw new Error("no hook was quick enough in 40 tries");
}

it.each([
  ["what is no JSON", "UserPromptSubmit", "{"],
  ["nothing", "Stop", ""],
  ["an unknown event", "Nonsense", "{}"],
  ["another shape", "UserPromptSubmit", "[1]"],
])("a hook that gets %s ends with 0 and prints nothing", async (_what, event, input) => {
  expect(await hook(event, input)).toEqual({ status: 0, output: "" });
});

it("a hook ends with 0 if its files cannot be written", async () => {
  const args = [MAIN, "hook", "UserPromptSubmit", "--client", "codex", "--db", db];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: "/dev/null" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.end(prompt("I live in Porto."));
  const [status] = await once(child, "exit");
  expect(status).toBe(0);
});

it("two servers for one database do not disturb each other", { timeout: 120_000 }, async () => {
  const first = await startServer();
  const second = spawn(process.execPath, [MAIN, "hooks", "serve", "--db", db], {
    env: env(),
    stdio: "ignore",
  });
  expect((await once(second, "exit"))[0]).toBe(0);
  expect(first.exitCode).toBeNull();
  first.kill("SIGTERM");
  expect((await once(first, "exit"))[0]).toBe(0);
});

it("a prompt is stored once if the process with the memory is killed as soon as it has answered", {
  timeout: 300_000,
}, async () => {
  const prompts = Array.from({ length: 6 }, (_, i) => `My cat number ${i} is called Moss.`);
  for (const text of prompts) {
    spawnServer();
    await waitFor(() => isAnswered(join(folder(), "socket")));
    expect((await hook("UserPromptSubmit", prompt(text))).status).toBe(0);
    killServers();
  }
  spawnServer();
  await waitFor(() => readWaiting().length === 0);
  expect(listMessages().sort()).toEqual(prompts);
});

it("an event as long as events may be is stored, also if each of its characters is escaped", {
  timeout: 120_000,
}, async () => {
  await startServer();
  const end = "The parser is done.";
  const text = `${"\u0001".repeat(100_000 - end.length)}${end}`;
  await hook("Stop", JSON.stringify({ session_id: "s1", last_assistant_message: text }));
  await waitFor(() => readLog().some(({ stored }) => stored === "assistant"));
  expect(listMessages()).toEqual([expect.stringMatching(/The parser is done\.$/)]);
});

it.each([
  ["a whole event", prompt("I live in Porto."), "waits"],
  ["a part of one", '{"session_id": "s1", "prompt": "I live', "failed"],
])(
  "a hook whose client sends %s and keeps stdin open ends by itself, with 0",
  async (_what, input, result) => {
    expect(await hook("UserPromptSubmit", input, true)).toEqual({ status: 0, output: "" });
    const line = readLog().find((one) => one.result !== undefined);
    expect(line?.result).toBe(result);
    expect(line?.ms).toBeLessThan(2000);
  },
);

it.each([
  ["what is no JSON", "no JSON\n"],
  ["null", "null\n"],
  ["a number", '{"text":7}\n'],
  ["nothing", ""],
  ["more than it reads", "x".repeat(300_000)],
])(
  "a hook that another program answers with %s ends with 0, prints nothing and keeps the prompt",
  async (_what, answer) => {
    await hook("Nonsense", "{}");
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", () => socket.end(answer));
    });
    await new Promise<void>((resolve) => server.listen(join(folder(), "socket"), resolve));
    expect(await hook("UserPromptSubmit", prompt("I live in Porto."))).toEqual({ status: 0, output: "" });
    server.close();
    await waitFor(() => readWaiting().length === 1 || readLog().some(({ stored }) => stored === "user"));
  },
);

it("the log is shown without the lines that are not complete", async () => {
  await hook("Nonsense", "{}");
  appendFileSync(join(folder(), "hooks.log"), '{"at":"2026-\n');
  await hook("Nonsense", "{}");
  for (const options of [[], ["--json"]]) {
    const args = [MAIN, "hooks", "log", "--db", db, ...options];
    const { status, stdout } = spawnSync(process.execPath, args, { env: env(), encoding: "utf8" });
    expect([status, stdout.match(/not used/g)?.length]).toEqual([0, 2]);
  }
});

it("of three processes that begin at once, in any of 40 rounds, one listens for hooks", {
  timeout: 300_000,
}, async () => {
  const waiting = join(home, "waiting");
  mkdirSync(waiting);
  const socket = join(home, "socket");
  const places = { socket, waiting, claim: join(home, "claim.db"), log: join(home, "hooks.log") };
  const program = join(import.meta.dirname, "hook-claims.ts");
  const children = Array.from({ length: 3 }, () => fork(program, { stdio: "ignore" }));
  try {
    await Promise.all(children.map((child) => once(child, "message")));
    for (let round = 0; round < 40; round += 1) {
      await leaveSocket(socket);
      const answers = children.map((child) => once(child, "message"));
      for (const child of children) child.send(places);
      const listens = (await Promise.all(answers)).map(([message]) => message as boolean);
      expect(listens.filter(Boolean)).toEqual([true]);
      expect(await isAnswered(socket)).toBe(true);
      const ends = children.map((child) => once(child, "message"));
      for (const child of children) child.send("end");
      await Promise.all(ends);
      expect(await isAnswered(socket)).toBe(false);
    }
  } finally {
    for (const child of children) child.kill("SIGKILL");
  }
});

/** Leaves a socket behind that nobody listens on, as a killed process does. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.made`, resolve));
  linkSync(`${path}.made`, `${path}.left`);
  await new Promise((resolve) => server.close(resolve));
  renameSync(`${path}.left`, path);
}
