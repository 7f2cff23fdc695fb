import type { InputMessage, NewMemory } from "../engine/surface.ts";
import { jsonlEntries } from "./jsonl.ts";
import { addedMemory, exportedLine, exportedMessage, isExport } from "./keepsake.ts";
import { linesOf, type Source } from "./lines.ts";

/** What a line of a stream brings: a message, or a memory that no message tells. */
export interface StreamedEntry {
  /** For people: "line 12". */
  readonly place: string;
  readonly message?: InputMessage;
  readonly memory?: NewMemory;
}

/** Messages as JSON lines, or an export of ours, whose first line says so; in one pass, one line held at a time. */
export async function* readStreamed(source: Source): AsyncIterable<StreamedEntry> {
  const entryOf = jsonlEntries();
  let isOurs: boolean | undefined;
  for await (const line of linesOf(source)) {
    isOurs ??= isExport(line);
    if (!isOurs) {
      yield entryOf(line);
      continue;
    }
    const exported = exportedLine(line);
    if (!exported) continue;
    const { type, place, body } = exported;
    const entry = type === "message" ? exportedMessage(place, body) : undefined;
    if (entry) yield entry;
    const memory = type === "memory" ? addedMemory(body) : undefined;
    if (memory) yield { place, memory };
  }
}
