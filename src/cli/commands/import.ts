import type { InputMessage, ScopedMemory } from "../../engine/surface.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import { FORMATS, formatOf, readAddedMemories } from "../../formats/index.ts";
import type { Printer } from "../print.ts";
import { progress } from "../progress.ts";
import { type CommonOptions, EXIT, withMemory } from "../run.ts";

interface ImportOptions extends CommonOptions {
  readonly format?: string;
  readonly dryRun?: boolean;
}

/** What came of one file. */
interface FileReport {
  readonly file: string;
  readonly format: string;
  readonly read: number;
  readonly stored?: number;
  readonly known?: number;
  readonly memories?: number;
  readonly from?: string;
  readonly to?: string;
}

export async function importFiles(files: readonly string[], options: ImportOptions): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    const reports: FileReport[] = [];
    for (const file of files) {
      const format =
        options.format === undefined || options.format === "auto" ? await formatOf(file) : options.format;
      const read = FORMATS[format];
      if (!read)
        throw new MemoryError(
          "invalid_input",
          `${format} is no format. Known: ${Object.keys(FORMATS).join(", ")}.`,
        );
      const source = (): AsyncIterable<InputMessage> => named(file, read(file));
      reports.push(
        options.dryRun
          ? await count(file, format, source())
          : await take(memory, print, file, format, source),
      );
    }
    print.result({ files: reports, ...sums(reports) }, () => reports.map(line));
    return EXIT.done;
  });
}

/** An error in a file names the file. */
async function* named(file: string, messages: AsyncIterable<InputMessage>): AsyncIterable<InputMessage> {
  try {
    yield* messages;
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    throw new MemoryError(error.code, `${file}: ${error.message}`, { cause: error });
  }
}

async function count(
  file: string,
  format: string,
  messages: AsyncIterable<InputMessage>,
): Promise<FileReport> {
  const times: string[] = [];
  let read = 0;
  for await (const { at } of messages) {
    read += 1;
    if (at === undefined) continue;
    const time = String(at);
    times[0] = times[0] === undefined || time < times[0] ? time : times[0];
    times[1] = times[1] === undefined || time > times[1] ? time : times[1];
  }
  return {
    file,
    format,
    read,
    ...(times[0] ? { from: times[0] } : {}),
    ...(times[1] ? { to: times[1] } : {}),
  };
}

async function take(
  memory: ScopedMemory,
  print: Printer,
  file: string,
  format: string,
  source: () => AsyncIterable<InputMessage>,
): Promise<FileReport> {
  const bar = progress(print.json);
  // Counted first: reading is quick beside storing, and a bar without an end is none.
  let total = 0;
  for await (const _message of source()) total += 1;
  let last = { read: 0, stored: 0, known: 0, memories: 0 };
  try {
    for await (const { read, stored, known, memories } of memory.import(source())) {
      last = { read, stored, known, memories };
      bar.show(read, total, `${read} of ${total} messages, ${memories} memories`);
    }
  } finally {
    bar.end();
  }
  if (format === "keepsake") for await (const one of readAddedMemories(file)) await memory.add(one);
  return { file, format, ...last };
}

function sums(reports: readonly FileReport[]): {
  read: number;
  stored: number;
  known: number;
  memories: number;
} {
  const sum = (field: "read" | "stored" | "known" | "memories"): number =>
    reports.reduce((total, report) => total + (report[field] ?? 0), 0);
  return { read: sum("read"), stored: sum("stored"), known: sum("known"), memories: sum("memories") };
}

function line({ file, format, read, stored, known, memories, from, to }: FileReport): string {
  if (stored === undefined)
    return `${file} (${format}): ${read} messages${from ? `, ${from} to ${to}` : ""}; nothing was stored.`;
  return `${file} (${format}): ${read} messages read, ${stored} stored, ${known} known before; ${memories} memories.`;
}
