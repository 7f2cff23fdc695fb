import { execFile } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Running, started } from "../../../bench/load/server.ts";
import { random } from "../../crash/kill.ts";

/** A request that changes something, as the log of a workload has it. */
export interface TracedRequest {
  /** Goes out as `x-request-id`, and comes back in the head of the answer. */
  readonly id: string;
  readonly kind: "tell" | "add" | "update" | "erase" | "remove" | "key" | "backup";
  readonly user: string;
  /** A word that stands in no other request: in what it stores, or in what it erases. */
  readonly word: string;
  /** The message, the memory, or the receipt of an erasure. */
  readonly target: string;
  /** The text that is stored. */
  readonly text: string;
  readonly status: number;
  /** Of an erasure: whether its receipt says that nothing is left. */
  readonly isComplete?: boolean;
}

const CLIENTS = 3;
const PROGRAM = join(import.meta.dirname, "../../../dist/cli/main.js");

/**
 * Runs a server on a new database, and clients that write, change and erase; each answer is awaited before the client's next
 * request. Two backups are made meanwhile, each by a process of its own. Gives every request that was answered.
 */
export async function runWorkload(options: {
  readonly folder: string;
  readonly seed: number;
  /** Requests of each client. */
  readonly requests: number;
  /** Settings of Node for the server, before the program. */
  readonly words: readonly string[];
  /** Where the end of each backup is noted, so that the trace holds it. */
  readonly marks: string;
}): Promise<TracedRequest[]> {
  const path = join(options.folder, "memory.db");
  const server = await started(path, {}, options.words);
  const log: TracedRequest[] = [];
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    runClient(server, log, { client, draw: random(options.seed + client), requests: options.requests }),
  );
  const backups = backUpTwice(path, options, log);
  await Promise.all([...clients, backups]);
  await server.end("SIGTERM");
  return log;
}

async function backUpTwice(
  path: string,
  { folder, marks }: { readonly folder: string; readonly marks: string },
  log: TracedRequest[],
): Promise<void> {
  for (const number of [1, 2]) {
    const id = `backup-${number}`;
    const target = join(folder, `${id}.copy`);
    await promisify(execFile)(process.execPath, [PROGRAM, "backup", target, "--db", path, "--json"]);
    appendFileSync(marks, `MARK ${id}\n`);
    log.push({ id, kind: "backup", user: "", word: "", target, text: "", status: 200 });
  }
}

/** What a client has stored and may still change or erase. */
interface Stored {
  readonly told: string[];
  readonly added: { readonly id: string; readonly word: string }[];
}

/** A request as it is to be sent. */
type Sending = Pick<TracedRequest, "kind" | "word" | "target" | "text"> & {
  readonly method: string;
  readonly route: string;
  readonly body?: unknown;
};

async function runClient(
  server: Running,
  log: TracedRequest[],
  { client, draw, requests }: { client: number; draw: () => number; requests: number },
): Promise<void> {
  const user = `user-${client}`;
  const stored: Stored = { told: [], added: [] };
  for (let number = 0; number < requests; number += 1) {
    const sending = chosen(user, `zq${client}x${number}k`, stored, draw);
    const made = await send(server, { ...sending, id: `q-${client}-${number}`, user });
    log.push(made);
    if (made.kind === "tell" && made.status < 300) stored.told.push(made.word);
    if (made.kind === "add" && made.target !== "") stored.added.push({ id: made.target, word: made.word });
  }
}

function chosen(user: string, word: string, { told, added }: Stored, draw: () => number): Sending {
  const chance = draw();
  const memory = added.at(-1);
  if (chance < 0.12 && told.length > 1) {
    const [erased = ""] = told.splice(Math.floor(draw() * told.length), 1);
    const body = { user_id: user, about: `Tool${erased}` };
    return {
      kind: "erase",
      word: erased,
      target: "",
      text: "",
      method: "POST",
      route: "/api/v1/erasures",
      body,
    };
  }
  if (chance >= 0.45 && chance < 0.5) {
    const body = { scopes: ["read"], label: word };
    return { kind: "key", word, target: "", text: "", method: "POST", route: "/api/v1/keys", body };
  }
  if (memory && chance >= 0.5 && chance < 0.75) return changed(user, word, memory, chance < 0.7, added);
  if (chance < 0.7) {
    const text = `I use Tool${word} for work. The day is grey.`;
    const body = { user_id: user, messages: [{ id: `m-${word}`, role: "user", content: text }] };
    return { kind: "tell", word, target: `m-${word}`, text, method: "POST", route: "/api/v1/messages", body };
  }
  const text = `The user owns a Boat${word}.`;
  const body = { user_id: user, content: text };
  return { kind: "add", word, target: "", text, method: "POST", route: "/api/v1/memories", body };
}

function changed(
  user: string,
  word: string,
  memory: Stored["added"][number],
  isKept: boolean,
  added: Stored["added"],
): Sending {
  const route = `/api/v1/memories/${user}/${memory.id}`;
  if (!isKept) {
    added.pop();
    return { kind: "remove", word: memory.word, target: memory.id, text: "", method: "DELETE", route };
  }
  const text = `The user owns a Ship${word}.`;
  return { kind: "update", word, target: memory.id, text, method: "PATCH", route, body: { content: text } };
}

interface Answer {
  readonly id?: string;
  readonly complete?: boolean;
}

async function send(
  { url, key }: Running,
  { method, route, body, ...request }: Sending & Pick<TracedRequest, "id" | "user">,
): Promise<TracedRequest> {
  const response = await fetch(`${url}${route}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "x-request-id": request.id,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = (text.startsWith("{") ? JSON.parse(text) : {}) as Answer;
  const isNamedByAnswer = request.kind === "add" || request.kind === "erase";
  return {
    ...request,
    status: response.status,
    target: isNamedByAnswer ? (answer.id ?? "") : request.target,
    ...(answer.complete === undefined ? {} : { isComplete: answer.complete }),
  };
}

if (import.meta.main) {
  const [, , folder = "", out = "", seed = "1", requests = "20", ...words] = process.argv;
  const log = await runWorkload({
    folder,
    seed: Number(seed),
    requests: Number(requests),
    words,
    marks: `${out}.marks`,
  });
  writeFileSync(out, JSON.stringify(log));
}
