import { readFileSync } from "node:fs";
import type { Role } from "../../domain/message.ts";
import type { Receipt } from "../../domain/receipt.ts";
import { MemoryError } from "../../errors.ts";
import { type CommonOptions, EXIT, withMemory } from "../run.ts";

interface RememberOptions extends CommonOptions {
  readonly session?: string;
  readonly role?: Role;
  readonly id?: string;
  readonly name?: string;
}

export async function remember(text: string, options: RememberOptions): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    const { role = "user", id, name, session } = options;
    const message = {
      role,
      content: text === "-" ? stdin() : text,
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
  const lines = receipt.memories.map(({ action, text, why }) => `${action}: ${text || (why ?? "")}`);
  for (const { erased, complete } of receipt.erasures ?? []) {
    lines.push(
      `erased for good: ${erased.memories} memories, words of ${erased.messages} messages${complete ? "" : " (not verified)"}`,
    );
  }
  if (lines.length === 0) lines.push("stored; nothing to learn from it");
  return lines;
}

function stdin(): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(0)).replace(/\r?\n$/, "");
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new MemoryError("invalid_input", "stdin is no UTF-8: is it binary? Give plain text.", { cause });
  }
}
