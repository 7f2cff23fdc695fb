import { once } from "node:events";
import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { isSameFile } from "../../adapters/shared/same-file.ts";
import type { ExportLine, ScopedMemory } from "../../engine/surface.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import { toWire } from "../../http/wire.ts";
import { EXIT, toShownError } from "../exit.ts";
import { formatCount } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

/** JSON lines, to a file or to stdout; with `--json` and no file, the same as one JSON document. */
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

/** Written whole under another name first (mode 0600, for it holds what people said), so that no half export is left. */
async function writeFile(memory: ScopedMemory, file: string): Promise<number> {
  const found = statSync(file, { throwIfNoEntry: false });
  // A device or a pipe is not replaced, and a link stays a link.
  const place = found ? realpathSync(file) : file;
  const draft = found && !found.isFile() ? place : `${place}.${process.pid}.new`;
  try {
    const target = createWriteStream(draft, { mode: 0o600, flush: draft !== place });
    const written = finished(target);
    // Whoever waits for it below is told; until then, a fault must not end the program.
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

/** An export over the database itself would be the end of it. */
function refuseDatabase(file: string, path: string): void {
  const ours = ["", "-wal", "-shm", "-journal", ".secret", ".erasures", ".keys.json"].map(
    (end) => resolveRealPath(path) + end,
  );
  if (ours.includes(resolveRealPath(file)) || ours.some((own) => isSameFile(own, file)))
    throw invalid("the export may not take the database's place: name another file.");
}

function resolveRealPath(path: string): string {
  const folder = dirname(path);
  if (statSync(path, { throwIfNoEntry: false })) return realpathSync(path);
  return statSync(folder, { throwIfNoEntry: false }) ? join(realpathSync(folder), basename(path)) : path;
}
