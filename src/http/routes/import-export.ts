import { ReadableStream } from "node:stream/web";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { IMPORT_FORMATS, type ImportFormatName } from "../../domain/operations/import-format.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import type { FileImportOptions, ImportProgress } from "../../engine/api/transfer-types.ts";
import { isMemoryError } from "../../errors.ts";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { isRefusal, refuse, toProblem } from "../problem.ts";
import { streamBody } from "../request-body.ts";
import { IMPORT_RESULT_SCHEMA } from "../schemas/memory.ts";
import { omitUndefined, toWire } from "../schemas/wire.ts";

/** Maximum bytes of one import. A larger one can be split, because known messages are skipped. */
const MAX_IMPORT_BYTES = 268_435_456;
const JSON_LINES_TYPES = ["application/x-ndjson", "application/jsonl"] as const;
/** What an import may be sent as: lines, one document, a text, or a picture that carries a card. */
const IMPORT_TYPES = [
  ...JSON_LINES_TYPES,
  "application/json",
  "text/plain",
  "application/octet-stream",
] as const;
/** Messages per commit. Between commits, the server handles other requests. */
const BATCH_SIZE = 20;

/** Lines of what was learnt that an answer lists. */
const MAX_LEARNT = 1000;

const IMPORT_QUERY = z.strictObject({
  extract: z.enum(["now", "later", "never"]).optional(),
  format: z.enum(IMPORT_FORMATS).optional(),
  dry_run: z
    .enum(["true", "false"])
    .transform((one) => one === "true")
    .optional(),
  import_id: z.string().min(1).max(128).optional(),
});

/** A Portable AI Memory 1.0; its own schema is public. */
const PORTABLE_MEMORY_SCHEMA: z.ZodType = z.record(z.string(), z.unknown());

