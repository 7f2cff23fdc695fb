import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
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
  for (const { pid } of existsSync(join(home, ".keepsake/hooks")) ? readLog() : []) if (pid) endProcess(pid);
  rmSync(home, { recursive: true, force: true });
});

const env = () => ({ PATH: process.env.PATH, HOME: home });
const folder = (): string => {
  const all = join(home, ".keepsake/hooks");
  return join(all, readdirSync(all)[0] ?? "");
};

/** Ends a process that a hook started, if it runs still. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

interface HookLine {
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

/** Runs the hook as a client does. */
async function hook(event: string, input: string): Promise<{ status: number; output: string }> {
  const args = [MAIN, "hook", event, "--client", "claude-code", "--db", db, "--user", "ana"];
  const child = spawn(process.execPath, args, { env: env(), stdio: ["pipe", "pipe", "ignore"] });
  let output = "";
  child.stdout.on("data", (text) => (output += text));
  child.stdin.end(input);
  const [status] = (await once(child, "exit")) as [number];
  return { status, output };
}

async function startServer() {
  const child = spawn(process.execPath, [MAIN, "hooks", "serve", "--db", db], {
    env: env(),
    stdio: "ignore",
  });
  await waitFor(() => readLog().some(({ server }) => server === "started"));
  return child;
}

async function waitFor(isTrue: () => boolean): Promise<void> {
  for (const end = Date.now() + 50_000; Date.now() < end; ) {
    try {
      if (isTrue()) return;
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
  expect(readdirSync(folder()).filter((name) => name.startsWith("waiting"))).toEqual([]);
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
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
