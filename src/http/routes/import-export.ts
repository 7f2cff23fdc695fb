import { ReadableStream } from "node:stream/web";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import type { ExportLine, InputMessage, NewMemory, ScopedMemory } from "../../engine/api.ts";
import { isMemoryError } from "../../errors.ts";
import { addMissingLinks, type ExportedLink, readImportStream } from "../../formats/index.ts";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { refuse, toProblem } from "../problem.ts";
import { getContentLength, streamBody } from "../request-body.ts";
import { IMPORT_RESULT_SCHEMA } from "../schemas/memory.ts";

/** Maximum bytes of one import. A larger one can be split, because known messages are skipped. */
const MAX_IMPORT_BYTES = 268_435_456;
const JSON_LINES_TYPES = ["application/x-ndjson", "application/jsonl"] as const;
/** Messages per commit. Between commits, the server handles other requests. */
const BATCH_SIZE = 20;

const IMPORT_QUERY = z.strictObject({ extract: z.enum(["now", "later", "never"]).optional() });

/** Export and import of a user's memory as JSON lines. */
export const moveOperations: readonly Operation[] = [
  defineOperation({
    id: "exportUser",
    method: "GET",
    path: "/api/v1/export/{user_id}",
    tag: "Moving",
    summary: "Exports everything about a user as JSON lines",
    description:
      "A header, the messages by turn, the memories with their sources, and their associations, in the library's field names: the format of `keepsake export`.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    answers: {
      200: {
        says: "The lines, streamed.",
        others: { [JSON_LINES_TYPES[0]]: "one JSON object per line" },
      },
    },
    hasNoDeadline: true,
    async handle({ exchange, path, signal, memoryOf }) {
      const lines = memoryOf(path.user_id).export({ signal })[Symbol.asyncIterator]();
      // An early error becomes a problem. A later one cuts the connection.
      const first = await lines.next();
      const stream = ReadableStream.from(encodeLines(first, lines)) as unknown as globalThis.ReadableStream;
      return exchange.body(stream, 200, {
        "content-type": JSON_LINES_TYPES[0],
        "content-disposition": 'attachment; filename="keepsake-export.jsonl"',
      });
    },
  }),
  defineOperation({
    id: "importUser",
    method: "POST",
    path: "/api/v1/import/{user_id}",
    tag: "Moving",
    summary: "Imports messages as JSON lines",
    description:
      "Accepts an export, or lines such as `{ id?, role?, content, name?, at?, session?, metadata? }`. Messages with a known " +
      "id are skipped, so an interrupted import can be sent again. An import erases nothing.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    query: IMPORT_QUERY,
    rawBody: Object.fromEntries(JSON_LINES_TYPES.map((type) => [type, { says: "one JSON object per line" }])),
    answers: { 200: { says: "The number of imported messages and memories.", schema: IMPORT_RESULT_SCHEMA } },
    problems: [409],
    hasNoDeadline: true,
    async handle({ exchange, path, query, signal, memoryOf }) {
      const type = exchange.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
      if (!JSON_LINES_TYPES.some((one) => one === type)) {
        throw refuse({
          status: 415,
          code: "invalid_input",
          detail: `Send JSON lines with the header content-type: ${JSON_LINES_TYPES[0]}.`,
        });
      }
      const memory = memoryOf(path.user_id);
      await exchange.get("intake")?.begin(getContentLength(exchange));
      try {
        const source = streamBody(exchange.req.raw, MAX_IMPORT_BYTES);
        return exchange.json(
          await importMessages(memory, source, { extract: query.extract ?? "now", signal }),
        );
      } catch (error) {
        if (!isMemoryError(error)) throw error;
        // The rest of the body is not read.
        const problem = toProblem(error);
        throw refuse({ ...problem, headers: { ...problem.headers, connection: "close" } });
      }
    },
  }),
];

/** A chunk of a response has this many characters, or those ready after this many ms. */
const CHUNK_LENGTH = 65_536;
const CHUNK_MS = 5;

/** Yields to other requests between chunks, because all lines together may be 100 MB. */
async function* encodeLines(
  first: IteratorResult<ExportLine>,
  lines: AsyncIterator<ExportLine>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let piece = "";
  let begun = performance.now();
  for (let next = first; !next.done; next = await lines.next()) {
    piece += `${JSON.stringify(next.value)}\n`;
    if (piece.length < CHUNK_LENGTH && performance.now() - begun < CHUNK_MS) continue;
    yield encoder.encode(piece);
    await setImmediate();
    piece = "";
    begun = performance.now();
  }
  if (piece !== "") yield encoder.encode(piece);
}

interface ImportTotals {
  readonly read: number;
  readonly stored: number;
  readonly known: number;
  readonly memories: number;
}

async function importMessages(
  memory: ScopedMemory,
  source: AsyncIterable<Uint8Array>,
  options: { readonly extract: "now" | "later" | "never"; readonly signal: AbortSignal },
): Promise<ImportTotals> {
  const by: NewMemory[] = [];
  const links: ExportedLink[] = [];
  let repeated = 0;
  const messages = withoutRepeats(
    source,
    { onMemory: (one) => by.push(one), onLink: (one) => links.push(one) },
    () => {
      repeated += 1;
    },
  );
  let sum: ImportTotals = { read: 0, stored: 0, known: 0, memories: 0 };
  for await (const { read, stored, known, memories } of memory.import(messages, {
    ...options,
    batch: BATCH_SIZE,
  })) {
    sum = { read: read + repeated, stored, known: known + repeated, memories };
    await setImmediate();
  }
  const added = await addMissingMemories(memory, by);
  await addMissingLinks(memory, links);
  return { ...sum, memories: sum.memories + added };
}

/** Gives each message once: the first with each id. */
async function* withoutRepeats(
  source: AsyncIterable<Uint8Array>,
  { onMemory, onLink }: { onMemory: (memory: NewMemory) => void; onLink: (link: ExportedLink) => void },
  onRepeated: () => void,
): AsyncGenerator<InputMessage> {
  const seen = new Set<string>();
  for await (const { message, memory, link } of readImportStream(source)) {
    if (memory) onMemory(memory);
    if (link) onLink(link);
    if (!message) continue;
    if (message.id !== undefined && seen.has(message.id)) {
      onRepeated();
      continue;
    }
    if (message.id !== undefined) seen.add(message.id);
    yield message;
  }
}

/** Adds memories that come from no message and are not stored yet. Gives their number. */
async function addMissingMemories(memory: ScopedMemory, wanted: readonly NewMemory[]): Promise<number> {
  if (wanted.length === 0) return 0;
  const known = new Set<string>();
  for await (const { text } of memory.list({ status: "all", limit: 1000 })) known.add(text);
  let added = 0;
  for (const one of wanted) {
    if (known.has(one.text)) continue;
    known.add(one.text);
    const { memories } = await memory.add(one);
    if (memories.some(({ action }) => action === "added")) added += 1;
  }
  return added;
}
