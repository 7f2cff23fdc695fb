/** Deeper nesting than in any requested answer. */
const DEEPEST = 64;

/** A value and its end position. */
interface LenientJsonValue {
  readonly value: unknown;
  readonly end: number;
}

/** Marks a value that is cut off, which is not used. */
const CUT: unique symbol = Symbol("cut");

/**
 * Reads one JSON object or array at a position in a text. It accepts what models write: extra commas, comments, line breaks in strings,
 * single quotes and Python's words. If it is cut off, it gives the complete parts; an unfinished string, number or field is left
 * out. Undefined if there is no such value. It reads each character once or twice.
 */
export function parseLenientJson(text: string, start: number): LenientJsonValue | undefined {
  const reader: LenientJsonReader = { text, at: start };
  const value = readValue(reader, 0);
  return value === undefined || value === CUT ? undefined : { value, end: reader.at };
}

interface LenientJsonReader {
  readonly text: string;
  at: number;
}

/** A value; `undefined` if there is none; `CUT` if the text ends within it. */
function readValue(reader: LenientJsonReader, depth: number): unknown {
  skip(reader);
  const { text, at } = reader;
  const first = text[at];
  if (first === undefined) return CUT;
  if (depth > DEEPEST) return undefined;
  if (first === "{") return readObject(reader, depth);
  if (first === "[") return readArray(reader, depth);
  if (first === '"' || first === "'") return readText(reader, first);
  return readWord(reader);
}

function readObject(reader: LenientJsonReader, depth: number): unknown {
  const fields: [string, unknown][] = [];
  const isRead = readMembers(reader, "}", () => {
    const name = readValue(reader, depth + 1);
    if (name === CUT) return CUT;
    skip(reader);
    if (reader.text[reader.at] === undefined) return CUT;
    if (typeof name !== "string" || reader.text[reader.at] !== ":") return undefined;
    reader.at += 1;
    const value = readValue(reader, depth + 1);
    if (value !== undefined && value !== CUT) fields.push([name, value]);
    return value;
  });
  return isRead ? Object.fromEntries(fields) : undefined;
}

function readArray(reader: LenientJsonReader, depth: number): unknown {
  const values: unknown[] = [];
  const isRead = readMembers(reader, "]", () => {
    const value = readValue(reader, depth + 1);
    if (value !== undefined && value !== CUT) values.push(value);
    return value;
  });
  return isRead ? values : undefined;
}

/** Reads members up to the closing character, or to the end of the text; false if one is invalid. */
function readMembers(reader: LenientJsonReader, closing: string, member: () => unknown): boolean {
  reader.at += 1;
  for (;;) {
    skip(reader, ",");
    const first = reader.text[reader.at];
    if (first === undefined) return true;
    if (first === closing) {
      reader.at += 1;
      return true;
    }
    const read = member();
    if (read === CUT) return true;
    if (read === undefined) return false;
  }
}

const ESCAPES: { readonly [letter: string]: string } = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

function readText(reader: LenientJsonReader, quote: string): string | typeof CUT {
  const { text } = reader;
  let value = "";
  for (let at = reader.at + 1; at < text.length; at += 1) {
    const letter = text[at] as string;
    if (letter === quote) {
      reader.at = at + 1;
      return value;
    }
    if (letter !== "\\") {
      value += letter;
      continue;
    }
    at += 1;
    const escaped = text[at] ?? "";
    const code = /^[0-9a-fA-F]{4}$/.exec(text.slice(at + 1, at + 5))?.[0];
    if (escaped === "u" && code !== undefined) {
      value += String.fromCharCode(Number.parseInt(code, 16));
      at += 4;
    } else value += ESCAPES[escaped] ?? escaped;
  }
  reader.at = text.length;
  return CUT;
}

const WORDS: { readonly [word: string]: boolean | null } = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
};
const WORD = /-?[\w.+-]{1,40}/y;

/** A number, or one of the words. At the end of the text it may be incomplete: "1" of "16". */
function readWord(reader: LenientJsonReader): unknown {
  WORD.lastIndex = reader.at;
  const word = WORD.exec(reader.text)?.[0];
  if (word === undefined) return undefined;
  reader.at += word.length;
  if (reader.at >= reader.text.length) return CUT;
  if (Object.hasOwn(WORDS, word)) return WORDS[word];
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word) ? Number(word) : undefined;
}

const GAP = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;

function skip(reader: LenientJsonReader, also = ""): void {
  for (;;) {
    GAP.lastIndex = reader.at;
    reader.at += GAP.exec(reader.text)?.[0].length ?? 0;
    if (also === "" || reader.text[reader.at] !== also) return;
    reader.at += 1;
  }
}
