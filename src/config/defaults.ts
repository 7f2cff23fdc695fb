import type { RecallOptions } from "../domain/recall.ts";
import type { Keepsake } from "../engine/surface.ts";

/** The same memory, whose recalls and answers take these options where they have none of their own. */
export function withDefaults(
  keepsake: Keepsake,
  defaults: Pick<RecallOptions, "limit" | "maxTokens">,
): Keepsake {
  return {
    ...keepsake,
    scope(named) {
      const memory = keepsake.scope(named);
      return {
        ...memory,
        recall: (query, options) => memory.recall(query, { ...defaults, ...options }),
        answer: (question, options) => memory.answer(question, { ...defaults, ...options }),
        answerStream: (question, options) => memory.answerStream(question, { ...defaults, ...options }),
      };
    },
  };
}
