import type { SearchUnit } from "../../domain/change-set.ts";
import { isUndone, type Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { roundToQuantized } from "../../domain/search/quantized-vector.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { formatPassage, splitPassages } from "../../domain/text/split-text.ts";
import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { Embedder } from "../../ports/language/embedder.ts";

/** Texts, of at most 512 tokens, analysed and embedded at once: some milliseconds. */
const SLICE = 8;
/** The space of units without a vector. */
const NO_SPACE = "";

/**
 * Creates the search units of messages and memories: passages of at most 512 tokens, and each memory as one
 * unit, except those that were undone. All are found by their words from the commit on. A local embedder computes their vectors now. A
 * remote one is not awaited; its units wait in the store (see `embedPending`).
 */
export async function createSearchUnits(
  ports: { readonly embedder: Embedder },
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
    ...memories
      .filter((memory) => !isUndone(memory))
      .map((memory) => ({
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
    // A long message has hundreds of passages; other work must not wait for all of them.
    if (at > 0) await yieldToEventLoop();
    units.push(...(await embedUnits(ports.embedder, searched.slice(at, at + SLICE), signal)));
  }
  return units;
}

async function embedUnits(
  embedder: Embedder,
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

/**
 * The text by which a unit is found, taken from its message or memory; undefined if that is not available.
 */
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
 * The version of the word analysis of stored units. It is part of their space: units of an older analysis,
 * like those of another embedder, are analysed again in the background (see `embedPending`). Raise it with
 * every change of `analyse` that gives other terms for a text.
 */
const ANALYSIS_VERSION = 2;

/** The space of units with vectors of this embedder and current terms. */
export function spaceOf({ fingerprint }: Pick<Embedder, "fingerprint">): string {
  return `${fingerprint} ${ANALYSIS_VERSION}`;
}

/**
 * Spaces with vectors of the same embedder and terms of an older analysis, newest first. The first one had no
 * number.
 */
export function listOlderSpaces({ fingerprint }: Pick<Embedder, "fingerprint">): string[] {
  const numbered = Array.from(
    { length: ANALYSIS_VERSION - 2 },
    (_one, i) => `${fingerprint} ${ANALYSIS_VERSION - 1 - i}`,
  );
  return [...numbered, fingerprint];
}
