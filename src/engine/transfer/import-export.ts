import { checkCount } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { toLocalTime } from "../../domain/time.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import { toShownMemory, type UsedMemoryPorts, withUsage } from "../admin/listings.ts";
import type { ExportLine, ImportOptions, ImportProgress, InputMessage } from "../api.ts";
import { isPresent } from "../associations/links.ts";
import { remember } from "../ingest/remember.ts";
import type { Ports } from "../ports.ts";

/** Memories whose use is read at once. */
const EXPORT_SLICE = 500;

/** All data of the user as JSON lines: a header, the messages by turn, the memories with their sources. */
export async function* exportLines(
  ports: Pick<Ports, "states"> & UsedMemoryPorts,
  scope: Scope,
): AsyncIterable<ExportLine> {
  const state = await ports.states.of(scope);
  const exportedAt = ports.clock().toISOString();
  yield { type: "keepsake", version: 1, user: scope.user, exportedAt };
  for (const message of state.messages.values()) {
    if (message.undone || (message.content === "" && !message.parts)) continue;
    yield { type: "message", message: { ...message, at: toLocalTime(message.at, message.zone) } };
  }
  const memories = [...state.memories.values()];
  for (let from = 0; from < memories.length; from += EXPORT_SLICE) {
    const shown = memories
      .slice(from, from + EXPORT_SLICE)
      // Content that was erased meanwhile is not exported.
      .flatMap(({ id }) => state.memories.get(id) ?? [])
      .filter(({ expiresAt }) => expiresAt === undefined || expiresAt > exportedAt)
      .map((memory) => toShownMemory(state, memory));
    for (const { decayScore: _now, ...memory } of await withUsage(ports, scope, shown))
      yield { type: "memory", memory };
  }
  for (const link of state.links) {
    if ([link.from, link.to].every((id) => isPresent(state.memories.get(id), exportedAt)))
      yield { type: "link", link };
  }
}

/**
 * Imports a conversation in batches: each batch completely or not at all. Skips existing ids, so that an
 * interrupted import resumes. An import erases nothing.
 */
export async function* importMessages(
  ports: Ports,
  scope: Scope,
  source: AsyncIterable<InputMessage> | Iterable<InputMessage>,
  options: ImportOptions = {},
): AsyncIterable<ImportProgress> {
  const size = checkCount(options.batch ?? 200, "batch", 1, 1000);
  const sum = { read: 0, stored: 0, known: 0, memories: 0 };
  for await (const batch of toBatches(source, size)) {
    options.signal?.throwIfAborted();
    const before = await ports.states.of(scope);
    const known = batch.filter(({ id }) => id !== undefined && before.messages.has(id)).length;
    const receipt = await storeBatch(ports, scope, batch, sum.read, options);
    sum.read += batch.length;
    sum.known += known;
    sum.stored += batch.length - known;
    sum.memories += receipt.memories.filter(({ action }) => action === "added").length;
    yield { ...sum, done: false };
  }
  yield { ...sum, done: true };
}

async function storeBatch(
  ports: Ports,
  scope: Scope,
  batch: readonly InputMessage[],
  before: number,
  options: ImportOptions,
): ReturnType<typeof remember> {
  try {
    return await remember(ports, scope, batch, {
      origin: "import",
      ...(options.extract ? { extract: options.extract } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (!isMemoryError(error) || before === 0) throw error;
    throw new MemoryError(error.code, `in the batch after message ${before}: ${error.message}`, {
      cause: error,
    });
  }
}

async function* toBatches<Entry>(
  source: AsyncIterable<Entry> | Iterable<Entry>,
  size: number,
): AsyncIterable<Entry[]> {
  let batch: Entry[] = [];
  for await (const entry of source) {
    batch.push(entry);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
