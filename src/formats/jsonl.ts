import { createHash } from "node:crypto";
import { invalid } from "../errors.ts";
import { type ImportedMessage, toInputMessage } from "./entry.ts";
import { type ImportSource, type NumberedLine, parseObject, readLines } from "./lines.ts";

/**
 * Messages as JSON lines: `{ id?, role?, content, name?, at?, session?, metadata? }`; other fields are passed over. A
 * line without an id gets one from what it says, wherever it stands, so that the same lines again add nothing. What
 * the fields hold is checked where messages are stored.
 */
export async function* readJsonl(source: ImportSource): AsyncIterable<ImportedMessage> {
  const entryOf = createJsonlParser();
  for await (const line of readLines(source)) yield entryOf(line);
}

/** Makes an entry of a line; one maker for all lines of a source, for it numbers those that say the same. */
export function createJsonlParser(): (line: NumberedLine) => ImportedMessage {
  const repeats = new Map<string, number>();
  return (line) => {
    const place = `line ${line.number}`;
    const { id, role = "user", content, name, at, session, metadata } = parseObject(line);
    if (content === undefined) throw invalid(`${place} has no content.`);
    const said = hashContent(JSON.stringify([session, at, role, name, content]));
    const repeat = repeats.get(said) ?? 0;
    if (id === undefined) repeats.set(said, repeat + 1);
    const known = id === undefined ? `jsonl-${said}${repeat === 0 ? "" : `-${repeat}`}` : id;
    return { place, message: toInputMessage({ id: known, role, content, name, at, session, metadata }) };
  };
}

function hashContent(said: string): string {
  return createHash("sha256").update(said).digest("hex").slice(0, 32);
}
