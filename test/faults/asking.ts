import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { ServerSurface, SurfaceOutcome } from "./table.ts";

/** A server under test, and what it has acknowledged. */
export interface ServerUnderTest {
  readonly url: string;
  readonly key: string;
  /** Ids of messages whose storing was acknowledged. */
  readonly acknowledged: string[];
  number: number;
}

const USER = "ana";
const PATIENCE_MS = 20_000;

/** Asks one thing of the server, and says what came of it. `leaves`: goes away in the middle of a stream. */
export async function ask(
  server: ServerUnderTest,
  surface: ServerSurface,
  leaves = false,
): Promise<SurfaceOutcome | string> {
  server.number += 1;
  const id = `m${server.number}`;
  const { path, body } = requestFor(surface, id, server.number);
  const leaving = new AbortController();
  try {
    const response = await fetch(`${server.url}${path}`, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), leaving.signal]),
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (surface === "stream" && response.ok) return await streamed(response, leaves ? leaving : undefined);
    const text = await response.text();
    if (response.ok && surface === "write") server.acknowledged.push(id);
    return outcomeOf(surface, response, JSON.parse(text) as Answer);
  } catch (error) {
    return `nothing: ${(error as Error).message}`;
  }
}

/** Stores so much that the server keeps the user's search columns when it ends. */
export async function fill(server: ServerUnderTest): Promise<void> {
  const messages = Array.from({ length: 250 }, (_, i) => ({
    id: `filling-${i}`,
    role: "user",
    content: `I put box ${i} on shelf ${i % 40}.`,
  }));
  const response = await fetch(`${server.url}/api/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
    body: JSON.stringify({ user_id: USER, messages }),
  });
  if (!response.ok) throw new Error(`filling was answered ${response.status}`);
  server.acknowledged.push(...messages.map(({ id }) => id));
}

interface Answer {
  readonly code?: string;
  readonly error?: { readonly message?: string };
  readonly choices?: readonly unknown[];
}

function outcomeOf(surface: ServerSurface, response: Response, answer: Answer): SurfaceOutcome | string {
  const { status, ok, headers } = response;
  if (ok) return surface === "chat" && !answer.choices?.length ? "an answer without a choice" : "well";
  const isChat = surface === "chat" || surface === "stream";
  if (isChat && answer.error?.message) return "own";
  if (status === 503 && answer.code === "unavailable" && headers.has("retry-after")) return "later";
  return `${status} ${JSON.stringify(answer).slice(0, 200)}`;
}

/** A stream that ends in `[DONE]` is whole. */
async function streamed(
  response: Response,
  leaving: AbortController | undefined,
): Promise<SurfaceOutcome | string> {
  let text = "";
  try {
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes as Uint8Array).toString("utf8");
      if (leaving && text.length > 0) leaving.abort();
    }
  } catch {
    return text.length > 0 ? "cut" : "nothing of the stream";
  }
  return /data: \[DONE\]\s*$/.test(text) ? "well" : "cut";
}

function requestFor(surface: ServerSurface, id: string, number: number): { path: string; body?: object } {
  const words = `I use Tool${number} for work.`;
  const chat = { model: "gpt-4o-mini", user: USER, messages: [{ role: "user", content: words }] };
  switch (surface) {
    case "chat":
      return { path: "/v1/chat/completions", body: chat };
    case "stream":
      return { path: "/v1/chat/completions", body: { ...chat, stream: true } };
    case "write":
      return {
        path: "/api/v1/messages",
        body: { user_id: USER, messages: [{ id, role: "user", content: words }] },
      };
    case "search":
      return { path: `/api/v1/memories/${USER}/search`, body: { query: "What do I use for work?" } };
    case "answer":
      return { path: "/api/v1/conversation", body: { user_id: USER, message: "What do I use for work?" } };
    case "ready":
      return { path: "/api/v1/ready" };
  }
}

/** The metrics that match: a name and some of its labels, as the table writes them. Their sum. */
export async function metric({ url, key }: ServerUnderTest, pattern: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
  const [, name = "", labels = ""] = /^([^{]+)(?:\{(.*)\})?$/.exec(pattern) ?? [];
  const wanted = labels.split(",").filter(Boolean);
  return (await response.text())
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

/** What is wrong in the file once the server has ended: damage, and what was acknowledged and is gone. */
export async function lost(path: string, { acknowledged }: ServerUnderTest): Promise<string[]> {
  const record = await openSqliteStore({ path });
  const faults = (await record.check()).map(({ place, problem }) => `${place}: ${problem}`);
  const { messages } = await record.since({ project: "default", user: USER }, 0, { units: false });
  const held = new Set(messages.map(({ id }) => id));
  await record.close();
  return [...faults, ...acknowledged.filter((id) => !held.has(id)).map((id) => `${id} is gone`)];
}
