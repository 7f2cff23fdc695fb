import { setImmediate } from "node:timers/promises";
import type { ImportFormatName } from "../../../domain/operations/import-format.ts";
import type { ImportEntry, ImportProgress } from "../../../engine/api/transfer-types.ts";
import { parseMessages } from "../../../engine/ingest/parse-messages.ts";
import { prepareImportedMemory } from "../../../engine/transfer/import-memories.ts";
import { isMemoryError, MemoryError } from "../../../errors.ts";
import { detectFormat, FORMATS, type ImportFormat } from "../../../formats/index.ts";
import { EXIT } from "../../exit.ts";
import { createProgressBar, formatCount, formatDay, type ProgressBar, toShortLine } from "../../printer.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../../with-memory.ts";

interface ImportCommandOptions extends CommonOptions {
  readonly format?: ImportFormatName;
  readonly dryRun?: boolean;
}

/** What was learnt, as the report shows it. */
type LearntLine = Pick<ImportProgress["learnt"][number], "action" | "text">;

/** The result for one file. */
interface ImportFileReport extends CheckedFile {
  readonly file: string;
  readonly format: ImportFormat;
  readonly stored?: number;
  readonly known?: number;
  readonly memories?: number;
  /** At most 1,000 lines. */
  readonly learnt?: readonly LearntLine[];
  readonly passedOver?: ImportProgress["passedOver"];
  readonly revision?: number;
}

/** Lines of what was learnt that a report prints. */
const MOST_PRINTED = 20;
const MOST_LEARNT = 1000;

