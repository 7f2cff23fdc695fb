import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { started } from "../../bench/load/server.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { option, printFigures, random } from "./kill.ts";
import { missingFrom } from "./missing.ts";
import { type LoadRequest, load } from "./server-load.ts";
import { slowUpstream } from "./slow-upstream.ts";

/** What a series of stops under load came to. */
export interface Stops {
  /** From the signal to the end of the process, in ms, one a round. */
  readonly exitMs: readonly number[];
  readonly acknowledged: number;
  /** Streams that were open when the signal came. */
  readonly streams: number;
  readonly faults: readonly string[];
}

/** A stream, or a request whose answer takes long, and what came of it. */
interface Opened {
  readonly form: Form;
  readonly status: number;
  readonly text: string;
  /** Whether the answer came to its end, and was not cut off. */
  readonly isWhole: boolean;
}

type Form = "chat" | "responses" | "conversation" | "unanswered chat";

const MOST_MS = 5000;
const LONGEST_ROUND_MS = 30_000;
/** Searches a second: so many that processes for them are begun. */
const SEARCHES = 70;
/** The first requests of all wait for what is loaded then. */
const WARM = 10;

/**
 * Stops a server with SIGTERM again and again, on one database: while clients write as fast as they can, search, and read streams that
 * a slow model never ends. It has to end with 0 within five seconds; each stream with an error in its own form; and
 * everything that was acknowledged must be in the file.
 */
export async function serverStops(rounds: number, seed: number): Promise<Stops> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-server-stop-"));
  const path = join(folder, "memory.db");
  const draw = random(seed);
  const exitMs: number[] = [];
  const acknowledged: LoadRequest[] = [];
  const faults: string[] = [];
  let streams = 0;
  try {
    for (let round = 0; round < rounds; round += 1) {
      const stop = await stoppedUnderLoad(path, draw() * 700, `stop${round}`);
      exitMs.push(Math.round(stop.ms));
      acknowledged.push(
        ...stop.made.filter(({ kind, status }) => kind === "write" && status > 0 && status < 300),
      );
      streams += stop.opened.length;
      faults.push(
        ...[...faultsOf(stop), ...(await missing(path, acknowledged))].map((one) => `stop ${round}: ${one}`),
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { exitMs, acknowledged: acknowledged.length, streams, faults };
}

interface Stop {
  readonly ms: number;
  readonly at: number;
  readonly exit: number | string;
  readonly made: readonly LoadRequest[];
  readonly opened: readonly Opened[];
}

async function stoppedUnderLoad(path: string, afterMs: number, mark: string): Promise<Stop> {
  await using upstream = await slowUpstream();
  const server = await started(path, {
    OPENAI_BASE_URL: upstream.url,
    OPENAI_MODEL: "slow",
    // The job that understands waits for the model, too.
    KEEPSAKE_UNDERSTAND_AFTER_MS: "0",
  });
  const forms: readonly Form[] = [
    "chat",
    "chat",
    "chat",
    "responses",
    "responses",
    "conversation",
    "conversation",
    "unanswered chat",
  ];
  const opened = forms.map((form, number) => open(server, form, `${mark}-${number}`));
  const asking = load(server, mark, ["write", "search", "write"]);
  const searching = setInterval(() => search(server), 1000 / SEARCHES);
  try {
    const begun = performance.now();
    while (written(asking.made) < WARM && performance.now() - begun < LONGEST_ROUND_MS) await rest(5);
    await rest(1200 + afterMs);
    const at = performance.now();
    const limit = setTimeout(() => server.child.kill("SIGKILL"), LONGEST_ROUND_MS);
    const exit = await server.end("SIGTERM");
    clearTimeout(limit);
    const ms = performance.now() - at;
    clearInterval(searching);
    await asking.stop();
    return { ms, at, exit, made: asking.made, opened: await Promise.all(opened) };
  } finally {
    clearInterval(searching);
    server.child.kill("SIGKILL");
  }
}

function written(made: readonly LoadRequest[]): number {
  return made.filter(({ status }) => status === 201).length;
}

const REQUESTS: { readonly [form in Form]: (user: string) => readonly [path: string, body: object] } = {
  chat: (user) => ["/v1/chat/completions", chatBody(user, { stream: true })],
  "unanswered chat": (user) => ["/v1/chat/completions", chatBody(user, {})],
  responses: (user) => ["/v1/responses", { model: "slow", user, input: "What do I use?", stream: true }],
  conversation: (user) => [
    "/api/v1/conversation",
    { user_id: user, message: "How should I plan my week?", stream: true },
  ],
};

function chatBody(user: string, more: object): object {
  return { model: "slow", user, messages: [{ role: "user", content: "What do I use?" }], ...more };
}

async function open({ url, key }: { url: string; key: string }, form: Form, user: string): Promise<Opened> {
  const [path, body] = REQUESTS[form](user);
  let status = 0;
  let text = "";
  try {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(2 * LONGEST_ROUND_MS),
      body: JSON.stringify(body),
    });
    status = response.status;
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
    return { form, status, text, isWhole: true };
  } catch {
    return { form, status, text, isWhole: false };
  }
}

