import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImportProgress, ScopedMemory } from "keepsake";
import { createMemory } from "keepsake";
import { FILE_MAKERS, type MadeFile } from "./made-files.ts";

/** What an import of a made file came to. */
export interface ImportFigures {
  readonly format: string;
  /** Messages or memories that the file was to have. */
  readonly size: number;
  readonly unit: "messages" | "memories";
  /** Why the file is smaller than was asked for; absent if it is not. */
  readonly cut?: string;
  readonly fileMegabytes: number;
  /** Messages that the import stored. */
  readonly messages: number;
  /** Memories that the import added: those of the file, and what was learnt from messages. */
  readonly memories: number;
  readonly passedOver: number;
  readonly importSeconds: number;
  /** Messages and memories that the second import of the file stored. */
  readonly againNew: number;
  readonly againSeconds: number;
  readonly undoSeconds: number;
  /** Whether one undo gave the messages and memories that were there before the import. */
  readonly isUndone: boolean;
  /** Processor time of the process for all of it, in seconds. A busy machine changes it less than the other times. */
  readonly processorSeconds: number;
  /** The largest memory of the process so far, in MB. */
  readonly peakMegabytes: number;
  /** What does not hold; empty if all holds. */
  readonly problems: readonly string[];
}

export interface ImportBars {
  /** The most memory that the process may have taken, in MB. */
  readonly peakMegabytes: number;
}

/**
 * Makes a file of a format, imports it into a memory that has something in it, imports it again, and undoes it. Throws for a
 * format that no maker is known for.
 */
export async function measureImport(format: string, size: number, bars: ImportBars): Promise<ImportFigures> {
  const maker = FILE_MAKERS[format];
  if (!maker)
    throw new Error(`There is no maker for the format ${format}: ${Object.keys(FILE_MAKERS).join(", ")}.`);
  const { unit, most } = maker;
  const isCut = most !== undefined && size > most.size;
  const folder = mkdtempSync(join(tmpdir(), "keepsake-imports-"));
  try {
    const file = join(folder, `made${maker.ending}`);
    const made = await maker.write(file, isCut ? most.size : size);
    const memory = await createMemory({ path: join(folder, "memory.db") });
    try {
      const ana = memory.scope({ user: "ana" });
      await ana.remember("I live in Tartu.");
      const measured = await importTwiceAndUndo(ana, file);
      const figures = {
        format,
        size: isCut ? most.size : size,
        unit,
        ...(isCut ? { cut: most.why } : {}),
        fileMegabytes: made.bytes / 1e6,
        ...measured,
        processorSeconds: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
        peakMegabytes: process.resourceUsage().maxRSS / 1000,
      };
      return { ...figures, problems: findProblems(figures, made, bars) };
    } finally {
      await memory.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function findProblems(
  figures: Omit<ImportFigures, "problems">,
  { messages, memories }: MadeFile,
  { peakMegabytes: most }: ImportBars,
): string[] {
  const { messages: stored, memories: added, againNew, isUndone, peakMegabytes: peak } = figures;
  return [
    ...(stored === messages ? [] : [`${stored} of ${messages} messages were stored`]),
    ...(added >= memories ? [] : [`${added} of ${memories} memories were stored`]),
    ...(againNew === 0 ? [] : [`the second import stored ${againNew}`]),
    ...(isUndone ? [] : ["after the undo, the memory is not what it was before"]),
    ...(peak <= most ? [] : [`the process took ${Math.round(peak)} MB; the bar is ${most} MB`]),
  ];
}

type MeasuredImport = Pick<
  ImportFigures,
  | "messages"
  | "memories"
  | "passedOver"
  | "importSeconds"
  | "againNew"
  | "againSeconds"
  | "undoSeconds"
  | "isUndone"
>;

async function importTwiceAndUndo(ana: ScopedMemory, file: string): Promise<MeasuredImport> {
  const before = await digestOf(ana);
  const [first, importSeconds] = await time(() => importFile(ana, file));
  const [second, againSeconds] = await time(() => importFile(ana, file));
  const { revision } = first;
  const [, undoSeconds] = await time(async () => {
    if (revision !== undefined) await ana.undo(revision);
  });
  return {
    messages: first.stored,
    memories: first.memories,
    passedOver: first.passedOver.reduce((sum, { count }) => sum + count, 0),
    importSeconds,
    againNew: second.stored + second.memories,
    againSeconds,
    undoSeconds,
    isUndone: revision !== undefined && (await digestOf(ana)) === before,
  };
}

async function importFile(ana: ScopedMemory, file: string): Promise<ImportProgress> {
  for await (const progress of ana.import(file, { format: "auto" })) if (progress.done) return progress;
  throw new Error("An import always reports its end.");
}

async function time<Result>(work: () => Promise<Result>): Promise<readonly [Result, number]> {
  const begun = performance.now();
  const result = await work();
  return [result, (performance.now() - begun) / 1000];
}

/** A digest of all messages and current memories that reads show. */
async function digestOf(ana: ScopedMemory): Promise<string> {
  const hash = createHash("sha256");
  for await (const line of ana.export()) if (line.type === "message") hash.update(JSON.stringify(line));
  for await (const { id, text } of ana.list({ limit: 1000 })) hash.update(id + text);
  return hash.digest("hex");
}
