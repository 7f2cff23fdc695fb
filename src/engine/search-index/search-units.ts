import type { SearchUnit } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { roundToQuantized } from "../../domain/search/quantized-vector.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { formatPassage, splitPassages } from "../../domain/text/split-text.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import type { Ports } from "../ports.ts";
import { yieldToEventLoop } from "../time-slicing.ts";

/** So many texts, of 512 tokens at most, are analysed and embedded in one go: some milliseconds. */
const SLICE = 8;
/** The space of units that have no vector yet. */
const NO_SPACE = "";

/**
 * The search units of messages and memories: passages of at most 512 tokens, and each memory whole, for it is one
 * statement. All are found by their words from the commit on. A local embedder gives their vectors now; another one is
 * not waited for, and what it is to embed waits in the record (see `embedPending`).
 */
export async function createSearchUnits(
  ports: Pick<Ports, "embedder">,
  messages: readonly Message[],
  memories: readonly Memory[],
  signal?: AbortSignal,
): Promise<SearchUnit[]> {
  const searched = [
    ...messages.flatMap((message) =>
      splitPassages(message).map((passage) => ({
        id: passage.id,
        type: "passage" as const,
        owner: message.id,
        start: passage.start,
        end: passage.end,
        text: formatPassage(message, passage),
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
  const units: SearchUnit[] = [];
  for (let at = 0; at < searched.length; at += SLICE) {
    // A long message has hundreds of passages: nobody waits until all are analysed.
    if (at > 0) await yieldToEventLoop();
    units.push(...(await embedUnits(ports.embedder, searched.slice(at, at + SLICE), signal)));
  }
  return units;
}

async function embedUnits(
  embedder: Ports["embedder"],
  searched: readonly (Omit<SearchUnit, "terms" | "space" | "vector"> & { readonly text: string })[],
  signal: AbortSignal | undefined,
): Promise<SearchUnit[]> {
  const texts = searched.map(({ text }) => text);
  const vectors = embedder.local ? await embedder.embed(texts, signal ? { signal } : {}) : undefined;
  return searched.map(({ text, ...unit }, i) => ({
    ...unit,
    terms: termsOfText(text),
    space: vectors ? spaceOf(embedder) : NO_SPACE,
    vector: vectors
      ? roundToQuantized(vectors[i] ?? new Float32Array(embedder.dimensions))
      : new Float32Array(0),
  }));
}

/** The terms of a unit, as they are stored. */
export function termsOfText(text: string): string {
  return extractTerms(text).join(" ");
}

/** The text by which a unit is found, from what it was made of; nothing where that is not at hand. */
export function textOfUnit(
  { type, owner, start, end }: Pick<SearchUnit, "type" | "owner" | "start" | "end">,
  messages: ReadonlyMap<string, Message>,
  memories: ReadonlyMap<string, Memory>,
): string | undefined {
  if (type === "memory") return memories.get(owner)?.text;
  const message = messages.get(owner);
  return message && formatPassage(message, { start, end });
}

/**
 * The version of the word analysis that units are stored with. It stands in their space: what an older analysis left
 * behind is read anew in the background, as what another embedder left behind is (see `embedPending`). Raise it with
 * every change of `analyse` that gives other terms for a text.
 */
const ANALYSIS_VERSION = 2;

/** Where a unit belongs whose vector this embedder made, and whose terms are those of today. */
export function spaceOf({ fingerprint }: Pick<Embedder, "fingerprint">): string {
  return `${fingerprint} ${ANALYSIS_VERSION}`;
}

/** Spaces with vectors of the same embedder and terms of an older analysis, newest first. The first had no number. */
export function listOlderSpaces({ fingerprint }: Pick<Embedder, "fingerprint">): string[] {
  const numbered = Array.from(
    { length: ANALYSIS_VERSION - 2 },
    (_one, i) => `${fingerprint} ${ANALYSIS_VERSION - 1 - i}`,
  );
  return [...numbered, fingerprint];
}
