import { createHash } from "node:crypto";
import { checkName, checkScope } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import { ANSWER_TTL_MS, type HttpAnswer, type StoredAnswer } from "../../domain/operations/stored-answer.ts";
import type { KeptReceipt, Receipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { IdempotentAnswers } from "../api/keepsake.ts";
import type { Ports } from "../ports.ts";

/** A caller's idempotency key and its request, both hashed, because neither may retain a user's words. */
export interface IdempotencyKey {
  readonly key: string;
  readonly body: string;
}

export function hashIdempotencyKey(key: string, body: unknown): IdempotencyKey {
  return { key: sha256(checkName(key, "idempotencyKey")), body: sha256(JSON.stringify(body) ?? "") };
}

/**
 * The earlier answer under this key, or undefined. Texts come from the memories' versions, so that erased
 * ones are not in it. Throws `conflict` if the key was used with another request.
 */
export async function findPreviousReceipt(
  ports: Pick<Ports, "store">,
  scope: Scope,
  { key, body }: IdempotencyKey,
): Promise<Receipt | undefined> {
  const stored = await ports.store.receipt(scope, key);
  if (!stored) return undefined;
  if (stored.body !== body) {
    throw new MemoryError(
      "conflict",
      "this idempotency key was used for another request: use a new key for a new write.",
    );
  }
  const texts = new Map<string, string>();
  for (const id of new Set(stored.memories.map((line) => line.id))) {
    if (id === "") continue;
    for (const version of await ports.store.versions(scope, id))
      texts.set(`${id}@${version.version}`, version.text);
  }
  return {
    revision: stored.revision,
    messages: stored.messages,
    memories: stored.memories.map(({ version, ...line }) => ({
      ...line,
      text: texts.get(`${line.id}@${version}`) ?? "",
    })),
    pending: stored.pending,
  };
}

/** A receipt as it is stored: ids and versions, without texts. */
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

/** Answers under idempotency keys, for a day. `check` throws if the memory is closed. */
export function createIdempotentAnswers(
  ports: Pick<Ports, "store" | "clock">,
  check: () => void,
): IdempotentAnswers {
  const { store, clock } = ports;
  const release: IdempotentAnswers["release"] = async (named, key) => {
    check();
    await store.answers.releaseAnswer(checkScope(named), hashText(key));
  };
  return {
    async begin(named, { key, request, abandonedMs }): Promise<StoredAnswer | undefined> {
      check();
      const now = clock().getTime();
      return store.answers.beginAnswer(
        checkScope(named),
        { key: hashText(key), request: hashText(request), at: toIso(now) },
        { outdated: toIso(now - ANSWER_TTL_MS), abandoned: toIso(now - abandonedMs) },
      );
    },
    isSame: (kept, request) => kept.request === hashText(request),
    async end(named, key, answer: HttpAnswer, own = []) {
      check();
      await store.answers.endAnswer(checkScope(named), hashText(key), answer, own);
    },
    release,
    letGo: release,
  };
}

/** Deletes expired answers of all users and gives their number. */
export function dropExpiredAnswers({ store, clock }: Pick<Ports, "store" | "clock">): Promise<number> {
  return store.answers.dropAnswers(toIso(clock().getTime() - ANSWER_TTL_MS));
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
