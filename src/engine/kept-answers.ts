import { createHash } from "node:crypto";
import { ANSWERS_KEPT_MS, type GivenAnswer, type KeptAnswer } from "../domain/kept-answer.ts";
import { checkScope } from "../domain/limits.ts";
import type { Ports } from "./ports.ts";
import type { Answers } from "./surface.ts";

/** Answers under idempotency keys, for a day. `check` throws where the memory is closed. */
export function keptAnswers(ports: Pick<Ports, "record" | "clock">, check: () => void): Answers {
  const { record, clock } = ports;
  return {
    async begin(named, { key, request, abandonedMs }): Promise<KeptAnswer | undefined> {
      check();
      const now = clock().getTime();
      return record.beginAnswer(
        checkScope(named),
        { key: hashOf(key), request: hashOf(request), at: iso(now) },
        { outdated: iso(now - ANSWERS_KEPT_MS), abandoned: iso(now - abandonedMs) },
      );
    },
    isSame: (kept, request) => kept.request === hashOf(request),
    async end(named, key, answer: GivenAnswer, own = []) {
      check();
      await record.endAnswer(checkScope(named), hashOf(key), answer, own);
    },
    async letGo(named, key) {
      check();
      await record.letAnswerGo(checkScope(named), hashOf(key));
    },
  };
}

/** Drops those that have been kept for long enough, of everybody, and says how many. */
export function dropOldAnswers({ record, clock }: Pick<Ports, "record" | "clock">): Promise<number> {
  return record.dropAnswers(iso(clock().getTime() - ANSWERS_KEPT_MS));
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
