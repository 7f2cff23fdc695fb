import { setImmediate } from "node:timers/promises";
import type { InputMessage, ScopedMemory } from "../../engine/surface.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import { detectFormat, FORMATS, type ImportFormat, readAddedMemories } from "../../formats/index.ts";
import { EXIT } from "../exit.ts";
import { formatCount, formatDay } from "../print.ts";
import { createProgressBar, type ProgressBar } from "../progress.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../run.ts";
import { type CheckedFile, checkFile } from "./import-check.ts";

interface ImportCommandOptions extends CommonOptions {
  readonly format?: ImportFormat | "auto";
  readonly dryRun?: boolean;
}

/** What came of one file. */
interface ImportFileReport extends CheckedFile {
  readonly file: string;
  readonly format: ImportFormat;
  readonly stored?: number;
  readonly known?: number;
  readonly memories?: number;
}

/** All files are read through before anything is stored: a mistake in the last one stores nothing of the first. */
export async function runImport(files: readonly string[], options: ImportCommandOptions): Promise<void> {
  await withMemory(options, options.dryRun ? "reads" : "writes", async (working) => {
    const { print, clock } = working;
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
      for (const one of checked) {
        reports.push(
          options.dryRun ? one : await withFileName(one.file, "", () => importFile(working, one, bar)),
        );
      }
      bar.end();
      print.result({ files: reports, ...sumReports(reports) }, () => reports.map(formatReport));
      const { model } = working.settings;
      if (model && !options.dryRun) {
        print.note(`Understood by rules so far; ${model.model} reads on where \`keepsake serve\` runs.`);
      }
      return EXIT.done;
    } finally {
      bar.end();
    }
  });
}

/** An error in a file names the file. */
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
    // Storing is one long computation: here the program can notice that somebody interrupts it.
    await setImmediate();
  }
  const added = format === "keepsake" ? await addMissingMemories(memory, file) : 0;
  return { ...checked, ...last, memories: last.memories + added };
}

/** Each message once: the first of those with the same id. */
async function* withoutRepeats(file: string, format: ImportFormat): AsyncIterable<InputMessage> {
  const seen = new Set<string>();
  for await (const { message } of FORMATS[format](file)) {
    if (message.id !== undefined && seen.has(message.id)) continue;
    if (message.id !== undefined) seen.add(message.id);
    yield message;
  }
}

/** Memories that no message tells, but for those that are there already. */
async function addMissingMemories(memory: ScopedMemory, file: string): Promise<number> {
  const known = new Set<string>();
  for await (const { text } of memory.list({ status: "all" })) known.add(text);
  let added = 0;
  for await (const one of readAddedMemories(file)) {
    if (known.has(one.text)) continue;
    known.add(one.text);
    const { memories } = await memory.add(one);
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
  return `${what} read, ${stored} stored, ${known} known before; ${formatCount(memories, "new memory", "new memories")}.`;
}
