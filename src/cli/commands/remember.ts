import { LIMITS } from "../../domain/limits.ts";
import type { Role } from "../../domain/message.ts";
import type { Receipt } from "../../domain/receipt.ts";
import { invalid, MemoryError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { several, short } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface RememberOptions extends CommonOptions {
  readonly session?: string;
  readonly role?: Role;
  readonly id?: string;
  readonly name?: string;
}

export async function remember(text: string, options: RememberOptions): Promise<void> {
  await withMemory(options, "writes", async ({ memory, print }) => {
    const { role = "user", id, name, session } = options;
    const message = {
      role,
      content: text === "-" ? await stdin() : text,
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
    };
    const receipt = await memory.remember(message, session === undefined ? {} : { session });
    print.result(receipt, () => receiptLines(receipt));
    return EXIT.done;
  });
}

/** What a write did, line by line, for people. */
export function receiptLines(receipt: Receipt): string[] {
  const erased = (receipt.erasures ?? []).map(({ erased, complete }) => {
    const what = `${several(erased.memories, "memory", "memories")}, words in ${several(erased.messages, "message")}`;
    return `erased: ${what}${complete ? "" : " (not every place could be verified)"}`;
  });
  const lines = receipt.memories
    .filter(({ action }) => action !== "erased")
    .map(({ action, text, why }) => `${action}: ${text === "" ? (why ?? "") : short(text)}`);
  const done = [...lines, ...erased];
  if (done.length > 0) return done;
  return [receipt.pending > 0 ? "stored; it will be read in a moment" : "stored; nothing to learn from it"];
}

/** All of stdin as text, without the line break at its end. It is not read further than a message may be long. */
async function stdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LIMITS.textBytes + 2) {
      throw invalid(`stdin is too long: at most ${LIMITS.textBytes.toLocaleString("en")} bytes. Split it.`);
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  } catch (cause) {
    throw new MemoryError("invalid_input", "stdin is no UTF-8: is it binary? Give plain text.", { cause });
  }
}
