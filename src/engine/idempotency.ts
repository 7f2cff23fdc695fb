import { createHash } from "node:crypto";
import { checkName } from "../domain/limits.ts";
import type { Memory } from "../domain/memory.ts";
import type { KeptReceipt, Receipt, ReceiptLine } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { MemoryError } from "../errors.ts";
import type { Ports } from "./ports.ts";

/** A caller's idempotency key and what was asked under it, both hashed: neither may keep a user's words. */
export interface IdempotencyKey {
  readonly key: string;
  readonly body: string;
}

export function hashIdempotencyKey(key: string, body: unknown): IdempotencyKey {
  return { key: sha256(checkName(key, "idempotencyKey")), body: sha256(JSON.stringify(body) ?? "") };
}

/**
 * The answer given before under this key, or nothing. Texts come from the memories' versions, so that what was
 * erased since is not in it. `conflict` where the key was used with something else.
 */
export async function findPreviousReceipt(
  ports: Pick<Ports, "record">,
  scope: Scope,
  { key, body }: IdempotencyKey,
): Promise<Receipt | undefined> {
  const kept = await ports.record.receipt(scope, key);
  if (!kept) return undefined;
  if (kept.body !== body) {
    throw new MemoryError(
      "conflict",
      "this idempotency key was used for something else: take a new key for a new write.",
    );
  }
  const texts = new Map<string, string>();
  for (const id of new Set(kept.memories.map((line) => line.id))) {
    if (id === "") continue;
    for (const version of await ports.record.versions(scope, id))
      texts.set(`${id}@${version.version}`, version.text);
  }
  return {
    revision: kept.revision,
    messages: kept.messages,
    memories: kept.memories.map(({ version, ...line }) => ({
      ...line,
      text: texts.get(`${line.id}@${version}`) ?? "",
    })),
    pending: kept.pending,
  };
}

/** A receipt as it is kept: by id and version, without texts. */
export function toStoredReceipt(
  key: IdempotencyKey,
  receipt: { messages: readonly string[]; memories: readonly ReceiptLine[]; pending: number },
  versions: readonly Memory[],
): KeptReceipt {
  const newest = new Map(versions.map(({ id, version }) => [id, version]));
  return {
    ...key,
    messages: receipt.messages,
    memories: receipt.memories.map(({ text: _text, ...line }) => ({
      ...line,
      version: newest.get(line.id) ?? 0,
    })),
    pending: receipt.pending,
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
