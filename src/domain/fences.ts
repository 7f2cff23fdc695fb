import type { TextSpan } from "./sentences.ts";

/**
 * Our own block, whatever its nonce, and however it comes back: indented, quoted, in one line, or as a string in JSON or
 * HTML. One whose end was cut off reaches as far as its lines do.
 */
const OPENING = /(?:<|&lt;|\\u003c)keepsake-([a-z0-9]{8,64})(?:>|&gt;|\\u003e)/gi;
const CLOSING = /(?:<|&lt;|\\u003c)\\?\/keepsake-([a-z0-9]{8,64})(?:>|&gt;|\\u003e)/gi;

/** A line as `recall` gives it in `context`: "- [2026-01-12] The user uses Shram. (message m1)". */
const CONTEXT_LINE =
  /^[ \t>*]*- \[\d{4}-\d{2}-\d{2}\](?: \[(?:no longer so(?: since \d{4}-\d{2}-\d{2})?|was never so)\])? .+ \(messages? [^\s()]+(?:, [^\s()]+)*\)[ \t]*$/gm;

/** Where in a text stand blocks and lines that came out of a memory: they were said by nobody. In order, none over another. */
export function findPromptBlocks(text: string): TextSpan[] {
  const spans: TextSpan[] = [];
  const closings = Array.from(text.matchAll(CLOSING), ({ 0: mark, 1: nonce = "", index }) => ({
    nonce: nonce.toLowerCase(),
    end: index + mark.length,
  }));
  const left = new Map<string, number[]>();
  for (const { nonce, end } of closings.reverse()) {
    const ends = left.get(nonce) ?? [];
    ends.push(end);
    left.set(nonce, ends);
  }
  let reached = 0;
  for (const { 0: mark, 1: nonce = "", index } of text.matchAll(OPENING)) {
    if (index < reached) continue;
    const ends = left.get(nonce.toLowerCase()) ?? [];
    while ((ends.at(-1) ?? Number.POSITIVE_INFINITY) < index) ends.pop();
    reached = ends.at(-1) ?? findCutEnd(text, index + mark.length);
    spans.push({ start: index, end: reached });
  }
  const lines = Array.from(text.matchAll(CONTEXT_LINE), ({ 0: line, index }) => ({
    start: index,
    end: index + line.length,
  }));
  return dropOverlapping([...spans, ...lines]);
}

/** Spans in order, without those that lie over an earlier one. */
function dropOverlapping(spans: readonly TextSpan[]): TextSpan[] {
  const kept: TextSpan[] = [];
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    if (span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span);
  }
  return kept;
}

/** A text without them; the same text where there are none. What is left around them is what was said. */
export function stripPromptBlocks(text: string): string {
  const spans = findPromptBlocks(text);
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    parts.push(text.slice(from, start).trimEnd());
    from = end;
  }
  parts.push(text.slice(from));
  return parts
    .map((part, i) => (i === 0 ? part : part.trimStart()))
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Where a block without its end stops: the line of the mark, our note, and what still looks like our lines. */
const REST =
  /[^\n]*(?:\n[ \t>]*(?:What is kept about the user, one JSON object a line[^\n]*|\{"(?:n|at|said_by|kind|until|text)":[^\n]*))*/y;

function findCutEnd(text: string, from: number): number {
  REST.lastIndex = from;
  return from + (REST.exec(text)?.[0].length ?? 0);
}
