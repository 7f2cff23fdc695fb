import { isDeepStrictEqual } from "node:util";
import { invalid } from "../../errors.ts";
import { type JsonChild, type JsonNode, parseJsonTree, readJsonNode, skipTrivia } from "./json-tree.ts";

/** The position of an entry: names of objects from the root, and at the end a name or a test for elements of an array. */
export interface JsonPlace {
  readonly path: readonly string[];
  /** The name of the entry in the last object; absent if the last container is an array. */
  readonly key?: string;
  /** Whether an element of the array is the entry. */
  readonly isEntry?: (value: unknown) => boolean;
}

/**
 * Puts an entry into a JSON text. All other bytes stay: comments, order, indents, ends of lines. Containers that are missing
 * are made. Gives the same text if the entry is there already. Throws `invalid_input` if the text is not valid JSON, or has
 * something else where a container must be.
 */
export function putJsonEntry(text: string, place: JsonPlace, value: unknown): string {
  const root = parseJsonTree(text);
  const { container, missing } = findContainer(root, place);
  if (missing.length > 0) {
    const [key = "", ...rest] = missing;
    const inner = place.key === undefined ? [value] : { [place.key]: value };
    const made = rest.reduceRight<unknown>((content, name) => ({ [name]: content }), inner);
    return insertChild(text, container, key, made);
  }
  checkKind(container, place.key === undefined ? "array" : "object", place);
  const known = findEntry(text, container, place);
  if (!known) return insertChild(text, container, place.key, value);
  if (isDeepStrictEqual(readJsonNode(text, known.value), value)) return text;
  const layout = readLayout(text, container);
  const content = formatJson(value, layout);
  return text.slice(0, known.value.start) + content + text.slice(known.value.end);
}

/**
 * Takes an entry out of a JSON text, with the containers that were made for it. Gives undefined if nothing else was in the
 * text, and the same text if the entry is not there.
 */
export function dropJsonEntry(text: string, place: JsonPlace): string | undefined {
  const root = parseJsonTree(text);
  const { container, missing, chain } = findContainer(root, place);
  if (missing.length > 0) return text;
  const entry = findEntry(text, container, place);
  return entry ? dropChild(text, [...chain, { container, child: entry }]) : text;
}

/** Gives the value of an entry in a JSON text; undefined if it is not there. Throws as `putJsonEntry` does. */
export function readJsonEntry(text: string, place: JsonPlace): unknown {
  const { container, missing } = findContainer(parseJsonTree(text), place);
  const entry = missing.length > 0 ? undefined : findEntry(text, container, place);
  return entry && readJsonNode(text, entry.value);
}

interface Step {
  readonly container: JsonNode;
  /** The member that leads to the next container. */
  readonly child: JsonChild;
}

function findContainer(
  root: JsonNode,
  place: JsonPlace,
): { readonly container: JsonNode; readonly missing: readonly string[]; readonly chain: readonly Step[] } {
  const chain: Step[] = [];
  let container = root;
  for (const [i, name] of place.path.entries()) {
    checkKind(container, "object", place);
    const child = container.children.findLast(({ key }) => key === name);
    if (!child) return { container, missing: place.path.slice(i), chain };
    chain.push({ container, child });
    container = child.value;
  }
  return { container, missing: [], chain };
}

function checkKind(node: JsonNode, kind: "object" | "array", { path }: JsonPlace): void {
  if (node.kind === kind) return;
  const what = kind === "object" ? "an object" : "an array";
  throw invalid(`${path.join(".") || "its content"} is not ${what}. Mend it first; nothing was changed.`);
}

function findEntry(text: string, container: JsonNode, { key, isEntry }: JsonPlace): JsonChild | undefined {
  if (key !== undefined) return container.children.findLast((child) => child.key === key);
  return container.children.find(({ value }) => isEntry?.(readJsonNode(text, value)));
}

/** How a container is written. */
interface Layout {
  /** The end of a line, where each child has its own line. Undefined for children on one line. */
  readonly eol: string | undefined;
  /** The text before a child on its line. */
  readonly indent: string;
  /** One level of the indent. */
  readonly step: string;
}

function readLayout(text: string, container: JsonNode): Layout {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const step = findStep(text);
  const [first] = container.children;
  if (!first) return { eol, indent: `${readIndent(text, container.start)}${step}`, step };
  const hasLines = text.slice(container.start, first.start).includes("\n");
  return { eol: hasLines ? eol : undefined, indent: readIndent(text, first.start), step };
}

/** The indent of the first line in the text that has one. */
function findStep(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}

/** The white space at the beginning of the line of a position. */
function readIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function formatJson(value: unknown, { eol, indent, step }: Layout): string {
  if (eol === undefined) return JSON.stringify(value);
  return JSON.stringify(value, undefined, step).replaceAll("\n", `${eol}${indent}`);
}

function insertChild(text: string, container: JsonNode, key: string | undefined, value: unknown): string {
  const layout = readLayout(text, container);
  const name = key === undefined ? "" : `${JSON.stringify(key)}: `;
  const last = container.children.at(-1);
  if (!last) {
    // On the line of the bracket: so its removal can tell a container that was there from one that was made.
    const child = ` ${name}${formatJson(value, layout)} `;
    return text.slice(0, container.start + 1) + child + text.slice(container.start + 1);
  }
  const hasComma = last.comma !== -1;
  const end = hasComma ? last.comma + 1 : last.value.end;
  const child = `${name}${formatJson(value, layout)}${hasComma ? "," : ""}`;
  const at = layout.eol === undefined ? end : findLineEnd(text, end);
  const space = layout.eol === undefined ? " " : `${layout.eol}${layout.indent}`;
  return `${text.slice(0, end)}${hasComma ? "" : ","}${text.slice(end, at)}${space}${child}${text.slice(at)}`;
}

/** The end of the line, if only comments follow there; otherwise the same position. */
function findLineEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  if (newline === -1) return from;
  const end = text[newline - 1] === "\r" ? newline - 1 : newline;
  const next = skipTrivia(text, from);
  // A block comment that goes on in the next line belongs to what follows.
  return next > newline && !text.slice(from, end).includes("/*") ? end : from;
}

function dropChild(text: string, steps: readonly Step[]): string | undefined {
  const step = steps.at(-1);
  if (!step) return undefined;
  const { container, child } = step;
  const index = container.children.indexOf(child);
  const start = findSpaceStart(text, child.start);
  if (container.children.length === 1) {
    const isOnBracketLine = text.slice(container.start + 1, child.start) === " ";
    if (!isOnBracketLine) return dropChild(text, steps.slice(0, -1));
    const after = text[child.value.end] === " " ? 1 : 0;
    return text.slice(0, container.start + 1) + text.slice(child.value.end + after);
  }
  if (child.comma !== -1) return text.slice(0, start) + text.slice(child.comma + 1);
  const comma = container.children[index - 1]?.comma ?? -1;
  return text.slice(0, comma) + text.slice(comma + 1, start) + text.slice(child.value.end);
}

/** The beginning of the white space before a position, with at most one end of a line. */
function findSpaceStart(text: string, from: number): number {
  let at = from;
  while (text[at - 1] === " " || text[at - 1] === "\t") at -= 1;
  if (text[at - 1] !== "\n") return at;
  return text[at - 2] === "\r" ? at - 2 : at - 1;
}