/** Checks all files before it stores anything: an error in any file means that nothing is stored. */
export async function runImport(files: readonly string[], options: ImportCommandOptions): Promise<void> {
  await withMemory(options, options.dryRun ? "reads" : "writes", async (context) => {
    const { print, clock } = context;
    const bar = createProgressBar(print.json);
    try {
      const checked: ImportFileReport[] = [];
      for (const file of files) {
        checked.push(
          await withFileName(
            file,
            () => " Nothing was stored.",
            () => checkImport(file, options.format ?? "auto", clock, bar),
          ),
        );
      }
      const importFile = createFileImporter(context, options.dryRun ?? false, bar);
      const reports: ImportFileReport[] = [];
      const describe = (error: MemoryError) => (options.dryRun ? "" : describeStored(error, reports));
      for (const file of checked)
        reports.push(await withFileName(file.file, describe, () => importFile(file)));
      bar.end();
      print.result({ dryRun: options.dryRun ?? false, files: reports, ...sumReports(reports) }, () =>
        formatReports(reports, options.dryRun ?? false),
      );
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

/** Adds to an error the file's name, and how it ends for the import. */
async function withFileName<Result>(
  file: string,
  describeEnd: (error: MemoryError) => string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isMemoryError(error) || error.message.startsWith("database ")) throw error;
    const details = error.details ? { details: error.details } : {};
    throw new MemoryError(error.code, `${file}: ${error.message}${describeEnd(error)}`, {
      cause: error,
      ...details,
    });
  }
}

/** What to do about the files before the one that failed; its own part is in the error. */
function describeStored({ details }: MemoryError, reports: readonly ImportFileReport[]): string {
  const revision = findRevision(reports);
  return details || revision === undefined
    ? ""
    : ` The files before it are stored: \`keepsake undo ${revision}\` takes them back.`;
}

function findRevision(reports: readonly ImportFileReport[]): number | undefined {
  return reports.findLast((report) => report.revision !== undefined)?.revision;
}

async function checkImport(
  file: string,
  named: ImportFormatName,
  clock: () => Date,
  bar: ProgressBar,
): Promise<ImportFileReport> {
  const format = named === "auto" ? await detectFormat(file) : named;
  const checked = await checkFile(FORMATS[format](file), clock, (read) => {
    bar.show(0, undefined, `Reading ${file}: ${formatCount(read, "message")}`);
  });
  return { file, format, ...checked };
}

/** Creates the import of one command. Its files are one import, so that one undo takes back all of them. */
function createFileImporter(
  { memory }: CommandContext,
  dryRun: boolean,
  bar: ProgressBar,
): (checked: ImportFileReport) => Promise<ImportFileReport> {
  let importId: string | undefined;
  return async (checked) => {
    const { file, format, read } = checked;
    const learnt: LearntLine[] = [];
    let last: ImportProgress | undefined;
    const options = { format, dryRun, ...(importId === undefined ? {} : { importId }) };
    for await (const progress of memory.import(file, options)) {
      last = progress;
      importId = progress.importId;
      for (const { action, text } of progress.learnt.slice(0, MOST_LEARNT - learnt.length))
        learnt.push({ action, text });
      const memories = formatCount(progress.memories, "memory", "memories");
      bar.show(progress.read, read, `${progress.read} of ${formatCount(read, "message")}, ${memories}`);
      // Storing is one long computation. This lets the program handle an interrupt.
      await setImmediate();
    }
    if (!last) return checked;
    const { stored, known, memories, passedOver, revision } = last;
    return {
      ...checked,
      stored,
      known,
      memories,
      learnt,
      passedOver,
      ...(revision === undefined ? {} : { revision }),
    };
  };
}

function sumReports(reports: readonly ImportFileReport[]): { readonly [field: string]: number } {
  const sum = (field: "read" | "stored" | "known" | "memories"): number =>
    reports.reduce((total, report) => total + (report[field] ?? 0), 0);
  const revision = findRevision(reports);
  return {
    read: sum("read"),
    stored: sum("stored"),
    known: sum("known"),
    memories: sum("memories"),
    ...(revision === undefined ? {} : { revision }),
  };
}

function formatReports(reports: readonly ImportFileReport[], dryRun: boolean): string[] {
  const revision = findRevision(reports);
  const end =
    dryRun || revision === undefined ? [] : [`\`keepsake undo ${revision}\` takes back the whole import.`];
  return [...reports.flatMap((report) => formatReport(report, dryRun)), ...end];
}

function formatReport(report: ImportFileReport, dryRun: boolean): string[] {
  const { file, format, read, sessions, stored = 0, known = 0, memories = 0, from, to } = report;
  const span = from && to ? `, said from ${formatDay(from)} to ${formatDay(to)}` : "";
  const where = sessions > 0 ? ` in ${formatCount(sessions, "session")}` : "";
  const what = `${file} (${format}): ${formatCount(read, "message")}`;
  const learntWhat = formatCount(memories, "new memory", "new memories");
  const outcome = dryRun
    ? `${what}${where}${span}. It would store ${stored} (${known} already known) and learn ${learntWhat}. Nothing was stored.`
    : `${what} read, ${stored} stored, ${known} already known; ${learntWhat}.`;
  return [
    outcome,
    ...formatLearnt(report.learnt ?? [], dryRun),
    ...formatPassedOver(report.passedOver ?? []),
  ];
}

function formatLearnt(learnt: readonly LearntLine[], dryRun: boolean): string[] {
  const added = learnt.filter(({ action }) => action === "added" || action === "quarantined");
  if (added.length === 0) return [];
  const left = added.length - MOST_PRINTED;
  return [
    dryRun ? "Would learn:" : "Learnt:",
    ...added
      .slice(0, MOST_PRINTED)
      .map(
        ({ action, text }) => `  ${toShortLine(text)}${action === "quarantined" ? " (kept for review)" : ""}`,
      ),
    ...(left > 0 ? [`  and ${left === MOST_LEARNT - MOST_PRINTED ? "more" : `${left} more`}`] : []),
  ];
}

function formatPassedOver(passedOver: ImportProgress["passedOver"]): string[] {
  if (passedOver.length === 0) return [];
  return ["Passed over:", ...passedOver.map(({ why, count }) => `  ${count} × ${why}`)];
}

/** The content of a checked file. */
interface CheckedFile {
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
async function checkFile(
  entries: AsyncIterable<ImportEntry>,
  clock: () => Date,
  onRead: (read: number) => void,
): Promise<CheckedFile> {
  const ids = new Set<string>();
  const sessions = new Set<string>();
  const span: { from?: string; to?: string } = {};
  let [read, repeated] = [0, 0];
  for await (const entry of entries) {
    prepareImportedMemory(entry);
    if (!entry.message) continue;
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

function checkMessage({ place, message }: ImportEntry, clock: () => Date) {
  try {
    // Checked alone, not in a batch: the error names the place in the file instead.
    if (!message || (typeof message.content === "string" && message.content.trim() === "")) return undefined;
    return parseMessages({ clock, ids: () => place }, SCOPE, message, { origin: "import" }).messages[0];
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    throw new MemoryError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}
