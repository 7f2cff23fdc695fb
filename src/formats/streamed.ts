import type { InputMessage, NewMemory } from "../engine/surface.ts";
import { createJsonlParser } from "./jsonl.ts";
import { isKeepsakeExport, parseExportedLine, toAddedMemory, toExportedMessage } from "./keepsake.ts";
import { type ImportSource, readLines } from "./lines.ts";

/** What a line of a stream brings: a message, or a memory that no message tells. */
export interface StreamedImportLine {
  /** For people: "line 12". */
  readonly place: string;
  readonly message?: InputMessage;
  readonly memory?: NewMemory;
}

/** Messages as JSON lines, or an export of ours, whose first line says so; in one pass, one line held at a time. */
export async function* readImportStream(source: ImportSource): AsyncIterable<StreamedImportLine> {
  const entryOf = createJsonlParser();
  let isOurs: boolean | undefined;
  for await (const line of readLines(source)) {
    isOurs ??= isKeepsakeExport(line);
    if (!isOurs) {
      yield entryOf(line);
      continue;
    }
    const exported = parseExportedLine(line);
    if (!exported) continue;
    const { type, place, body } = exported;
    const entry = type === "message" ? toExportedMessage(place, body) : undefined;
    if (entry) yield entry;
    const memory = type === "memory" ? toAddedMemory(body) : undefined;
    if (memory) yield { place, memory };
  }
}
