import { isOfOtherLanguage } from "../../domain/language.ts";
import type { Recall } from "../../domain/recall.ts";
import { sentencesOf } from "../../domain/sentences.ts";
import { analyse } from "../../domain/words.ts";
import type { UserState } from "../user-state.ts";

/**
 * The answer to a question in a language that nothing here composes sentences in: what the user said that comes nearest,
 * word for word, with its day. Nothing for a question in English, and where nothing was found.
 */
export function verbatim(
  question: string,
  { items }: Pick<Recall, "items">,
  { messages }: Pick<UserState, "messages">,
): { readonly text: string; readonly used: readonly string[] } | undefined {
  if (!isOfOtherLanguage(question)) return undefined;
  for (const { id, type, sources } of items) {
    const message = type === "passage" ? messages.get(sources[0]?.message ?? "") : undefined;
    if (message?.role !== "user" || message.undone) continue;
    return { text: `${message.at.slice(0, 10)}: “${nearest(question, message.content)}”`, used: [id] };
  }
  return undefined;
}

/** The sentence that shares most with the question; of several, the first. */
function nearest(question: string, text: string): string {
  const asked = new Set(analyse(question));
  let best = { sentence: text, shared: -1 };
  for (const { start, end } of sentencesOf(text)) {
    const sentence = text.slice(start, end);
    const shared = new Set(analyse(sentence).filter((term) => asked.has(term))).size;
    if (shared > best.shared) best = { sentence, shared };
  }
  return best.sentence;
}
