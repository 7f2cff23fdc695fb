import { invalid } from "../../errors.ts";

/** A value in a JSON text, with its place. Comments and trailing commas are allowed, as editors write them. */
export interface JsonNode {
  readonly kind: "object" | "array" | "scalar";
  readonly start: number;
  /** After the last character. */
  readonly end: number;
  /** The members of an object or the elements of an array. */
  readonly children: readonly JsonChild[];
}

/** A member of an object, or an element of an array. */
export interface JsonChild {
  /** The name of a member. */
  readonly key?: string;
  /** Where it begins: at its name, or at its value. */
  readonly start: number;
  readonly value: JsonNode;
  /** The position of the comma after it; -1 for none. */
  readonly comma: number;
}

/** The deepest nesting that is read. */
const MAX_DEPTH = 100;
const SCALAR = /"(?:[^"\\\r\n]|\\.)*"|[\w.+-]+/y;
const TRIVIA = /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

/** Parses a JSON text with comments. Throws `invalid_input` if anything in it is not right. */
export function parseJsonTree(text: string): JsonNode {
  const start = skipTrivia(text, text.startsWith("\ufeff") ? 1 : 0);
  const root = parseValue(text, start, 0);
  if (skipTrivia(text, root.end) < text.length) throw createSyntaxError(text, root.end);
  return root;
}

/** Gives the position after white space and comments. */
export function skipTrivia(text: string, from: number): number {
  TRIVIA.lastIndex = from;
  return from + (TRIVIA.exec(text)?.[0].length ?? 0);
}

function parseValue(text: string, start: number, depth: number): JsonNode {
  const sign = text[start];
  if (depth > MAX_DEPTH) throw createSyntaxError(text, start);
  if (sign === "{" || sign === "[") return parseContainer(text, start, depth);
  const end = matchScalar(text, start);
  return { kind: "scalar", start, end, children: [] };
}

function matchScalar(text: string, start: number): number {
  SCALAR.lastIndex = start;
  const [found = ""] = SCALAR.exec(text) ?? [];
  try {
    JSON.parse(found);
  } catch {
    throw createSyntaxError(text, start);
  }
  return start + found.length;
}

function parseContainer(text: string, start: number, depth: number): JsonNode {
  const isObject = text[start] === "{";
  const closing = isObject ? "}" : "]";
  const children: JsonChild[] = [];
  let at = skipTrivia(text, start + 1);
  while (text[at] !== closing) {
    if (children.length > 0 && children.at(-1)?.comma === -1) throw createSyntaxError(text, at);
    const child = parseChild(text, at, { isObject, depth: depth + 1 });
    children.push(child);
    at = skipTrivia(text, child.comma === -1 ? child.value.end : child.comma + 1);
  }
  return { kind: isObject ? "object" : "array", start, end: at + 1, children };
}

function parseChild(
  text: string,
  start: number,
  { isObject, depth }: { readonly isObject: boolean; readonly depth: number },
): JsonChild {
  let valueStart = start;
  let key: string | undefined;
  if (isObject) {
    if (text[start] !== '"') throw createSyntaxError(text, start);
    const end = matchScalar(text, start);
    key = JSON.parse(text.slice(start, end)) as string;
    const colon = skipTrivia(text, end);
    if (text[colon] !== ":") throw createSyntaxError(text, colon);
    valueStart = skipTrivia(text, colon + 1);
  }
  const value = parseValue(text, valueStart, depth);
  const next = skipTrivia(text, value.end);
  return { ...(key === undefined ? {} : { key }), start, value, comma: text[next] === "," ? next : -1 };
}

function createSyntaxError(text: string, at: number): Error {
  const line = text.slice(0, at).split("\n").length;
  return invalid(`it is not valid JSON, at line ${line}. Mend it first; nothing was changed.`);
}

/** Gives a value without its comments. */
export function readJsonNode(text: string, node: JsonNode): unknown {
  if (node.kind === "scalar") return JSON.parse(text.slice(node.start, node.end));
  if (node.kind === "array") return node.children.map(({ value }) => readJsonNode(text, value));
  return Object.fromEntries(node.children.map(({ key = "", value }) => [key, readJsonNode(text, value)]));
}
