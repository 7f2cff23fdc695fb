import { once } from "node:events";
import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { isSameFile } from "../../adapters/sqlite/files/backup.ts";
import type { ExportLine, InputMessage, ScopedMemory } from "../../engine/api.ts";
import { parseMessages } from "../../engine/ingest/parse-messages.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import {
  addMissingLinks,
  detectFormat,
  type ExportedLink,
  FORMATS,
  type ImportedMessage,
  type ImportFormat,
  readAddedMemories,
  readExportedLinks,
} from "../../formats/index.ts";
import { toWire } from "../../http/wire.ts";
import { EXIT, toShownError } from "../exit.ts";
import { createProgressBar, formatCount, formatDay, type ProgressBar } from "../printer.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../with-memory.ts";

interface ImportCommandOptions extends CommonOptions {
  readonly format?: ImportFormat | "auto";
  readonly dryRun?: boolean;
}

/** The result for one file. */
interface ImportFileReport extends CheckedFile {
  readonly file: string;
  readonly format: ImportFormat;
  readonly stored?: number;
  readonly known?: number;
  readonly memories?: number;
}

/** Checks all files before it stores anything: an error in any file means that nothing is stored. */
export async function runImport(files: readonly string[], options: ImportCommandOptions): Promise<void> {
  await withMemory(options, options.dryRun ? "reads" : "writes", async (context) => {
    const { print, clock } = context;
    const bar = createProgressBar(print.json);
    try {
      const checked: ImportFileReport[] = [];
      for (const file of files) {
        checked.push(
          await withFileName(file, " Nothing was stored.", () =>
            checkImport(file, options.format ?? "auto", clock, bar),
          ),
        );
      }
      const reports: ImportFileReport[] = [];
      for (const file of checked) {
        reports.push(
          options.dryRun ? file : await withFileName(file.file, "", () => importFile(context, file, bar)),
        );
      }
      bar.end();
      print.result({ files: reports, ...sumReports(reports) }, () => reports.map(formatReport));
      const { model } = context.settings;
      if (model && !options.dryRun) {
        print.note(`Processed by rules so far. ${model.model} continues when \`keepsake serve\` runs.`);
      }
      return EXIT.done;
    } finally {
      bar.end();
    }
  });
}

/** Adds the file's name to an error in a file. */
async function withFileName<Result>(file: string, end: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isMemoryError(error) || error.message.startsWith("database ")) throw error;
    throw new MemoryError(error.code, `${file}: ${error.message}${end}`, { cause: error });
  }
}

async function checkImport(
  file: string,
  named: ImportFormat | "auto",
  clock: () => Date,
  bar: ProgressBar,
): Promise<ImportFileReport> {
  const format = named === "auto" ? await detectFormat(file) : named;
  const checked = await checkFile(FORMATS[format](file), clock, (read) => {
    bar.show(0, undefined, `Reading ${file}: ${formatCount(read, "message")}`);
  });
  return { file, format, ...checked };
}

async function importFile(
  { memory }: CommandContext,
  checked: ImportFileReport,
  bar: ProgressBar,
): Promise<ImportFileReport> {
  const { file, format, read, repeated } = checked;
  const total = read - repeated;
  let last = { stored: 0, known: 0, memories: 0 };
  for await (const { read: done, stored, known, memories } of memory.import(withoutRepeats(file, format))) {
    last = { stored, known: known + repeated, memories };
    bar.show(
      done,
      total,
      `${done} of ${formatCount(total, "message")}, ${formatCount(memories, "memory", "memories")}`,
    );
    // Storing is one long computation. This lets the program handle an interrupt.
    await setImmediate();
  }
  const added = format === "keepsake" ? await addMissingMemories(memory, file) : 0;
  if (format === "keepsake") {
    const links: ExportedLink[] = [];
    for await (const link of readExportedLinks(file)) links.push(link);
    await addMissingLinks(memory, links);
  }
  return { ...checked, ...last, memories: last.memories + added };
}

/** Gives each message once: the first with each id. */
async function* withoutRepeats(file: string, format: ImportFormat): AsyncIterable<InputMessage> {
  const seen = new Set<string>();
  for await (const { message } of FORMATS[format](file)) {
    if (message.id !== undefined && seen.has(message.id)) continue;
    if (message.id !== undefined) seen.add(message.id);
    yield message;
  }
}

/** Adds memories that come from no message and are not stored yet. Gives their number. */
async function addMissingMemories(memory: ScopedMemory, file: string): Promise<number> {
  const known = new Set<string>();
  for await (const { text } of memory.list({ status: "all" })) known.add(text);
  let added = 0;
  for await (const entry of readAddedMemories(file)) {
    if (known.has(entry.text)) continue;
    known.add(entry.text);
    const { memories } = await memory.add(entry);
    if (memories.some(({ action }) => action === "added")) added += 1;
  }
  return added;
}

function sumReports(reports: readonly ImportFileReport[]): { readonly [field: string]: number } {
  const sum = (field: "read" | "stored" | "known" | "memories"): number =>
    reports.reduce((total, report) => total + (report[field] ?? 0), 0);
  return { read: sum("read"), stored: sum("stored"), known: sum("known"), memories: sum("memories") };
}

