import { createHash, createHmac, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { MemoryError } from "../../../errors.ts";
import type { Secret } from "../../../ports/system.ts";

const SECRET_BYTES = 32;
const SECRET_HEX = /^[0-9a-f]{64}$/;

/**
 * The secret in a file beside the database (32 random bytes, hex, mode 0600), made where it is not there yet.
 * `isNew` tells the caller, who may know that there should have been one. `corrupt` where the file holds no secret.
 */
export function fileSecret(path: string): { secret: Secret; isNew: boolean } {
  const held = readSecret(path);
  if (held) return { secret: createSecret(held), isNew: false };
  const made = randomBytes(SECRET_BYTES);
  const draft = `${path}.${process.pid}.new`;
  try {
    // Written whole under another name first: a reader never sees half a secret, and of two writers one wins.
    writeFileSync(draft, made.toString("hex"), { mode: 0o600, flag: "wx", flush: true });
    linkSync(draft, path);
    // Receipts are signed with it from now on: after a power cut it must not be another one.
    syncParentFolder(dirname(path));
    return { secret: createSecret(made), isNew: true };
  } catch (cause) {
    const other = (cause as NodeJS.ErrnoException).code === "EEXIST" ? readSecret(path) : undefined;
    if (other) return { secret: createSecret(other), isNew: false };
    throw new MemoryError("unavailable", `secret ${path}: it cannot be made. Is the folder writable?`, {
      cause,
    });
  } finally {
    removeDraft(draft);
  }
}

/** Whatever the disk answers, the secret has its name by now, or what failed before says more. Refused once, it is tried again. */
function removeDraft(draft: string): void {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    try {
      rmSync(draft, { force: true });
      return;
    } catch {
      // What is left is the owner's alone (mode 0600).
    }
  }
}

/** Whether the file of a secret is there. */
export function hasFileSecret(path: string): boolean {
  return readSecret(path) !== undefined;
}

/** Makes the new name last over a loss of power. Not every system opens folders; those keep names by themselves. */
function syncParentFolder(path: string): void {
  let folder: number;
  try {
    folder = openSync(path, "r");
  } catch {
    return;
  }
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function readSecret(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new MemoryError("unavailable", `secret ${path}: it cannot be read. Check its owner and mode.`, {
      cause,
    });
  }
  if (SECRET_HEX.test(text)) return Buffer.from(text, "hex");
  throw new MemoryError(
    "corrupt",
    `secret ${path}: it holds no secret. Put the right file back, or take this one away.`,
  );
}

/** A secret from a setting: any text of at least 16 characters, or what the file of a secret holds. */
export function textSecret(text: string): Secret {
  if (SECRET_HEX.test(text.trim())) return createSecret(Buffer.from(text.trim(), "hex"));
  if (text.length < 16)
    throw new MemoryError("invalid_input", "KEEPSAKE_SECRET is too short: give at least 16 characters.");
  return createSecret(createHash("sha256").update(text).digest());
}

/** One step of HKDF-Expand (RFC 5869) for 32 bytes: the secret's HMAC of a purpose and the number 1. */
const DIGEST_KEY_PURPOSE = "keepsake row digests, hmac-sha256, 1\u0001";

/** The key for digests of rows that a secret stands for, hex; nothing in it leads back to the secret. */
export function digestKeyOf(secret: Secret): string {
  return secret.sign(DIGEST_KEY_PURPOSE);
}

function createSecret(key: Buffer): Secret {
  return { sign: (text) => createHmac("sha256", key).update(text).digest("hex") };
}
