import { setImmediate } from "node:timers/promises";
import type { InputMessage, ScopedMemory } from "../../engine/surface.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import { FORMATS, type Format, formatOf, readAddedMemories } from "../../formats/index.ts";
import { EXIT } from "../exit.ts";
import { day, several } from "../print.ts";
import { type Progress, progress } from "../progress.ts";
import { type CommonOptions, type Working, withMemory } from "../run.ts";
import { type Checked, checkedFile } from "./import-check.ts";

interface ImportOptions extends CommonOptions {
  readonly format?: Format | "auto";
  readonly dryRun?: boolean;
}

/** What came of one file. */
interface FileReport extends Checked {
  readonly file: string;
  readonly format: Format;
  readonly stored?: number;
  readonly known?: number;
  readonly memories?: number;
}

/** All files are read through before anything is stored: a mistake in the last one stores nothing of the first. */
export async function importFiles(files: readonly string[], options: ImportOptions): Promise<void> {
  await withMemory(options, options.dryRun ? "reads" : "writes", async (working) => {
    const { print, clock } = working;
    const bar = progress(print.json);
    try {
      const checked: FileReport[] = [];
      for (const file of files) {
        checked.push(
          await about(file, " Nothing was stored.", () => check(file, options.format ?? "auto", clock, bar)),
        );
      }
      const reports: FileReport[] = [];
      for (const one of checked) {
        reports.push(options.dryRun ? one : await about(one.file, "", () => take(working, one, bar)));
      }
      bar.end();
      print.result({ files: reports, ...sums(reports) }, () => reports.map(line));
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
async function about<Result>(file: string, end: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isMemoryError(error) || error.message.startsWith("database ")) throw error;
    throw new MemoryError(error.code, `${file}: ${error.message}${end}`, { cause: error });
  }
}

async function check(
  file: string,
  named: Format | "auto",
  clock: () => Date,
  bar: Progress,
): Promise<FileReport> {
  const format = named === "auto" ? await formatOf(file) : named;
  const checked = await checkedFile(FORMATS[format](file), clock, (read) => {
    bar.show(0, undefined, `Reading ${file}: ${several(read, "message")}`);
  });
  return { file, format, ...checked };
}

async function take({ memory }: Working, checked: FileReport, bar: Progress): Promise<FileReport> {
  const { file, format, read, repeated } = checked;
  const total = read - repeated;
  let last = { stored: 0, known: 0, memories: 0 };
  for await (const { read: done, stored, known, memories } of memory.import(firsts(file, format))) {
    last = { stored, known: known + repeated, memories };
    bar.show(
      done,
      total,
      `${done} of ${several(total, "message")}, ${several(memories, "memory", "memories")}`,
    );
    // Storing is one long computation: here the program can notice that somebody interrupts it.
    await setImmediate();
  }
  const added = format === "keepsake" ? await addMissing(memory, file) : 0;
  return { ...checked, ...last, memories: last.memories + added };
}

/** Each message once: the first of those with the same id. */
async function* firsts(file: string, format: Format): AsyncIterable<InputMessage> {
  const seen = new Set<string>();
  for await (const { message } of FORMATS[format](file)) {
    if (message.id !== undefined && seen.has(message.id)) continue;
    if (message.id !== undefined) seen.add(message.id);
    yield message;
  }
}

/** Memories that no message tells, but for those that are there already. */
async function addMissing(memory: ScopedMemory, file: string): Promise<number> {
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

function sums(reports: readonly FileReport[]): { readonly [field: string]: number } {
  const sum = (field: "read" | "stored" | "known" | "memories"): number =>
    reports.reduce((total, report) => total + (report[field] ?? 0), 0);
  return { read: sum("read"), stored: sum("stored"), known: sum("known"), memories: sum("memories") };
}

function line({
  file,
  format,
  read,
  sessions,
  stored,
  known = 0,
  memories = 0,
  from,
  to,
}: FileReport): string {
  const what = `${file} (${format}): ${several(read, "message")}`;
  if (stored === undefined) {
    const span = from && to ? `, said from ${day(from)} to ${day(to)}` : "";
    const where = sessions > 0 ? ` in ${several(sessions, "session")}` : "";
    return `${what}${where}${span}. Nothing was stored.`;
  }
  return `${what} read, ${stored} stored, ${known} known before; ${several(memories, "new memory", "new memories")}.`;
}
