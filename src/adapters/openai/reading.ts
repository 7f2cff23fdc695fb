import { isObject, parsed } from "./json.ts";
import { readLoosely } from "./loose-json.ts";

/** So much of an answer is looked at; more than this no model writes. */
const MOST = 400_000;
/** So many places where JSON might begin are tried. */
const TRIES = 60;

/** How models mark what they think aloud. */
const MARK = /<(\/?)(?:think|thinking|thought|reasoning|reflection)>/gi;

/** An answer without what the model thought aloud; nothing of one that never ends to think. */
export function withoutThoughts(text: string): string {
  let rest = "";
  let depth = 0;
  let from = 0;
  for (const mark of text.matchAll(MARK)) {
    if (depth === 0) rest += text.slice(from, mark.index);
    from = mark.index + mark[0].length;
    if (mark[1] === "") depth += 1;
    // Some templates open the thought themselves, so that the answer holds its end alone.
    else if (depth === 0) rest = "";
    else depth -= 1;
  }
  return (depth === 0 ? rest + text.slice(from) : rest).trim();
}

/**
 * The JSON of an answer, out of whatever it is wrapped in: thoughts, a fence, words before and after, an escaped text. Of
 * several the first that is what was asked for, else the first. Nothing where there is none. Never throws.
 */
export function jsonIn(answer: string, fits: (value: unknown) => boolean = isObject): unknown {
  const text = answer.slice(0, MOST);
  const candidates: unknown[] = [];
  for (const part of [withoutThoughts(text), text]) {
    for (const value of valuesIn(part)) {
      if (fits(value)) return value;
      candidates.push(value);
    }
  }
  return candidates[0];
}

function* valuesIn(text: string): Generator<unknown> {
  const whole = parsed(text.trim());
  if (typeof whole === "string") {
    // JSON in a text of JSON.
    const inner = parsed(whole);
    if (typeof inner === "object" && inner !== null) yield inner;
  } else if (typeof whole === "object" && whole !== null) {
    yield whole;
    return;
  }
  const opening = /[{[]/g;
  let tries = 0;
  for (let found = opening.exec(text); found && tries < TRIES; found = opening.exec(text)) {
    tries += 1;
    const read = readLoosely(text, found.index);
    if (!read) continue;
    yield read.value;
    opening.lastIndex = Math.max(opening.lastIndex, read.end);
  }
}

/** Whether an answer has what a JSON Schema requires at its top; it is not checked further. */
export function fitsShape(schema: { readonly [key: string]: unknown }): (value: unknown) => boolean {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return (value) => isObject(value) && required.every((name) => Object.hasOwn(value, name));
}
