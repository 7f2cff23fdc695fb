import { INPUT_LIMITS } from "../../../domain/limits.ts";
import type { Role } from "../../../domain/message.ts";
import type { Receipt } from "../../../domain/receipt.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { InputMessage, Understood } from "../../../engine/api/writing-types.ts";
import { invalid, MemoryError } from "../../../errors.ts";
import type { ReceiptWriter } from "../../../ports/language/reply-writer.ts";
import { EXIT } from "../../exit.ts";
import { formatCount, toShortLine } from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface RememberCommandOptions extends CommonOptions {
  readonly session?: string;
  readonly role?: Role;
  readonly id?: string;
  readonly name?: string;
  readonly attach?: string;
  readonly description?: string;
}

export async function runRemember(text: string | undefined, options: RememberCommandOptions): Promise<void> {
  const { attach, description } = options;
  await withMemory(options, "writes", async ({ keepsake, memory, print, settings }) => {
    if (text === undefined && attach === undefined) throw invalid("give a TEXT, or a file with --attach.");
    if (description !== undefined && attach === undefined) throw invalid("--description needs --attach.");
    const { role = "user", id, name, session } = options;
    const message = {
      role,
      content: await readContent(text, attach, description),
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
    };
    const receipt = await memory.remember(message, session === undefined ? {} : { session });
    const complete = settings.model && receipt.pending > 0 ? await withExtraction(memory, receipt) : receipt;
    print.result(complete, () => formatWriteReceipt(complete, keepsake.receiptWriter));
    return EXIT.done;
  });
}

/** The text, or its parts with the attached file. */
async function readContent(
  given: string | undefined,
  file: string | undefined,
  description: string | undefined,
): Promise<InputMessage["content"]> {
  const text = given === "-" ? await readStdin() : (given ?? "");
  if (file === undefined) return text;
  const { readAttachmentFile } = await import("./attachments.ts");
  const attachment = readAttachmentFile(file, description);
  return text === "" ? [attachment] : [{ type: "text", text }, attachment];
}

/** How long to wait for the model. The next start or the server extracts the rest. */
const EXTRACTION_TIMEOUT_MS = 60_000;

/** Adds the memories that the model extracted to a receipt. */
async function withExtraction(
  memory: ScopedMemory,
  receipt: Receipt,
): Promise<Receipt & { readonly problem?: string }> {
  const { memories, pending, problem } = await understandWithin(memory, EXTRACTION_TIMEOUT_MS);
  return {
    ...receipt,
    memories: [...receipt.memories, ...memories],
    pending,
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Extracts memories from pending messages for at most `patienceMs` milliseconds. Gives the result. */
export async function understandWithin(memory: ScopedMemory, patienceMs: number): Promise<Understood> {
  const signal = AbortSignal.timeout(patienceMs);
  try {
    return await memory.understand({ signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    const problem = `the model took longer than ${patienceMs / 1000} s`;
    return { read: 0, memories: [], pending: 1, problem };
  }
}

/** Gives lines that describe what a write did. */
export function formatWriteReceipt(
  receipt: Receipt & { readonly problem?: string },
  writer: ReceiptWriter,
): string[] {
  const erased = (receipt.erasures ?? []).map(({ erased, complete }) => {
    const what = `${formatCount(erased.memories, "memory", "memories")}, words in ${formatCount(erased.messages, "message")}`;
    return `erased: ${what}${complete ? "" : " (not every store could be verified)"}`;
  });
  const lines = receipt.memories
    .filter(({ action }) => action !== "erased")
    .map(({ action, text, why }) => `${action}: ${text === "" ? (why ?? "") : toShortLine(text)}`);
  const { pending, problem } = receipt;
  const pendingLines = problem === undefined || pending === 0 ? [] : [`waits for the model: ${problem}`];
  const questions = (receipt.waiting ?? []).map((one) => `asks: ${writer.askToConfirm(one)}`);
  const shown = [...lines, ...erased, ...questions, ...pendingLines];
  if (shown.length > 0) return shown;
  return [pending > 0 ? "stored; facts will be extracted shortly" : "stored; no new facts in it"];
}

/** Reads stdin as text, without its last line break. Throws `invalid_input` if it is longer than a message may be, or not UTF-8. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > INPUT_LIMITS.textBytes + 2) {
      throw invalid(
        `stdin is too long: at most ${INPUT_LIMITS.textBytes.toLocaleString("en")} bytes. Split it.`,
      );
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  } catch (cause) {
    throw new MemoryError("invalid_input", "stdin is not UTF-8: is it binary? Use plain text.", { cause });
  }
}

export async function runUndo(revision: string, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ keepsake, memory, print }) => {
    if (!/^\d{1,15}$/.test(revision))
      throw invalid("REVISION must be a whole number; `keepsake history` lists them.");
    const receipt = await memory.undo(Number(revision));
    print.result(receipt, () => [
      `Undid revision ${revision}, in revision ${receipt.revision}.`,
      ...(receipt.memories.length > 0 ? shorten(formatWriteReceipt(receipt, keepsake.receiptWriter)) : []),
    ]);
    return EXIT.done;
  });
}

/** Lines that are printed of a long receipt: an import may have thousands. */
const MOST_LINES = 20;

function shorten(lines: readonly string[]): string[] {
  const left = lines.length - MOST_LINES;
  return left > 0 ? [...lines.slice(0, MOST_LINES), `and ${left} more`] : [...lines];
}
