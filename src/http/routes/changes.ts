import { streamSSE } from "hono/streaming";
import * as z from "zod";
import type { LogEntry } from "../../domain/change-set.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Lifecycle } from "../graceful-shutdown.ts";
import { authenticate } from "../middleware/authentication.ts";
import { defineOperation, type Operation, type OperationRequest } from "../operation.ts";
import { countTextSchema, createCountTextSchema, nameSchema, wholeNumberSchema } from "../schemas/fields.ts";
import { LOG_ENTRY_SCHEMA } from "../schemas/memory.ts";
import { toWire } from "../schemas/wire.ts";

/** How often a stream looks for changes, in ms. Another process may have made them, so it asks the memory store. */
const POLL_MS = 500;
/** A comment is sent this often, in ms, so that proxies keep the connection. The key is checked again then. */
const HEARTBEAT_MS = 15_000;
/** Streams that a server serves at once, and of these, for one key. */
const MAX_STREAMS = 200;
const MAX_STREAMS_PER_KEY = 20;
const PAGE_SIZE = 100;

const revisionTextSchema = createCountTextSchema(0, 999_999_999);
const CHANGES_QUERY = z.strictObject({
  user_id: nameSchema,
  after: revisionTextSchema.optional(),
  limit: countTextSchema.optional(),
});
const CHANGES_SCHEMA = z.object({
  user_id: z.string(),
  items: z.array(LOG_ENTRY_SCHEMA),
  after: wholeNumberSchema.describe("Send as `after` of the next request: also when nothing has changed yet"),
  more: z.boolean().describe("Whether there are further changes already"),
});

type ChangesRequest = OperationRequest<undefined, z.infer<typeof CHANGES_QUERY>>;

/** The number of open streams by key, for each server. */
const openStreams = new WeakMap<Lifecycle, Map<string, number>>();

/** The changes of a user's memory, in their order. */
export const changeOperations: readonly Operation[] = [
  defineOperation({
    id: "listChanges",
    method: "GET",
    path: "/api/v1/changes",
    tag: "History",
    summary: "Gives the changes of a user's memory after a revision, oldest first, or streams them",
    description:
      "Contains only ids. With `Accept: text/event-stream`, changes follow as server-sent events until either side ends; the id of an " +
      "event is its revision, and the header `Last-Event-ID` takes the place of `after`.",
    scope: "read",
    query: CHANGES_QUERY,
    hasNoDeadline: true,
    answers: {
      200: {
        says: "The changes.",
        schema: CHANGES_SCHEMA,
        others: { "text/event-stream": "events `change`, each with an entry of the history and `user_id`" },
      },
    },
    problems: [404],
    async handle(request) {
      const { exchange, query, memoryOf } = request;
      const memory = memoryOf(query.user_id);
      const isStream = exchange.req.header("accept")?.includes("text/event-stream") ?? false;
      const after = findStart(exchange.req.header("last-event-id"), query.after, isStream);
      const revision = await memory.revision();
      if (after > revision)
        throw invalid(
          "`after` lies ahead of the memory, which may have been restored. Start again without it.",
        );
      if (isStream) return streamChanges(request, memory, after);
      const items = await readChanges(memory, after, query.limit ?? PAGE_SIZE);
      const last = items.at(-1)?.revision ?? after;
      return exchange.json({
        user_id: query.user_id,
        items: items.map(toWire),
        after: last,
        more: last < revision,
      });
    },
  }),
];

/** The revision to start after. A client that connects again sends the header with its first address. */
function findStart(lastEventId: string | undefined, after = 0, isStream: boolean): number {
  if (!isStream || lastEventId === undefined || lastEventId === "") return after;
  const parsed = revisionTextSchema.safeParse(lastEventId);
  if (parsed.success) return parsed.data;
  throw invalid("the header Last-Event-ID is not from this stream.");
}

/** Reads the changes after a revision, oldest first. Revisions have no gaps. */
async function readChanges(memory: ScopedMemory, after: number, limit: number): Promise<LogEntry[]> {
  const newest = await memory.history(undefined, { before: after + limit + 1, limit });
  return newest.filter(({ revision }) => revision > after).reverse();
}

/** Takes a place for a stream; gives what frees it. Throws `over_quota` if there is none. */
function takePlace(server: Lifecycle, key: string): () => void {
  const open = openStreams.get(server) ?? new Map<string, number>();
  openStreams.set(server, open);
  const held = open.get(key) ?? 0;
  const total = [...open.values()].reduce((sum, count) => sum + count, 0);
  if (held >= MAX_STREAMS_PER_KEY || total >= MAX_STREAMS)
    throw new MemoryError("over_quota", "Too many streams of changes are open. Close one, or ask for pages.");
  open.set(key, held + 1);
  return () => {
    const left = (open.get(key) ?? 1) - 1;
    if (left === 0) open.delete(key);
    else open.set(key, left);
  };
}

function streamChanges(request: ChangesRequest, memory: ScopedMemory, after: number): Response {
  const { exchange, services, query, signal, bearer } = request;
  const free = takePlace(services.lifecycle, bearer?.key ?? "");
  const { promise, resolve } = Promise.withResolvers<void>();
  services.lifecycle.trackAfterAnswer(promise);
  const ended = new AbortController();
  const end = (): void => ended.abort();
  signal.addEventListener("abort", end, { once: true });
  exchange.header("cache-control", "no-store");
  return streamSSE(exchange, async (stream) => {
    stream.onAbort(end);
    try {
      await stream.write(": open\n\n");
      await follow({ request, memory, after, ended: ended.signal }, (entry) =>
        entry === undefined
          ? stream.write(": still here\n\n").then(() => {})
          : stream.writeSSE({
              id: String(entry.revision),
              event: "change",
              data: JSON.stringify({ user_id: query.user_id, ...(toWire(entry) as object) }),
            }),
      );
    } catch {
      // The connection ends, and the client begins again after the last event that it has.
    } finally {
      signal.removeEventListener("abort", end);
      free();
      resolve();
    }
  });
}

interface Following {
  readonly request: ChangesRequest;
  readonly memory: ScopedMemory;
  readonly after: number;
  readonly ended: AbortSignal;
}

/** Sends changes, and undefined for a heartbeat, until the client leaves, the server stops, or the key no longer counts. */
async function follow(
  { request, memory, after, ended }: Following,
  send: (entry: LogEntry | undefined) => Promise<void>,
): Promise<void> {
  const { exchange, services } = request;
  const isOver = (): boolean => ended.aborted || services.lifecycle.phase() !== "serving";
  let last = after;
  let checkedAt = performance.now();
  while (!isOver()) {
    const isNew = (await memory.revision()) > last;
    for (const entry of isNew ? await readChanges(memory, last, PAGE_SIZE) : []) {
      if (ended.aborted) return;
      await send(entry);
      last = entry.revision;
    }
    if (!isNew) await pause(POLL_MS, ended);
    if (performance.now() - checkedAt < HEARTBEAT_MS || isOver()) continue;
    checkedAt = performance.now();
    await services.keys.refresh();
    // Throws for a key that has been revoked or has expired.
    await authenticate(changeOperations[0] as Operation, exchange, services);
    await send(undefined);
  }
}

/** Waits, or until the signal fires. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
  });
}
