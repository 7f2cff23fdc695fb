import { invalid } from "../../errors.ts";

/** A statement of a TOML text: a table's header, or a key with a value. */
interface TomlStatement {
  readonly kind: "table" | "value";
  /** The names of a header or a key, without quotes. */
  readonly names: readonly string[];
  /** Of the line that it begins in. */
  readonly start: number;
  /** After its last line. */
  readonly end: number;
  readonly line: number;
}

const NAME = /[ \t]*(?:([A-Za-z0-9_-]+)|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')[ \t]*/y;

/**
 * Puts a table at the end of a TOML text, or changes it. All other bytes stay. Throws `invalid_input` if the text is not
 * valid, or says the same in another form.
 */
export function putTomlTable(text: string, names: readonly string[], content: readonly string[]): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const block = [`[${names.join(".")}]`, ...content].join(eol);
  const known = findTable(text, names);
  if (known) {
    const held = text.slice(known.start, known.end);
    const [, space = ""] = /(\s*)$/.exec(held) ?? [];
    return held.trimEnd() === block
      ? text
      : `${text.slice(0, known.start)}${block}${space}${text.slice(known.end)}`;
  }
  // A text without an end of its last line stays one, so that its removal gives the same bytes.
  const isEnded = text === "" || text.endsWith("\n");
  return isEnded ? `${text}${eol}${block}${eol}` : `${text}${eol}${eol}${block}`;
}

/** Takes a table and its sub-tables out of a TOML text. Gives undefined if the text was made for it. */
export function dropTomlTable(text: string, names: readonly string[]): string | undefined {
  const known = findTable(text, names);
  if (!known) return text;
  const before = text.slice(0, known.start);
  const after = text.slice(known.end);
  if (before === "" && after === "") return undefined;
  const isEnded = after !== "" || text.endsWith("\n");
  const kept = isEnded ? before.replace(/\r?\n$/, "") : before.replace(/\r?\n\r?\n$/, "");
  // The blank line before the table goes with it; the end of the line before that stays.
  return (isBlankLineBefore(before) ? kept : before) + after;
}

/** Gives the text of a table with its sub-tables; undefined if it is not there. Throws as `putTomlTable` does. */
export function readTomlTable(text: string, names: readonly string[]): string | undefined {
  const known = findTable(text, names);
  return known && text.slice(known.start, known.end);
}

/** The text of a new file with one table. */
export function createTomlTable(names: readonly string[], content: readonly string[]): string {
  return `${[`[${names.join(".")}]`, ...content].join("\n")}\n`;
}

function isBlankLineBefore(text: string): boolean {
  return /(?:^|\n)\r?\n$/.test(text);
}

interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Finds a table with its sub-tables. Throws if the same is said by other statements. */
function findTable(text: string, names: readonly string[]): TextRange | undefined {
  let table: readonly string[] = [];
  let range: TextRange | undefined;
  for (const statement of parseToml(text)) {
    const { kind, names: given, start, end } = statement;
    if (kind === "table") table = given;
    const whole = kind === "table" ? given : [...table, ...given];
    const isPart = names.every((name, i) => whole[i] === name);
    // An inline table above ours: `mcp_servers = { … }`.
    const isAbove = kind === "value" && whole.length < names.length && isBeginning(whole, names);
    const isOtherForm = isPart && !range && (kind === "value" || given.length > names.length);
    const isApart = isPart && range !== undefined && text.slice(range.end, start).trim() !== "";
    if (isAbove || isOtherForm || isApart) throw createFormError(statement, whole);
    if (isPart) range = { start: range?.start ?? start, end };
  }
  return range;
}

const isBeginning = (some: readonly string[], all: readonly string[]): boolean =>
  some.every((name, i) => all[i] === name);

function createFormError({ line }: TomlStatement, names: readonly string[]): Error {
  return invalid(`line ${line} sets ${names.join(".")} in a form that is not edited. Change it by hand.`);
}

/** Parses the statements of a TOML text. Checks brackets, strings and keys; not what values mean. */
function parseToml(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const start = at;
    const first = skipSpaces(text, at);
    const kind = text[first] === "[" ? "table" : "value";
    let end = first;
    if (!isLineEnd(text, first)) {
      const { names, end: after } =
        kind === "table" ? parseHeader(text, first) : parseAssignment(text, first);
      end = after;
      const rest = skipSpaces(text, end);
      if (!isLineEnd(text, rest)) throw createSyntaxError(text, rest);
      at = findNextLine(text, rest);
      statements.push({ kind, names, start, end: at, line });
    } else at = findNextLine(text, first);
    line += text.slice(start, at).split("\n").length - 1;
  }
  return statements;
}

function parseHeader(text: string, start: number): { names: string[]; end: number } {
  const isArray = text.startsWith("[[", start);
  const { names, end } = parseNames(text, start + (isArray ? 2 : 1));
  const closing = isArray ? "]]" : "]";
  if (!text.startsWith(closing, end)) throw createSyntaxError(text, end);
  return { names, end: end + closing.length };
}

function parseAssignment(text: string, start: number): { names: string[]; end: number } {
  const { names, end } = parseNames(text, start);
  if (text[end] !== "=") throw createSyntaxError(text, end);
  return { names, end: skipValue(text, skipSpaces(text, end + 1)) };
}

function parseNames(text: string, start: number): { names: string[]; end: number } {
  const names: string[] = [];
  let at = start;
  for (;;) {
    NAME.lastIndex = at;
    const found = NAME.exec(text);
    if (!found) throw createSyntaxError(text, at);
    names.push(found[1] ?? found[2] ?? found[3] ?? "");
    at = NAME.lastIndex;
    if (text[at] !== ".") return { names, end: at };
    at += 1;
  }
}

const VALUE_PART =
  /"""(?:[^\\]|\\[\s\S])*?"""(?:"{0,2})|'''[\s\S]*?'''(?:'{0,2})|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|\r?\n|[[\]{}]|[^"'[\]{}#\r\n]+/y;
const CLOSING: { readonly [opening: string]: string } = { "[": "]", "{": "}" };

/** A number, a boolean or a time. */
const BARE_VALUE = /^[\w.+:-]+(?: [\w.+:-]+)?$/;

/** Gives the position after a value, which may go over several lines in brackets. */
function skipValue(text: string, start: number): number {
  if (isLineEnd(text, start)) throw createSyntaxError(text, start);
  const open: string[] = [];
  let at = start;
  do {
    VALUE_PART.lastIndex = at;
    const [part = ""] = VALUE_PART.exec(text) ?? [];
    if (part === "" || !trackBrackets(open, part)) throw createSyntaxError(text, at);
    at += part.length;
  } while (open.length > 0);
  const value = text.slice(start, at).trimEnd();
  if (/^[^"'[{]/.test(value) && !BARE_VALUE.test(value)) throw createSyntaxError(text, start);
  return at;
}

/** Notes a bracket that opens or closes. Gives false for one that closes another. */
function trackBrackets(open: string[], part: string): boolean {
  const closing = CLOSING[part];
  if (closing !== undefined) open.push(closing);
  return (part !== "]" && part !== "}") || open.pop() === part;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at += 1;
  return at;
}

function isLineEnd(text: string, at: number): boolean {
  return at >= text.length || text[at] === "\n" || text[at] === "#" || text.startsWith("\r\n", at);
}

function findNextLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end + 1;
}

function createSyntaxError(text: string, at: number): Error {
  const line = text.slice(0, at).split("\n").length;
  return invalid(`it is not valid TOML, at line ${line}. Mend it first; nothing was changed.`);
}
