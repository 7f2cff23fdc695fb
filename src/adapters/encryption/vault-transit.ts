import { MemoryError } from "../../errors.ts";
import type { KeyWrapper } from "../../ports/stores/encryption.ts";
import { toContextHash } from "./context-hash.ts";

/** Options of `vaultKeyWrapper`. */
export interface VaultOptions {
  /** The address of the server, such as `https://vault.example.com:8200`. */
  readonly address: string;
  /** A token whose policy may update `encrypt` and `decrypt` of the key. */
  readonly token: string;
  /** The name of a key of the type aes256-gcm96, aes128-gcm96 or chacha20-poly1305. */
  readonly key: string;
  /** Where the transit engine is mounted ("transit"). */
  readonly mount?: string;
  /** The namespace (none). */
  readonly namespace?: string;
  /** Time limit of a call, in ms (10 seconds). */
  readonly timeoutMs?: number;
}

const CALL_MS = 10_000;
/** What Vault says (1.9 and later) of bytes that another key, or the same with another context, encrypted. */
const OTHER_KEY = /message authentication failed|invalid ciphertext/i;

/**
 * Wraps keys with a key of the transit engine of HashiCorp Vault or OpenBao (its HTTP API, version 1), which never leaves the server.
 * The server is told a hash of the context as `associated_data`. A call throws `forbidden` if the server refuses it and
 * `unavailable` if it does not answer.
 */
export function vaultKeyWrapper(options: VaultOptions): KeyWrapper {
  const toContext = (context: string) => ({ associated_data: toContextHash(context).toString("base64") });
  return {
    name: "vault",
    async wrap(key, context) {
      const plaintext = Buffer.from(key).toString("base64");
      const { status, body } = await call(options, "encrypt", { plaintext, ...toContext(context) });
      const { ciphertext } = body.data ?? {};
      return status === 200 && typeof ciphertext === "string" ? Buffer.from(ciphertext) : fail(status);
    },
    async unwrap(wrapped, context) {
      const ciphertext = Buffer.from(wrapped).toString();
      // Bytes that another master key wrapped are no text that Vault would take.
      if (!ciphertext.startsWith("vault:")) return undefined;
      const { status, body } = await call(options, "decrypt", { ciphertext, ...toContext(context) });
      const { plaintext } = body.data ?? {};
      if (status === 200 && typeof plaintext === "string") return Buffer.from(plaintext, "base64");
      return status === 400 && OTHER_KEY.test(String(body.errors)) ? undefined : fail(status);
    },
  };
}

interface VaultAnswer {
  readonly status: number;
  /** As documented; a proxy before the server may answer otherwise. */
  readonly body: {
    readonly data?: { readonly ciphertext?: unknown; readonly plaintext?: unknown } | null;
    readonly errors?: unknown;
  };
}

async function call(
  { address, token, key, mount = "transit", namespace, timeoutMs = CALL_MS }: VaultOptions,
  operation: "encrypt" | "decrypt",
  body: { readonly [name: string]: string },
): Promise<VaultAnswer> {
  const path = [...mount.split("/"), operation, key].map(encodeURIComponent).join("/");
  try {
    const response = await fetch(`${address.replace(/\/+$/, "")}/v1/${path}`, {
      method: "POST",
      // The token must not follow to another server.
      redirect: "error",
      headers: {
        "content-type": "application/json",
        "x-vault-token": token,
        ...(namespace === undefined ? {} : { "x-vault-namespace": namespace }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, body: toObject(await response.json().catch(() => undefined)) };
  } catch (cause) {
    throw createSilentError({ cause });
  }
}

const toObject = (value: unknown): VaultAnswer["body"] =>
  typeof value === "object" && value !== null ? value : {};

function fail(status: number): never {
  if (status >= 500 || status === 429) throw createSilentError();
  throw new MemoryError(
    "forbidden",
    `encryption: Vault refuses the master key with status ${status}. Check the key, its type, the mount, and the token's policy, which needs to update encrypt and decrypt.`,
  );
}

function createSilentError(options: { readonly cause?: unknown } = {}): MemoryError {
  return new MemoryError(
    "unavailable",
    "encryption: Vault does not answer, or is sealed. Try again later.",
    options,
  );
}
