import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Another number measures again, after a change of the pairs. */
const VERSION = 1;

function toProfilePath(folder: string, id: string, extension = "json"): string {
  return join(folder, `${createHash("sha256").update(id).digest("hex").slice(0, 24)}.${extension}`);
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
  await saveFile(folder, toProfilePath(folder, id), `${JSON.stringify({ id, version: VERSION, profile })}\n`);
}

/** Reads weights of a model that were downloaded earlier. */
export async function readStoredWeights(
  folder: string | undefined,
  id: string,
): Promise<Uint8Array | undefined> {
  if (folder === undefined) return undefined;
  return await readFile(toProfilePath(folder, id, "safetensors")).catch(() => undefined);
}

/** Keeps weights that were downloaded. If the folder cannot be written, they are downloaded again. */
export async function saveStoredWeights(
  folder: string | undefined,
  id: string,
  weights: Uint8Array,
): Promise<void> {
  if (folder !== undefined) await saveFile(folder, toProfilePath(folder, id, "safetensors"), weights);
}

async function saveFile(folder: string, path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(draft, content, { mode: 0o600 });
    await rename(draft, path);
  } catch {
    // Nothing depends on it.
  }
}
