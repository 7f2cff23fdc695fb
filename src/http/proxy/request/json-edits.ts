/** A span of a text, from `start` to before `end`. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, from the quote of its name to the end of its value. */
interface JsonMember extends JsonSpan {
  readonly name: string;
  readonly value: JsonSpan;
}

/**
 * Finds the span of a value in valid JSON by its path of names and indexes. If an object has a name twice, the last one
 * counts, as in `JSON.parse`.
 *
 * It allows changing a request without touching anything else: parsing and serialising would change numbers (2^53 + 1,
 * 1.0) and spaces.
 */
export function findValue(json: string, path: readonly (string | number)[]): JsonSpan | undefined {
  let place: JsonSpan | undefined = scanValue(json, 0);
  for (const step of path) {
    if (!place) return undefined;
    const start: number = place.start;
    if (typeof step === "number") place = json[start] === "[" ? listElements(json, start)[step] : undefined;
    else place = listMembers(json, start).findLast(({ name }) => name === step)?.value;
  }
  return place;
}

/** Lists the members of the object at a position, in order; none if there is no object. */
export function listMembers(json: string, at: number): JsonMember[] {
  const members: JsonMember[] = [];
  if (json[at] !== "{") return members;
  for (let i = skipSpace(json, at + 1); json[i] === '"'; i = skipSpace(json, i + 1)) {
    const nameEnd = findStringEnd(json, i);
    const value = scanValue(json, skipSpace(json, nameEnd) + 1);
    members.push({ name: JSON.parse(json.slice(i, nameEnd)) as string, start: i, end: value.end, value });
    i = skipSpace(json, value.end);
    if (json[i] !== ",") break;
  }
  return members;
}

/** Lists the elements of the array at a position, in order. */
export function listElements(json: string, at: number): JsonSpan[] {
  const elements: JsonSpan[] = [];
  let i = skipSpace(json, at + 1);
  while (i < json.length && json[i] !== "]") {
    const element = scanValue(json, i);
    elements.push(element);
    i = skipSpace(json, element.end);
    if (json[i] === ",") i = skipSpace(json, i + 1);
  }
  return elements;
}

const SPACE_PATTERN = /[ \t\n\r]*/y;
const BARE_VALUE = /[^,\]} \t\n\r]*/y;
const STRUCTURE_MARK = /["{}[\]]/g;

function scanValue(json: string, at: number): JsonSpan {
  const start = skipSpace(json, at);
  const first = json[start];
  if (first === '"') return { start, end: findStringEnd(json, start) };
  if (first !== "{" && first !== "[") return { start, end: findMatchEnd(BARE_VALUE, json, start) };
  let depth = 0;
  for (let i = start; i < json.length; ) {
    const mark = json[i];
    if (mark === '"') i = findStringEnd(json, i);
    else {
      depth += mark === "{" || mark === "[" ? 1 : -1;
      i += 1;
      if (depth === 0) return { start, end: i };
    }
    STRUCTURE_MARK.lastIndex = i;
    i = STRUCTURE_MARK.exec(json)?.index ?? json.length;
  }
  return { start, end: json.length };
}

/** Gives the position after the closing quote of the string that begins at `start`. */
function findStringEnd(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote > 0; quote = json.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (json[quote - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return json.length;
}

function skipSpace(json: string, at: number): number {
  return findMatchEnd(SPACE_PATTERN, json, at);
}

function findMatchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

/** A change to a text: replaces the span with `put`. */
export interface JsonEdit extends JsonSpan {
  readonly put: string;
}

/** Applies edits to a text. Their positions are those of the original text, and they must not overlap. */
export function applyJsonEdits(text: string, edits: readonly JsonEdit[]): string {
  if (edits.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, put } of edits.toSorted((one, other) => one.start - other.start)) {
    parts.push(text.slice(from, start), put);
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

/** Gives the edits that remove members from a JSON object. Everything else keeps its bytes. */
export function removeMembers(json: string, names: ReadonlySet<string>): JsonEdit[] {
  return removeSpans(listMembers(json, skipSpace(json, 0)), ({ name }) => names.has(name));
}

/** Gives the edits that remove some of all members of an object, or elements of an array, with their commas. */
export function removeSpans<Span extends JsonSpan>(
  spans: readonly Span[],
  isRemoved: (span: Span, index: number) => boolean,
): JsonEdit[] {
  const edits: JsonEdit[] = [];
  const isNextRemoved = (i: number): boolean => {
    const span = spans[i];
    return span !== undefined && isRemoved(span, i);
  };
  for (let i = 0; i < spans.length; i += 1) {
    if (!isNextRemoved(i)) continue;
    const first = i;
    while (isNextRemoved(i + 1)) i += 1;
    const [before, next] = [spans[first - 1], spans[i + 1]];
    const start = before?.end ?? spans[first]?.start ?? 0;
    edits.push({ start, end: next?.start ?? spans[i]?.end ?? 0, put: before && next ? "," : "" });
  }
  return edits;
}

/**
 * Whether an object in valid JSON has a name twice, ignoring case. Parsers disagree about which one counts, so another server
 * might read a value that was not checked here. Values of `opaque` names are not searched.
 */
export function hasRepeatedName(json: string, opaque: ReadonlySet<string>): boolean {
  // The names of each open object; arrays have none.
  const open: (Set<string> | undefined)[] = [];
  for (let i = 0; i < json.length; ) {
    const mark = json[i];
    if (mark !== '"') {
      trackNesting(open, mark);
      i += 1;
      continue;
    }
    const member = readMember(json, i, opaque);
    if (member.name !== undefined && isKnownName(member.name, open.at(-1))) return true;
    i = member.end;
  }
  return false;
}

function trackNesting(open: (Set<string> | undefined)[], mark: string | undefined): void {
  if (mark === "{") open.push(new Set());
  else if (mark === "[") open.push(undefined);
  else if (mark === "}" || mark === "]") open.pop();
}

/** Reads a string: gives its text if it is a member name, and the position to continue. */
function readMember(
  json: string,
  at: number,
  opaque: ReadonlySet<string>,
): { readonly name?: string; readonly end: number } {
  const end = findStringEnd(json, at);
  const colon = skipSpace(json, end);
  if (json[colon] !== ":") return { end };
  const name = JSON.parse(json.slice(at, end)) as string;
  return { name: name.toLowerCase(), end: opaque.has(name) ? scanValue(json, colon + 1).end : colon + 1 };
}

function isKnownName(name: string, names: Set<string> | undefined): boolean {
  if (names?.has(name)) return true;
  names?.add(name);
  return false;
}
