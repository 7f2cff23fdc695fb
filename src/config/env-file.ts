import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { invalid } from "../errors.ts";

const FILE_NAME = ".env";
const MOST_BYTES = 1_000_000;

/** Variables of a `.env` file. */
export interface EnvironmentFile {
  readonly path: string;
  readonly variables: { readonly [name: string]: string };
  /** Whether other users of this machine may read it. */
  readonly isReadableByOthers: boolean;
}

/** Gives the `.env` file in the folder of the settings file; without one, in the working directory. */
export function findEnvironmentFile(settingsFile: string | undefined): string | undefined {
  const path = settingsFile === undefined ? FILE_NAME : join(dirname(settingsFile), FILE_NAME);
  return existsSync(path) && statSync(path).isFile() ? path : undefined;
}

/** Reads a `.env` file with Node's own parser. Throws `invalid_input` if it cannot be read. Errors contain no values. */
export function readEnvironmentFile(path: string): EnvironmentFile {
  const { text, mode } = readContent(path);
  const variables: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(parseEnv(text)))
    if (value !== undefined) variables[name] = value;
  // Windows has no such modes.
  return { path, variables, isReadableByOthers: process.platform !== "win32" && (mode & 0o044) !== 0 };
}

function readContent(path: string): { readonly text: string; readonly mode: number } {
  try {
    const { size, mode } = statSync(path);
    if (size <= MOST_BYTES) return { text: readFileSync(path, "utf8"), mode };
  } catch {
    throw invalid(`${path}: the file cannot be read. Check that it exists and its permissions.`);
  }
  throw invalid(`${path}: a file of settings may be at most 1 MB.`);
}
