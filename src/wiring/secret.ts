import { fileSecret, textSecret } from "../adapters/sqlite/index.ts";
import { passingSecret } from "../adapters/system/index.ts";
import type { SecretState } from "../engine/admin/health.ts";
import type { MemoryStore } from "../ports/memory-store.ts";
import type { Secret } from "../ports/system.ts";

export interface OpenedSecret {
  readonly secret: Secret;
  /** Whether its file was not there and has been made. */
  readonly isNew: boolean;
}

/** The secret given, or the one in the file beside the database, or one for this process; made out when it is first asked for. */
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

/** What a person should be told of the secret. */
export async function getSecretNotices(record: MemoryStore, isNew: boolean): Promise<string[]> {
  if (isNew && (await record.erasures()).length > 0) return [LOST_SECRET];
  return (await record.integrity?.state())?.secret === "another" ? [OTHER_SECRET] : [];
}

/** Whether rows can be checked under it. One that was made beside a record that has erasures is another one. */
export async function getSecretState(record: MemoryStore, isNew: boolean): Promise<SecretState> {
  const isAnother = (await record.integrity?.state())?.secret === "another";
  if (isAnother || (isNew && (await record.erasureSummaries()).length > 0)) return "another";
  return isNew ? "new" : "own";
}

const OTHER_SECRET =
  "The secret is not the one that this database was written under: whether its rows were changed cannot be checked. Put the old " +
  "secret back, or run `keepsake doctor --fix` to go on with this one.";

const LOST_SECRET =
  "The secret beside the database was missing and has been made anew. What was erased before is not kept out any " +
  "more, and the receipts of those erasures cannot be checked. Put the old file back if you have it.";
