import { createHash } from "node:crypto";
import { invalid } from "../errors.ts";
import { type Entry, messageOf } from "./entry.ts";
import { type Line, linesOf, objectOf, type Source } from "./lines.ts";

/**
 * Messages as JSON lines: `{ id?, role?, content, name?, at?, session?, metadata? }`; other fields are passed over. A
 * line without an id gets one from what it says, wherever it stands, so that the same lines again add nothing. What
 * the fields hold is checked where messages are stored.
 */
export async function* readJsonl(source: Source): AsyncIterable<Entry> {
  const entryOf = jsonlEntries();
  for await (const line of linesOf(source)) yield entryOf(line);
}

/** Makes an entry of a line; one maker for all lines of a source, for it numbers those that say the same. */
export function jsonlEntries(): (line: Line) => Entry {
  const repeats = new Map<string, number>();
  return (line) => {
    const place = `line ${line.number}`;
    const { id, role = "user", content, name, at, session, metadata } = objectOf(line);
    if (content === undefined) throw invalid(`${place} has no content.`);
    const said = hashOf(JSON.stringify([session, at, role, name, content]));
    const repeat = repeats.get(said) ?? 0;
    if (id === undefined) repeats.set(said, repeat + 1);
    const known = id === undefined ? `jsonl-${said}${repeat === 0 ? "" : `-${repeat}`}` : id;
    return { place, message: messageOf({ id: known, role, content, name, at, session, metadata }) };
  };
}

function hashOf(said: string): string {
  return createHash("sha256").update(said).digest("hex").slice(0, 32);
}
