import { createHash } from "node:crypto";
import type { InputMessage } from "../engine/surface.ts";
import { linesOf, objectOf } from "./lines.ts";

/**
 * Messages as JSON lines: `{ id?, role?, content, name?, at?, session?, metadata? }`. A line without an id gets one
 * from what it says, so that the same file again adds nothing. `invalid_input` names a bad line by its number.
 */
export async function* readJsonl(path: string): AsyncIterable<InputMessage> {
  const repeats = new Map<string, number>();
  for await (const { number, text } of linesOf(path)) {
    const line = objectOf(text, number);
    const { id, role = "user", content, name, at, session, metadata } = line;
    const said = JSON.stringify([session, at, role, name, content]);
    const repeat = repeats.get(said) ?? 0;
    if (id === undefined) repeats.set(said, repeat + 1);
    // The engine checks each field, and names the message by its number.
    yield {
      id: id === undefined ? `jsonl-${hashOf(said, repeat)}` : id,
      role,
      content,
      ...(name === undefined ? {} : { name }),
      ...(at === undefined ? {} : { at }),
      ...(session === undefined ? {} : { session }),
      ...(metadata === undefined ? {} : { metadata }),
    } as InputMessage;
  }
}

function hashOf(said: string, repeat: number): string {
  return createHash("sha256").update(`${repeat}\n${said}`).digest("hex").slice(0, 32);
}
