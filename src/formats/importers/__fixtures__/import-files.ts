import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImportEntry } from "../../../engine/api/transfer-types.ts";
import { detectFormat, FORMATS, type ImportFormat } from "../../index.ts";

/** A folder for files to import. */
export interface ImportFolder {
  /** Writes a file, and gives its path. */
  file(content: unknown): string;
  /** Reads a file that must be recognised as the format. */
  read(format: ImportFormat, content: unknown): Promise<ImportEntry[]>;
  remove(): void;
}

export function createImportFolder(): ImportFolder {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-importers-"));
  const file = (content: unknown): string => {
    const path = join(folder, "import");
    writeFileSync(
      path,
      typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content),
    );
    return path;
  };
  return {
    file,
    async read(format, content) {
      const path = file(content);
      const found = await detectFormat(path);
      if (found !== format) throw new Error(`The file was recognised as ${found}.`);
      return collect(FORMATS[format](path));
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** Gives all values of an iteration. */
export async function collect<One>(values: AsyncIterable<One>): Promise<One[]> {
  const all: One[] = [];
  for await (const one of values) all.push(one);
  return all;
}

/** The messages of an import. */
export function messagesOf(entries: readonly ImportEntry[]): NonNullable<ImportEntry["message"]>[] {
  return entries.flatMap(({ message }) => message ?? []);
}

/** The memories of an import. */
export function memoriesOf(entries: readonly ImportEntry[]): NonNullable<ImportEntry["memory"]>[] {
  return entries.flatMap(({ memory }) => memory ?? []);
}

/** The parts that were passed over. */
export function skippedOf(entries: readonly ImportEntry[]): NonNullable<ImportEntry["skipped"]>[] {
  return entries.flatMap(({ skipped }) => skipped ?? []);
}

/** The texts of the messages of an import. */
export function textsOf(entries: readonly ImportEntry[]): NonNullable<ImportEntry["message"]>["content"][] {
  return messagesOf(entries).map(({ content }) => content);
}
