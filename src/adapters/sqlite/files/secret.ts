import { createHash, createHmac, randomBytes } from "node:crypto";
import { linkSync, readFileSync, writeFileSync } from "node:fs";
import { MemoryError } from "../../../errors.ts";
import type { Secret } from "../../../ports/system.ts";
import { draftPathOf, removeDraft, removeOldDrafts, syncParentFolder } from "./drafts.ts";

const SECRET_BYTES = 32;
const SECRET_HEX = /^[0-9a-f]{64}$/;

/**
 * The secret in a file next to the database (32 random bytes, hex, mode 0600), created if it does not exist. `isNew` informs the
 * caller, who may expect an existing one. Throws `corrupt` if the file contains no secret.
 */
export function fileSecret(path: string): { secret: Secret; isNew: boolean } {
  const existing = readSecret(path);
  if (existing) {
    removeOldDrafts(path);
    return { secret: createSecret(existing), isNew: false };
  }
  const made = randomBytes(SECRET_BYTES);
  const draft = draftPathOf(path);
  try {
    // Written completely under another name first: a reader never sees half a secret, and one of two writers wins.
    writeFileSync(draft, made.toString("hex"), { mode: 0o600, flag: "wx", flush: true });
    linkSync(draft, path);
    // Receipts are signed with it from now on, so it must survive a power failure.
    syncParentFolder(path);
    return { secret: createSecret(made), isNew: true };
  } catch (cause) {
    // ENOENT: another process created the secret, and removed this draft as an old one.
    const isTaken = ["EEXIST", "ENOENT"].includes((cause as NodeJS.ErrnoException).code ?? "");
    const other = isTaken ? readSecret(path) : undefined;
    if (other) return { secret: createSecret(other), isNew: false };
    throw new MemoryError(
      "unavailable",
      `secret ${path}: the file cannot be created. Is the folder writable?`,
      {
        cause,
      },
    );
  } finally {
    removeDraft(draft);
  }
}

/** Whether the file of a secret exists. */
export function hasFileSecret(path: string): boolean {
  return readSecret(path) !== undefined;
}

function readSecret(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new MemoryError(
      "unavailable",
      `secret ${path}: the file cannot be read. Check its owner and mode.`,
      {
        cause,
      },
    );
  }
  if (SECRET_HEX.test(text)) return Buffer.from(text, "hex");
  throw new MemoryError(
    "corrupt",
    `secret ${path}: the file contains no secret. Restore the right file, or delete this one.`,
  );
}

/** A secret from a setting: any text of at least 16 characters, or the content of a secret file. */
export function textSecret(text: string): Secret {
  if (SECRET_HEX.test(text.trim())) return createSecret(Buffer.from(text.trim(), "hex"));
  if (text.length < 16)
    throw new MemoryError("invalid_input", "KEEPSAKE_SECRET is too short. Use at least 16 characters.");
  return createSecret(createHash("sha256").update(text).digest());
}

/** One step of HKDF-Expand (RFC 5869) for 32 bytes: the HMAC of a purpose and the number 1. */
const DIGEST_KEY_PURPOSE = "keepsake row digests, hmac-sha256, 1\u0001";

/** The key for row digests, derived from a secret, in hex. It does not reveal the secret. */
export function digestKeyOf(secret: Secret): string {
  return secret.sign(DIGEST_KEY_PURPOSE);
}

function createSecret(key: Buffer): Secret {
  return { sign: (text) => createHmac("sha256", key).update(text).digest("hex") };
}
