import { isJsonObject, parseJson } from "./json.ts";
import { parseLenientJson } from "./loose-json.ts";

/** So much of an answer is looked at; more than this no model writes. */
const MAX_ANSWER_CHARACTERS = 400_000;
/** So many places where JSON might begin are tried. */
const MAX_JSON_STARTS = 60;

/** How models mark what they think aloud. */
const THOUGHT_MARKS = /<(\/?)(?:think|thinking|thought|reasoning|reflection)>/gi;

/** An answer without what the model thought aloud; nothing of one that never ends to think. */
export function removeThoughts(text: string): string {
  let rest = "";
  let depth = 0;
  let from = 0;
  for (const mark of text.matchAll(THOUGHT_MARKS)) {
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
export function findJson(answer: string, fits: (value: unknown) => boolean = isJsonObject): unknown {
  const text = answer.slice(0, MAX_ANSWER_CHARACTERS);
  const candidates: unknown[] = [];
  for (const part of [removeThoughts(text), text]) {
    for (const value of findJsonValues(part)) {
      if (fits(value)) return value;
      candidates.push(value);
    }
  }
  return candidates[0];
}

function* findJsonValues(text: string): Generator<unknown> {
  const whole = parseJson(text.trim());
  if (typeof whole === "string") {
    // JSON in a text of JSON.
    const inner = parseJson(whole);
    if (typeof inner === "object" && inner !== null) yield inner;
  } else if (typeof whole === "object" && whole !== null) {
    yield whole;
    return;
  }
  const opening = /[{[]/g;
  let tries = 0;
  for (let found = opening.exec(text); found && tries < MAX_JSON_STARTS; found = opening.exec(text)) {
    tries += 1;
    const read = parseLenientJson(text, found.index);
    if (!read) continue;
    yield read.value;
    opening.lastIndex = Math.max(opening.lastIndex, read.end);
  }
}

/** Whether an answer has what a JSON Schema requires at its top; it is not checked further. */
export function createShapeCheck(schema: { readonly [key: string]: unknown }): (value: unknown) => boolean {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return (value) => isJsonObject(value) && required.every((name) => Object.hasOwn(value, name));
}
