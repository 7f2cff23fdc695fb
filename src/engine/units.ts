import type { Unit } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { passagesOf, passageText } from "../domain/passages.ts";
import { shortened } from "../domain/short-vector.ts";
import { analyse } from "../domain/words.ts";
import { othersTurn } from "./others-turn.ts";
import type { Ports } from "./ports.ts";
import { spaceOf } from "./space.ts";

/** So many texts, of 512 tokens at most, are analysed and embedded in one go: some milliseconds. */
const SLICE = 8;
/** The space of units that have no vector yet. */
const NO_SPACE = "";

/**
 * The search units of messages and memories: passages of at most 512 tokens, and each memory whole, for it is one
 * statement. All are found by their words from the commit on. A local embedder gives their vectors now; another one is
 * not waited for, and what it is to embed waits in the record (see `embedPending`).
 */
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
  const units: Unit[] = [];
  for (let at = 0; at < searched.length; at += SLICE) {
    // A long message has hundreds of passages: nobody waits until all are analysed.
    if (at > 0) await othersTurn();
    units.push(...(await madeUnits(ports.embedder, searched.slice(at, at + SLICE), signal)));
  }
  return units;
}

async function madeUnits(
  embedder: Ports["embedder"],
  searched: readonly (Omit<Unit, "terms" | "space" | "vector"> & { readonly text: string })[],
  signal: AbortSignal | undefined,
): Promise<Unit[]> {
  const texts = searched.map(({ text }) => text);
  const vectors = embedder.local ? await embedder.embed(texts, signal ? { signal } : {}) : undefined;
  return searched.map(({ text, ...unit }, i) => ({
    ...unit,
    terms: termsOf(text),
    space: vectors ? spaceOf(embedder) : NO_SPACE,
    vector: vectors ? shortened(vectors[i] ?? new Float32Array(embedder.dimensions)) : new Float32Array(0),
  }));
}

/** The terms of a unit, as they are stored. */
export function termsOf(text: string): string {
  return analyse(text).join(" ");
}

/** The text by which a unit is found, from what it was made of; nothing where that is not at hand. */
export function textOfUnit(
  { type, owner, start, end }: Pick<Unit, "type" | "owner" | "start" | "end">,
  messages: ReadonlyMap<string, Message>,
  memories: ReadonlyMap<string, Memory>,
): string | undefined {
  if (type === "memory") return memories.get(owner)?.text;
  const message = messages.get(owner);
  return message && passageText(message, { start, end });
}
