import { fileSecret, textSecret } from "../adapters/sqlite/index.ts";
import { passingSecret } from "../adapters/system/index.ts";
import type { SecretState } from "../engine/api/inspection-types.ts";
import type { MemoryStore } from "../ports/memory-store.ts";
import type { Secret } from "../ports/system.ts";

interface OpenedSecret {
  readonly secret: Secret;
  /** Whether its file was missing and has been created. */
  readonly isNew: boolean;
}

/** Creates a loader of the secret: the given one, that in the file beside the database, or one for this process. Loads it on first use. */
export function createSecretLoader(
  { secret }: { readonly secret?: Secret | string },
  file: string | undefined,
): () => OpenedSecret {
  let held: OpenedSecret | undefined;
  return () => {
    if (held) return held;
    if (typeof secret === "string") held = { secret: textSecret(secret), isNew: false };
    else if (secret) held = { secret, isNew: false };
    else held = file === undefined ? { secret: passingSecret(), isNew: false } : fileSecret(file);
    return held;
  };
}

/** Gives notices about the secret. */
export async function getSecretNotices(store: MemoryStore, isNew: boolean): Promise<string[]> {
  if (isNew && (await store.erasures.list()).length > 0) return [LOST_SECRET];
  return (await store.integrity?.state())?.secret === "another" ? [OTHER_SECRET] : [];
}

/** Gives whether rows can be checked with the secret. A new one beside a database with erasures is a wrong one. */
export async function getSecretState(store: MemoryStore, isNew: boolean): Promise<SecretState> {
  const isAnother = (await store.integrity?.state())?.secret === "another";
  if (isAnother || (isNew && (await store.erasures.summaries()).length > 0)) return "another";
  return isNew ? "new" : "own";
}

const OTHER_SECRET =
  "This database was written with another secret, so changes of its rows cannot be detected. Restore the old secret, or run " +
  "`keepsake doctor --fix` to continue with this one.";

const LOST_SECRET =
  "The secret beside the database was missing, and a new one was created. Erased data may be stored again, and earlier " +
  "receipts cannot be verified. Restore the old .secret file if you have it.";
