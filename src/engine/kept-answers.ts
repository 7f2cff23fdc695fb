import { createHash } from "node:crypto";
import { ANSWER_TTL_MS, type HttpAnswer, type StoredAnswer } from "../domain/kept-answer.ts";
import { checkScope } from "../domain/limits.ts";
import type { Ports } from "./ports.ts";
import type { IdempotentAnswers } from "./surface.ts";

/** Answers under idempotency keys, for a day. `check` throws where the memory is closed. */
export function createIdempotentAnswers(
  ports: Pick<Ports, "record" | "clock">,
  check: () => void,
): IdempotentAnswers {
  const { record, clock } = ports;
  return {
    async begin(named, { key, request, abandonedMs }): Promise<StoredAnswer | undefined> {
      check();
      const now = clock().getTime();
      return record.beginAnswer(
        checkScope(named),
        { key: hashText(key), request: hashText(request), at: toIso(now) },
        { outdated: toIso(now - ANSWER_TTL_MS), abandoned: toIso(now - abandonedMs) },
      );
    },
    isSame: (kept, request) => kept.request === hashText(request),
    async end(named, key, answer: HttpAnswer, own = []) {
      check();
      await record.endAnswer(checkScope(named), hashText(key), answer, own);
    },
    async letGo(named, key) {
      check();
      await record.releaseAnswer(checkScope(named), hashText(key));
    },
  };
}

/** Drops those that have been kept for long enough, of everybody, and says how many. */
export function dropExpiredAnswers({ record, clock }: Pick<Ports, "record" | "clock">): Promise<number> {
  return record.dropAnswers(toIso(clock().getTime() - ANSWER_TTL_MS));
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
