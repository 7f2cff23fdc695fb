import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Another number measures again, after a change of the pairs. */
const VERSION = 1;

function toProfilePath(folder: string, id: string): string {
  return join(folder, `${createHash("sha256").update(id).digest("hex").slice(0, 24)}.json`);
}

/** Reads what was measured for a model, as it was saved; undefined if nothing was, or without a folder. */
export async function readStoredProfile(folder: string | undefined, id: string): Promise<unknown> {
  if (folder === undefined) return undefined;
  try {
    const stored = JSON.parse(await readFile(toProfilePath(folder, id), "utf8")) as {
      readonly [field: string]: unknown;
    };
    return stored.id === id && stored.version === VERSION ? stored.profile : undefined;
  } catch {
    // Absent or damaged: it is measured again.
    return undefined;
  }
}

/** Keeps what was measured. If the folder cannot be written, it is measured again at the next opening. */
export async function saveStoredProfile(
  folder: string | undefined,
  id: string,
  profile: object,
): Promise<void> {
  if (folder === undefined) return;
  const path = toProfilePath(folder, id);
  const draft = `${path}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(draft, `${JSON.stringify({ id, version: VERSION, profile })}\n`, { mode: 0o600 });
    await rename(draft, path);
  } catch {
    // Nothing depends on it.
  }
}
