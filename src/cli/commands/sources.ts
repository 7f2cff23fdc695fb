import type { Answer, Source } from "../../domain/recall.ts";
import type { ScopedMemory } from "../../engine/surface.ts";
import { isMemoryError } from "../../errors.ts";
import { dimText, formatDay, toShortLine } from "../print.ts";

/** What an answer rests on, a line for each quote, dimmed. */
export async function formatAnswerSources(
  memory: ScopedMemory,
  { used, recall }: Answer,
  stream: NodeJS.WriteStream,
): Promise<string[]> {
  const lines: string[] = [];
  for (const id of used) {
    const sources = recall.items.find((item) => item.id === id)?.sources ?? (await findSources(memory, id));
    for (const { quote, at, role, name } of sources) {
      lines.push(
        dimText(`  “${toShortLine(quote, 100)}”  ${toShortLine(name ?? role, 30)}, ${formatDay(at)}`, stream),
      );
    }
  }
  return [...new Set(lines)];
}

async function findSources(memory: ScopedMemory, id: string): Promise<readonly Source[]> {
  try {
    return (await memory.get(id)).sources;
  } catch (error) {
    // It was forgotten since the answer was given.
    if (isMemoryError(error) && error.code === "not_found") return [];
    throw error;
  }
}