/** Export of a user's memory in three formats, and import of a file. */
export const moveOperations: readonly Operation[] = [
  defineOperation({
    id: "exportUser",
    method: "GET",
    path: "/api/v1/export/{user_id}",
    tag: "Moving",
    summary: "Exports everything about a user",
    description:
      "As JSON lines: a header, the messages by turn, the memories with their sources, and their associations, in the library's " +
      "field names. As `pam`: the memories and relations as Portable AI Memory 1.0, signed, without the conversations. As " +
      "`markdown`: a list by topic. Both leave out memories that wait for a review.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: z.strictObject({ format: z.enum(["jsonl", "pam", "markdown"]).optional() }),
    answers: {
      200: {
        says: "The lines, streamed; or a file of another format.",
        schema: PORTABLE_MEMORY_SCHEMA,
        others: {
          [JSON_LINES_TYPES[0]]: "one JSON object per line",
          "text/markdown": "a list by topic",
        },
      },
    },
    hasNoDeadline: true,
    async handle({ exchange, path, query, signal, memoryOf }) {
      const { format = "jsonl" } = query;
      if (format !== "jsonl") {
        const options = { format, conversations: false } as const;
        const pieces = memoryOf(path.user_id).exportFiles(options)[Symbol.asyncIterator]();
        const first = await pieces.next();
        const name = first.done ? "export" : first.value.path;
        return exchange.body(toStream(encodePieces(first, pieces, ({ text }) => text)), 200, {
          "content-type": format === "pam" ? "application/json" : "text/markdown; charset=utf-8",
          "content-disposition": `attachment; filename="${name}"`,
        });
      }
      const lines = memoryOf(path.user_id).export({ signal })[Symbol.asyncIterator]();
      // An early error becomes a problem. A later one cuts the connection.
      const first = await lines.next();
      const encoded = encodePieces(first, lines, (line) => `${JSON.stringify(line)}\n`);
      return exchange.body(toStream(encoded), 200, {
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
    summary: "Imports a file: an export of Keepsake or of another program",
    description:
      "The format is recognised by the content. It is an export of ChatGPT, Claude, Gemini, mem0, Letta, Telegram or WhatsApp, " +
      "a character card, a Portable AI Memory, or JSON lines such as `{ id?, role?, content, name?, at?, session?, metadata? }`. " +
      "What is known by its id is skipped, so an interrupted import can be sent again. An import erases nothing. Undoing its " +
      "`revision` takes back all of it. A problem after a part was stored names the import, as `import_id` and `revision`.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    query: IMPORT_QUERY,
    rawBody: Object.fromEntries(IMPORT_TYPES.map((type) => [type, { says: "the file" }])),
    answers: { 200: { says: "What was imported, learnt and passed over.", schema: IMPORT_RESULT_SCHEMA } },
    problems: [409],
    hasNoDeadline: true,
    async handle({ exchange, path, query, signal, memoryOf }) {
      const type = exchange.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
      if (!IMPORT_TYPES.some((one) => one === type)) {
        throw refuse({
          status: 415,
          code: "invalid_input",
          detail: `Send the file with the header content-type: ${IMPORT_TYPES.join(", or ")}.`,
        });
      }
      const memory = memoryOf(path.user_id);
      const progress: StoredPart = {};
      try {
        const source = streamBody(exchange, MAX_IMPORT_BYTES);
        const { dry_run: dryRun = false, format, extract = "now", import_id: importId } = query;
        const options = omitUndefined({ dryRun, format: format ?? "auto", extract, importId, signal });
        return exchange.json(toWire(await importFile(memory, source, options, progress)));
      } catch (error) {
        if (!isMemoryError(error) && !isRefusal(error)) throw error;
        // The rest of the body is not read.
        const problem = toProblem(error);
        // A dry run has stored nothing.
        const { importId, revision } = (query.dry_run ? undefined : progress.last) ?? {};
        throw refuse({
          ...problem,
          ...(importId === undefined || revision === undefined ? {} : { stored: { importId, revision } }),
          headers: { ...problem.headers, connection: "close" },
        });
      }
    },
  }),
];

/** A chunk of a response has this many characters, or those ready after this many ms. */
const CHUNK_LENGTH = 65_536;
const CHUNK_MS = 5;

function toStream(chunks: AsyncIterable<Uint8Array>): globalThis.ReadableStream {
  return ReadableStream.from(chunks) as unknown as globalThis.ReadableStream;
}

/** Yields to other requests between chunks, because all pieces together may be 100 MB. */
async function* encodePieces<Piece>(
  first: IteratorResult<Piece>,
  pieces: AsyncIterator<Piece>,
  toText: (piece: Piece) => string,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let chunk = "";
  let begun = performance.now();
  for (let next = first; !next.done; next = await pieces.next()) {
    chunk += toText(next.value);
    if (chunk.length < CHUNK_LENGTH && performance.now() - begun < CHUNK_MS) continue;
    yield encoder.encode(chunk);
    await setImmediate();
    chunk = "";
    begun = performance.now();
  }
  if (chunk !== "") yield encoder.encode(chunk);
}

type ImportTotals = Pick<
  ImportProgress,
  "read" | "stored" | "known" | "memories" | "importId" | "revision" | "passedOver"
>;

/** How far an import has come, also if it fails. */
interface StoredPart {
  last?: ImportProgress;
}

async function importFile(
  memory: ScopedMemory,
  source: AsyncIterable<Uint8Array>,
  options: FileImportOptions & { readonly format: ImportFormatName },
  part: StoredPart,
): Promise<ImportTotals & Pick<ImportProgress, "learnt">> {
  const learnt: ImportProgress["learnt"][number][] = [];
  for await (const progress of memory.import(source, { ...options, batch: BATCH_SIZE })) {
    part.last = progress;
    learnt.push(...progress.learnt.slice(0, MAX_LEARNT - learnt.length));
    await setImmediate();
  }
  if (!part.last) throw new Error("an import always reports its end");
  const { done: _done, ...totals } = part.last;
  return { ...totals, learnt };
}
