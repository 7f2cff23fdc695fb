import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** A JSON file of the data folder. An error names the file and what to do. */
export function readJson<Shape>(folder: string, ...path: string[]): Shape {
  return JSON.parse(read(join(folder, ...path)).toString("utf8")) as Shape;
}

/** A gzipped file of JSON lines. */
export function readLines<Shape>(folder: string, ...path: string[]): Shape[] {
  return linesOf(gunzipSync(read(join(folder, ...path))));
}

/** A file of JSON lines. */
export function readPlainLines<Shape>(folder: string, ...path: string[]): Shape[] {
  return linesOf(read(join(folder, ...path)));
}

function linesOf<Shape>(bytes: Buffer): Shape[] {
  const lines = bytes.toString("utf8").split("\n");
  return lines.flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line) as Shape]));
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new Error(`${file} cannot be read. bench/quality/README.md says where the data comes from.`);
  }
}
