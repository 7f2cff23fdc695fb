import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { quantizeExactly, roundToQuantized } from "../../src/domain/search/quantized-vector.ts";

/**
 * A word that nobody has written before, so that it stands nowhere by chance: capital first, as a name; and last a letter that is no
 * suffix, so that it is its own search term.
 */
export function canary(): string {
  const letters = Array.from(randomBytes(13), (byte) => "bcdfghjklmnpqrstvwxz"[byte % 20]);
  return `Zq${letters.join("")}k`;
}

/** One way in which a text can stand in bytes. */
interface Form {
  readonly what: string;
  readonly bytes: Buffer;
}

/** All ways in which a canary may stand in a file. */
export function formsOf(word: string): Form[] {
  const said = `The user's boat is called ${word}.`;
  const base64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset, "x"), Buffer.from(word)]).toString("base64");
    // What stands before and after it in the same text changes the first and last letters.
    return { what: `base64, offset ${offset}`, bytes: Buffer.from(text.slice(offset === 0 ? 0 : 4, -4)) };
  });
  return [
    { what: "as it is", bytes: Buffer.from(word) },
    { what: "lower case", bytes: Buffer.from(word.toLowerCase()) },
    { what: "upper case", bytes: Buffer.from(word.toUpperCase()) },
    { what: "its end", bytes: Buffer.from(word.toLowerCase().slice(-9)) },
    { what: "its beginning", bytes: Buffer.from(word.slice(0, 9)) },
    { what: "UTF-16", bytes: Buffer.from(word, "utf16le") },
    { what: "hex", bytes: Buffer.from(Buffer.from(word).toString("hex")) },
    { what: "in JSON", bytes: Buffer.from(JSON.stringify(said).slice(-30)) },
    ...base64,
  ];
}

/** The beginnings of an embedding's bytes, in each width that one may be kept in. */
export async function vectorForms(text: string): Promise<Form[]> {
  const [vector] = await staticEmbedder().embed([text]);
  if (!vector) return [];
  const most = vector.reduce((greatest, part) => Math.max(greatest, Math.abs(part)), 0);
  const codes = quantizeExactly(roundToQuantized(vector))?.codes ?? new Int16Array();
  const eight = Int8Array.from(vector, (part) => Math.round((part / most) * 127));
  const bytes = (view: ArrayBufferView): Buffer =>
    Buffer.from(view.buffer, view.byteOffset, Math.min(256, view.byteLength));
  return [
    { what: "vector, 32 bits", bytes: bytes(vector) },
    { what: "vector, 32 bits, rounded", bytes: bytes(roundToQuantized(vector)) },
    { what: "vector, 16 bits of a float", bytes: bytes(Float16Array.from(vector)) },
    { what: "vector, 16 bits", bytes: bytes(codes) },
    { what: "vector, 8 bits", bytes: bytes(eight) },
  ];
}

/** Where forms stand in all files of a folder, and in what was printed: "memory.db: as it is". */
export function found(folder: string, forms: readonly Form[], printed = ""): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
  const all = [...files, { name: "printed", bytes: Buffer.from(printed) }];
  return all.flatMap(({ name, bytes }) =>
    forms.filter((form) => bytes.includes(form.bytes)).map(({ what }) => `${name}: ${what}`),
  );
}
