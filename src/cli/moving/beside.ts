import { constants, copyFileSync, existsSync } from "node:fs";
import { fileSecret, textSecret } from "../../adapters/sqlite/index.ts";
import { MemoryError } from "../../errors.ts";
import type { MoveEndpoint, MoveEndpointSettings } from "./place.ts";

/**
 * The secret first: without it tombstones and receipts are worth nothing. It goes from file to file; where one side has no
 * file, `KEEPSAKE_SECRET` has to be set to it. `conflict` where the two sides have different ones.
 */
export function moveSecret(from: MoveEndpoint, to: MoveEndpoint, settings: MoveEndpointSettings): void {
  const held = from.secretFile;
  if (held === undefined || !existsSync(held)) return;
  if (settings.secret !== undefined) {
    if (!isSameSecret(fileSecret(held).secret, textSecret(settings.secret)))
      throw createOtherSecretError(held);
    return;
  }
  const { secretFile } = to;
  if (secretFile === undefined) throw createMissingSecretError(held);
  if (!existsSync(secretFile)) copyFileSync(held, secretFile, constants.COPYFILE_EXCL);
  else if (!isSameSecret(fileSecret(held).secret, fileSecret(secretFile).secret)) {
    throw new MemoryError(
      "conflict",
      `move: ${secretFile} holds another secret than ${from.displayName} has. Take it away, or name another place.`,
    );
  }
}

type SecretSigner = { readonly sign: (text: string) => string };

function isSameSecret(one: SecretSigner, other: SecretSigner): boolean {
  return one.sign("keepsake") === other.sign("keepsake");
}

function createMissingSecretError(file: string): MemoryError {
  return new MemoryError(
    "invalid_input",
    `move: set KEEPSAKE_SECRET to what ${file} holds: several servers share the secret there, and no file keeps it.`,
  );
}

function createOtherSecretError(file: string): MemoryError {
  return new MemoryError(
    "conflict",
    `move: KEEPSAKE_SECRET is another secret than ${file} holds. With another one, what was erased is not kept out and ` +
      "receipts cannot be checked. Set it to what the file holds; take the file away where it is of another time.",
  );
}

/** The ledger of erasures, and the keys with the pages that are signed in. What is there already stays. */
export async function moveLedgerAndKeys(from: MoveEndpoint, to: MoveEndpoint): Promise<void> {
  const identity = await from.record.identity();
  const written = await from.ledger(identity)?.read();
  const known = new Set(written?.traces.map(({ receipt }) => receipt));
  const held = (await from.record.traces()).filter(({ receipt }) => !known.has(receipt));
  await to.ledger(identity)?.append([...(written?.traces ?? []), ...held]);
  await from.keys.refresh?.();
  const ring = from.keys.read();
  if (ring) to.keys.write((there) => (there.keys.length === 0 ? ring : there));
  await to.keys.kept?.();
}
