import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Embedder, MemoryOptions } from "../../src/index.ts";
import { createMemory } from "../../src/memory.ts";
import { random } from "./kill.ts";

/**
 * The one that is killed while it embeds anew. `reembed-child.ts PATH`: opens a database whose vectors are of the old
 * embedder, with the new one; searches all the while; says what it sees, a word a line, and "done" when nothing is left. With a
 * third word, `choice`, the old one stays the memory's own, and the users' project has chosen the new one.
 */

const DIMENSIONS = 256;
export const USERS: readonly string[] = ["ana", "ben", "cem", "dia"];
/** Asked by words, it finds the memory that holds them, with a vector or without. */
export const BY_WORDS = "Where is the zanzibar lantern?";
export const LANTERN = "The user keeps the zanzibar lantern in the attic.";
/** It shares no word with any memory, and the new embedder puts it where the old one had the trap. */
export const INTO_TRAP = "Quokka?";
export const TRAP = "The user owns a trap from another space.";
/** It shares no word with any memory either, and finds the target once that is embedded anew. */
export const BY_VECTOR = "Wombats?";
export const TARGET = "The user has met a small smiling animal.";

export const OLD = "old-1/256";
export const NEW = "new-1/256";

/** Every text has a direction of its own in each space, all of them nearly at right angles to each other. */
export function vectorIn(space: string, text: string): Float32Array {
  if (space === NEW && text === INTO_TRAP) return vectorIn(OLD, TRAP);
  if (space === NEW && text === BY_VECTOR) return vectorIn(NEW, TARGET);
  let seed = 7;
  for (const letter of `${space} ${text}`) seed = (Math.imul(seed, 31) + (letter.codePointAt(0) ?? 0)) | 0;
  const draw = random(seed);
  return unit(Float32Array.from({ length: DIMENSIONS }, () => draw() - 0.5));
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((part) => part / length);
}

/** As a server would be: not at hand before the commit, and some milliseconds away. */
export function newEmbedder(onAsked: (texts: readonly string[]) => void, awayMs: number): Embedder {
  return {
    fingerprint: NEW,
    dimensions: DIMENSIONS,
    local: false,
    floor: 0.4,
    patienceMs: 5000,
    async embed(texts) {
      onAsked(texts);
      if (texts.length > 1) await pause(awayMs);
      return texts.map((text) => vectorIn(NEW, text));
    },
  };
}

/** How the new embedder comes: in place of the old one, or chosen beside it. */
export type EmbedderChange = "replaced" | "choice";

/** The name that the new embedder is chosen by. */
export const CHOSEN = "new";

/** The options with the new embedder. Where it is chosen, the old one must not be given anything of these users. */
export function embedderOptions(
  change: EmbedderChange,
  embedder: Embedder,
): Pick<MemoryOptions, "embedder" | "embedders"> {
  if (change === "replaced") return { embedder };
  const old: Embedder = {
    ...embedder,
    fingerprint: OLD,
    local: true,
    async embed() {
      throw new Error("the old embedder was given a text");
    },
  };
  return { embedder: old, embedders: { [CHOSEN]: embedder } };
}

if (import.meta.main) {
  const [, , path = "", awayMs = "0", change = "replaced"] = process.argv;
  const say = (words: string): number => writeSync(1, `${words}\n`);
  const embedder = newEmbedder((texts) => texts.length > 1 && say(`asked ${texts.length}`), Number(awayMs));
  const memory = await createMemory({ path, ...embedderOptions(change as EmbedderChange, embedder) });
  for (let round = 0; ; round += 1) {
    const { left, problem } = await memory.embedding();
    if (problem !== undefined) say(`fault ${problem}`);
    const scope = memory.scope({ user: USERS[round % USERS.length] ?? "" });
    const begun = performance.now();
    const [byWords, byVector, trapped] = await Promise.all(
      [BY_WORDS, BY_VECTOR, INTO_TRAP].map((query) => scope.recall(query)),
    );
    const took = performance.now() - begun;
    if (!byWords?.items.some(({ text }) => text === LANTERN)) say("fault words found nothing");
    if (byVector?.items.some(({ text }) => text !== TARGET)) say("fault a wrong vector was found");
    if (trapped?.items.length !== 0) say("fault a vector of another space was found");
    say(`searched ${took.toFixed(1)} ${left}`);
    if (left === 0) break;
    await pause(2);
  }
  await memory.close();
  say("done");
}