function search({ url, key }: { url: string; key: string }): void {
  void fetch(`${url}/api/v1/memories/user-${Math.floor(performance.now()) % 12}/search`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    signal: AbortSignal.timeout(LONGEST_ROUND_MS),
    body: JSON.stringify({ query: "What do I use for work?" }),
  })
    .then((response) => response.text())
    .catch(() => {});
}

function faultsOf({ ms, at, exit, made, opened }: Stop): string[] {
  const asked = made.filter(({ sentAt, endedAt }) => sentAt < at && endedAt >= at);
  const broken = asked.filter(
    ({ kind, status, isWhole }) => kind !== "stream" && (!isWhole || status >= 300),
  );
  const late = made.filter(({ sentAt, status, isWhole }) => sentAt >= at && status > 0 && !isWhole);
  return [
    ...(exit === 0 ? [] : [`it ended with ${exit}`]),
    ...(ms <= MOST_MS ? [] : [`it took ${Math.round(ms)} ms`]),
    ...[...broken, ...late].map(
      ({ kind, status, error, sentAt }) =>
        `a ${kind} sent ${Math.round(sentAt - at)} ms from the signal: ${status} ${error ?? ""}`,
    ),
    ...opened
      .filter((one) => !isToldToEnd(one))
      .map(
        ({ form, status, text, isWhole }) =>
          `${form} ended with ${status} ${isWhole ? "whole" : "cut"} ${JSON.stringify(text.slice(-400))}`,
      ),
  ];
}

/** Whether it ended with an error in its own form, behind whole events. */
function isToldToEnd({ form, status, text, isWhole }: Opened): boolean {
  if (!isWhole) return false;
  if (form === "unanswered chat") return status === 503 && isOpenAiError(text);
  const events = text.split("\n\n").filter((event) => event !== "");
  const datas = events.map((event) => /^data: (.*)$/m.exec(event)?.[1] ?? "");
  if (status !== 200 || !datas.every(isJson)) return false;
  const last = events.at(-1) ?? "";
  const data = JSON.parse(datas.at(-1) ?? "null") as { code?: string; type?: string };
  if (form === "chat") return !last.startsWith("event:") && isOpenAiError(datas.at(-1) ?? "");
  if (form === "responses")
    return last.startsWith("event: error\n") && data.type === "error" && data.code === "unavailable";
  return last.startsWith("event: error\n") && data.code === "unavailable";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isOpenAiError(text: string): boolean {
  if (!isJson(text)) return false;
  const { error } = JSON.parse(text) as { error?: { message?: unknown; type?: unknown; code?: unknown } };
  return typeof error?.message === "string" && error.type === "server_error" && error.code === "unavailable";
}

async function missing(path: string, acknowledged: readonly LoadRequest[]): Promise<string[]> {
  const record = await openSqliteStore({ path });
  const faults = await missingFrom(record, acknowledged);
  await record.close();
  return faults;
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

if (import.meta.main) {
  // The built server is what is stopped.
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const rounds = option("rounds", 20);
  const { exitMs, acknowledged, streams, faults } = await serverStops(rounds, seed);
  for (const fault of faults.slice(0, 20)) console.error(fault);
  const sorted = exitMs.toSorted((one, other) => one - other);
  console.log(
    `${rounds} stops under load (seed ${seed}): ${acknowledged} writes acknowledged, ${streams} streams and chats open; to the exit ` +
      `${sorted[Math.floor(rounds / 2)]} ms (median), ${sorted.at(-1)} ms at most; ${faults.length} faults`,
  );
  printFigures("R1", {
    rounds,
    acknowledged,
    streams,
    exitMsMedian: sorted[Math.floor(rounds / 2)] ?? 0,
    exitMsMost: sorted.at(-1) ?? 0,
    faults: faults.length,
    seed,
  });
  process.exitCode = faults.length === 0 ? 0 : 1;
}
