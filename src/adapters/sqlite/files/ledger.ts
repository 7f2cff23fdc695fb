import { existsSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Trace } from "../../../domain/receipt.ts";
import { MemoryError } from "../../../errors.ts";
import type { Ledger, LedgerContent } from "../../../ports/ledger.ts";
import { stringifyInSlices } from "../erasure/staged-erasure.ts";

/** A line of the file: the store that it belongs to, and the trace of an erasure. */
interface LedgerLine {
  readonly record: string;
  readonly trace: Trace;
}

/**
 * The ledger in a file next to the database: a line of JSON for each erasure, mode 0600, created with the first entry. `record` is
 * the identity of the store; entries of other stores in the same file are ignored.
 */
export function fileLedger(path: string, record: string): Ledger {
  return {
    async read() {
      if (!existsSync(path)) return undefined;
      return parseLedger(await readLedger(path), record);
    },
    async receipts() {
      if (!existsSync(path)) return undefined;
      return findReceipts(await readLedger(path), record);
    },
    async append(traces) {
      if (traces.length === 0) return;
      try {
        const lines: string[] = [];
        for (const trace of traces) {
          lines.push(`{"record":${JSON.stringify(record)},"trace":${await stringifyInSlices(trace)}}\n`);
        }
        await appendLines(path, lines.join(""));
      } catch (cause) {
        throw new MemoryError(
          "unavailable",
          `ledger ${path}: the file cannot be written. Check its owner, its mode and the free space.`,
          { cause },
        );
      }
    },
  };
}

async function appendLines(path: string, lines: string): Promise<void> {
  const isNew = !existsSync(path);
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    // Ends a line that a crash cut off, so that it damages no other. A single write keeps lines of two processes apart.
    const isCut = size > 0 && last[0] !== 0x0a;
    await file.appendFile(isCut ? `\n${lines}` : lines);
    await file.datasync();
  } finally {
    await file.close();
  }
  if (isNew) await syncFolder(dirname(path));
}

/** Makes a new name in a folder survive a power failure. Where the system does not support it, the next sync does so. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

async function readLedger(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new MemoryError(
      "unavailable",
      `ledger ${path}: the file cannot be read. Check its owner and mode.`,
      {
        cause,
      },
    );
  }
}

function parseLedger(text: string, record: string): LedgerContent {
  const traces = new Map<string, Trace>();
  const lines = text.split("\n").filter((line) => line !== "");
  const damaged: string[] = [];
  for (const line of lines) {
    const parsed = parseLedgerLine(line);
    if (!parsed) damaged.push(line);
    else if (parsed.record === record && !traces.has(parsed.trace.receipt))
      traces.set(parsed.trace.receipt, parsed.trace);
  }
  // A line that a crash cut off was written again at the next start, from the database. After a power failure, a line can have
  // zero bytes where data never reached the disk; JSON has none.
  const lost = damaged.filter(
    (cut) => !cut.includes("\0") && !lines.some((line) => line !== cut && line.startsWith(cut)),
  );
  return { traces: [...traces.values()], damaged: lost.length };
}

/** Every complete line begins with the store's identity and the receipt, as `append` writes it. */
function findReceipts(text: string, record: string): Set<string> {
  const start = `{"record":${JSON.stringify(record)},"trace":{"receipt":"`;
  const receipts = new Set<string>();
  for (let at = text.startsWith(start) ? 0 : findNextLine(text, start, 0); at !== -1; ) {
    const from = at + start.length;
    const end = text.indexOf('"', from);
    const next = findNextLine(text, start, from);
    // Skips cut or joined lines. The full parser handles them, because their receipts are missing here.
    if (end !== -1 && text.slice(from, text.indexOf("\n", from)).endsWith("}}"))
      receipts.add(text.slice(from, end));
    at = next;
  }
  return receipts;
}

function findNextLine(text: string, start: string, from: number): number {
  const at = text.indexOf(`\n${start}`, from);
  return at === -1 ? -1 : at + 1;
}

function parseLedgerLine(line: string): LedgerLine | undefined {
  try {
    const read = JSON.parse(line) as Partial<LedgerLine>;
    const isComplete = typeof read.record === "string" && typeof read.trace?.receipt === "string";
    return isComplete && Array.isArray(read.trace?.messages) ? (read as LedgerLine) : undefined;
  } catch {
    // Cut off by a crash, or damaged.
    return undefined;
  }
}
