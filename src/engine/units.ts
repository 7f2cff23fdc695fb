import type { Unit } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { passagesOf, passageText } from "../domain/passages.ts";
import { analyse } from "../domain/words.ts";
import type { Ports } from "./ports.ts";

/** The search units of messages and memories: their passages, analysed and embedded. */
export async function unitsOf(
  ports: Pick<Ports, "embedder">,
  messages: readonly Message[],
  memories: readonly Memory[],
  signal?: AbortSignal,
): Promise<Unit[]> {
  const searched = [
    ...messages.flatMap((message) =>
      passagesOf(message).map((passage) => ({
        id: passage.id,
        type: "passage" as const,
        owner: message.id,
        start: passage.start,
        end: passage.end,
        text: passageText(message, passage),
      })),
    ),
    ...memories.map((memory) => ({
      id: memory.id,
      type: "memory" as const,
      owner: memory.id,
      start: 0,
      end: memory.text.length,
      text: memory.text,
    })),
  ];
  if (searched.length === 0) return [];
  const vectors = await ports.embedder.embed(
    searched.map(({ text }) => text),
    signal ? { signal } : {},
  );
  const none = new Float32Array(ports.embedder.dimensions);
  return searched.map(({ text, ...unit }, i) => ({
    ...unit,
    terms: analyse(text).join(" "),
    space: ports.embedder.fingerprint,
    vector: vectors[i] ?? none,
  }));
}
