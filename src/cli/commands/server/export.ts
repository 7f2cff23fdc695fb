import { once } from "node:events";
import {
  appendFileSync,
  createWriteStream,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { isSameFile } from "../../../adapters/sqlite/files/backup.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { ExportFilesOptions, ExportLine } from "../../../engine/api/transfer-types.ts";
import { invalid, isMemoryError, MemoryError } from "../../../errors.ts";
import { toWire } from "../../../http/schemas/wire.ts";
import { EXIT, toShownError } from "../../exit.ts";
import { formatCount, type Printer } from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

/** Writes JSON lines to a file or to stdout; with `--json` and no file, one JSON document. */
export async function runExport(
  file: string | undefined,
  { format = "jsonl", ...options }: ExportCommandOptions,
): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print, path }) => {
    if (format !== "jsonl") {
      if (file !== undefined) refuseDatabase(file, path);
      const written = await writePieces(memory, format, file);
      reportPieces(print, written, file);
      return EXIT.done;
    }
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

interface ExportCommandOptions extends CommonOptions {
  readonly format?: "jsonl" | ExportFilesOptions["format"];
}

/** What was written, and how many memories were left out because they wait for a review. */
interface WrittenFiles {
  readonly files: number;
  readonly quarantined: number;
}

function reportPieces(print: Printer, { files, quarantined }: WrittenFiles, file: string | undefined): void {
  if (file !== undefined)
    print.result({ file, files, quarantined }, () => [`${formatCount(files, "file")} in ${file}.`]);
  if (quarantined === 0) return;
  const count = formatCount(quarantined, "memory", "memories");
  print.note(`Left out because they wait for a review: ${count}. JSON Lines have them.`);
}

/** Writes the files of an export into a folder, or its first file to a file or to stdout. */
async function writePieces(
  memory: ScopedMemory,
  format: ExportFilesOptions["format"],
  target: string | undefined,
): Promise<WrittenFiles> {
  const isFolder =
    target !== undefined &&
    (target.endsWith("/") || statSync(target, { throwIfNoEntry: false })?.isDirectory() === true);
  let left = 0;
  const paths = new Set<string>();
  for await (const { path, text, quarantined = 0 } of memory.exportFiles({
    format,
    conversations: isFolder,
  })) {
    left += quarantined;
    if (target === undefined) await writeText(process.stdout, text);
    else writePiece(isFolder ? join(target, path) : target, text, paths.has(path));
    paths.add(path);
  }
  return { files: paths.size, quarantined: left };
}

/** Writes a piece into a new file, or at the end of one that is begun. Mode 0600, because it contains private text. */
function writePiece(file: string, text: string, isBegun: boolean): void {
  if (isBegun) appendFileSync(file, text);
  else {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  }
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
  const databaseFiles = [
    "",
    "-wal",
    "-shm",
    "-journal",
    ".secret",
    ".erasures",
    ".keys.json",
    ".oauth.json",
  ].map((end) => resolveRealPath(path) + end);
  if (databaseFiles.includes(resolveRealPath(file)) || databaseFiles.some((path) => isSameFile(path, file)))
    throw invalid("the export would overwrite the database: name another file.");
}

function resolveRealPath(path: string): string {
  const folder = dirname(path);
  if (statSync(path, { throwIfNoEntry: false })) return realpathSync(path);
  return statSync(folder, { throwIfNoEntry: false }) ? join(realpathSync(folder), basename(path)) : path;
}