function formatReport({
  file,
  format,
  read,
  sessions,
  stored,
  known = 0,
  memories = 0,
  from,
  to,
}: ImportFileReport): string {
  const what = `${file} (${format}): ${formatCount(read, "message")}`;
  if (stored === undefined) {
    const span = from && to ? `, said from ${formatDay(from)} to ${formatDay(to)}` : "";
    const where = sessions > 0 ? ` in ${formatCount(sessions, "session")}` : "";
    return `${what}${where}${span}. Nothing was stored.`;
  }
  return `${what} read, ${stored} stored, ${known} already known; ${formatCount(memories, "new memory", "new memories")}.`;
}

/** The content of a checked file. */
export interface CheckedFile {
  readonly read: number;
  /** The number of messages whose id an earlier message has. */
  readonly repeated: number;
  readonly sessions: number;
  /** The earliest and latest time of the messages that have one. */
  readonly from?: string;
  readonly to?: string;
}

const SCOPE = { project: "default", user: "me" };
const REPORT_EVERY = 1000;

/**
 * Reads an import and checks each message as storing does. Throws `invalid_input` with the place in the file of the first
 * invalid message.
 */
export async function checkFile(
  entries: AsyncIterable<ImportedMessage>,
  clock: () => Date,
  onRead: (read: number) => void,
): Promise<CheckedFile> {
  const ids = new Set<string>();
  const sessions = new Set<string>();
  const span: { from?: string; to?: string } = {};
  let [read, repeated] = [0, 0];
  for await (const entry of entries) {
    const checked = checkMessage(entry, clock);
    read += 1;
    // An empty message is not stored.
    if (!checked) continue;
    const { id, at, session } = checked;
    if (ids.has(id)) repeated += 1;
    ids.add(id);
    if (session !== undefined) sessions.add(session);
    if (entry.message.at !== undefined) extendSpan(span, at);
    if (read % REPORT_EVERY === 0) onRead(read);
  }
  return { read, repeated, sessions: sessions.size, ...span };
}

function extendSpan(span: { from?: string; to?: string }, at: string): void {
  if (span.from === undefined || at < span.from) span.from = at;
  if (span.to === undefined || at > span.to) span.to = at;
}

function checkMessage({ place, message }: ImportedMessage, clock: () => Date) {
  try {
    // Checked alone, not in a batch: the error names the place in the file instead.
    if (typeof message.content === "string" && message.content.trim() === "") return undefined;
    return parseMessages({ clock, ids: () => place }, SCOPE, message, { origin: "import" }).messages[0];
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    throw new MemoryError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}

/** Writes JSON lines to a file or to stdout; with `--json` and no file, one JSON document. */
export async function runExport(file: string | undefined, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print, path }) => {
    if (file === undefined) {
      await (print.json ? writeDocument(memory, process.stdout) : writeLines(memory, process.stdout));
      return EXIT.done;
    }
    refuseDatabase(file, path);
    const lines = await writeFile(memory, file);
    print.result({ file, lines }, () => [`${formatCount(lines, "line")} in ${file}.`]);
    return EXIT.done;
  });
}

async function writeLines(memory: ScopedMemory, target: Writable): Promise<number> {
  let lines = 0;
  for await (const line of memory.export()) {
    await writeText(target, `${JSON.stringify(line)}\n`);
    lines += 1;
  }
  return lines;
}

async function writeDocument(memory: ScopedMemory, target: Writable): Promise<void> {
  let before = "[";
  for await (const line of memory.export()) {
    await writeText(target, `${before}\n${JSON.stringify(toWire(line satisfies ExportLine))}`);
    before = ",";
  }
  await writeText(target, "\n]\n");
}

async function writeText(target: Writable, text: string): Promise<void> {
  if (!target.write(text)) await once(target, "drain");
}

/** Writes to a temporary file first, so that no partial export is left. Mode 0600, because it contains private text. */
async function writeFile(memory: ScopedMemory, file: string): Promise<number> {
  const found = statSync(file, { throwIfNoEntry: false });
  // Devices and pipes are not replaced, and links are followed.
  const place = found ? realpathSync(file) : file;
  const draft = found && !found.isFile() ? place : `${place}.${process.pid}.new`;
  try {
    const target = createWriteStream(draft, { mode: 0o600, flush: draft !== place });
    const written = finished(target);
    // Awaited below. Until then, a rejection must not end the program.
    written.catch(() => {});
    await Promise.race([once(target, "open"), written]);
    const lines = await writeLines(memory, target);
    target.end();
    await written;
    if (draft !== place) renameSync(draft, place);
    return lines;
  } catch (error) {
    if (draft !== place) rmSync(draft, { force: true });
    if (isMemoryError(error)) throw error;
    const { message } = toShownError(error);
    throw new MemoryError("unavailable", `${file}: ${message}`, { cause: error });
  }
}

/** Throws `invalid_input` if the export would overwrite the database or a file beside it. */
function refuseDatabase(file: string, path: string): void {
  const databaseFiles = ["", "-wal", "-shm", "-journal", ".secret", ".erasures", ".keys.json"].map(
    (end) => resolveRealPath(path) + end,
  );
  if (databaseFiles.includes(resolveRealPath(file)) || databaseFiles.some((path) => isSameFile(path, file)))
    throw invalid("the export would overwrite the database: name another file.");
}

function resolveRealPath(path: string): string {
  const folder = dirname(path);
  if (statSync(path, { throwIfNoEntry: false })) return realpathSync(path);
  return statSync(folder, { throwIfNoEntry: false }) ? join(realpathSync(folder), basename(path)) : path;
}
