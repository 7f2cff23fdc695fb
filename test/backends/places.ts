import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** So many numbers of a vector tell it from any other. */
const ENOUGH = 16;
/** Some servers bring a vector to unit length once more, which changes its last digits. */
const ALIKE = 1e-5;

/** The files under a folder in which bytes stand, by path within it. */
export function filesWith(folder: string, bytes: Buffer): string[] {
  return files(folder).flatMap(({ path, held }) => (held.includes(bytes) ? [path] : []));
}

/** The files in which a vector stands as 32-bit numbers, at any place, to the fifth digit; how often in each. */
export function filesWithVectors(folder: string, vectors: readonly Float32Array[]): string[] {
  return files(folder).flatMap(({ path, held }) => {
    const found = vectors.filter((vector) => stands(vector, held)).length;
    return found === 0 ? [] : [`${path}: ${found}`];
  });
}

function files(folder: string): { readonly path: string; readonly held: Buffer }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path: path.slice(folder.length + 1), held: readFileSync(path) }));
}

function stands(vector: Float32Array, held: Buffer): boolean {
  return [0, 1, 2, 3].some((start) => {
    const numbers = new Float32Array(
      Uint8Array.from(held.subarray(start, held.length - ((held.length - start) % 4))).buffer,
    );
    const [first = 0] = vector;
    for (let at = 0; at + ENOUGH <= numbers.length; at += 1) {
      if (Math.abs((numbers[at] ?? 0) - first) < ALIKE && isAlike(vector, numbers, at)) return true;
    }
    return false;
  });
}

function isAlike(vector: Float32Array, numbers: Float32Array, at: number): boolean {
  for (let i = 0; i < ENOUGH; i += 1) {
    if (!(Math.abs((numbers[at + i] ?? 0) - (vector[i] ?? 0)) < ALIKE)) return false;
  }
  return true;
}
