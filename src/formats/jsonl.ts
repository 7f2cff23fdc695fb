import { createHash } from "node:crypto";
import { invalid } from "../errors.ts";
import { type Entry, messageOf } from "./entry.ts";
import { linesOf, objectOf } from "./lines.ts";

/**
 * Messages as JSON lines: `{ id?, role?, content, name?, at?, session?, metadata? }`; other fields are passed over. A
 * line without an id gets one from what it says, wherever it stands, so that the same lines again add nothing. What
 * the fields hold is checked where messages are stored.
 */
export async function* readJsonl(path: string): AsyncIterable<Entry> {
  const repeats = new Map<string, number>();
  for await (const line of linesOf(path)) {
    const place = `line ${line.number}`;
    const { id, role = "user", content, name, at, session, metadata } = objectOf(line);
    if (content === undefined) throw invalid(`${place} has no content.`);
    const said = hashOf(JSON.stringify([session, at, role, name, content]));
    const repeat = repeats.get(said) ?? 0;
    if (id === undefined) repeats.set(said, repeat + 1);
    const known = id === undefined ? `jsonl-${said}${repeat === 0 ? "" : `-${repeat}`}` : id;
    yield { place, message: messageOf({ id: known, role, content, name, at, session, metadata }) };
  }
}

function hashOf(said: string): string {
  return createHash("sha256").update(said).digest("hex").slice(0, 32);
}
