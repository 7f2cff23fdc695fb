import type { Recall } from "../../../domain/recall.ts";
import { extractTerms, toWordKey } from "../../../domain/search/search-terms.ts";
import { splitSentences } from "../../../domain/text/split-text.ts";
import type { AnswerRequest } from "../../../ports/language/answerer.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { isOfOtherLanguage } from "../detect-language.ts";

/**
 * The answer to a question in a language that nothing here composes sentences in: what the user said that comes nearest,
 * word for word, with its day. Nothing for a question in English, and where nothing was found.
 */
export function verbatim(
  question: string,
  { items }: Pick<Recall, "items">,
  { messages }: Pick<StoredContent, "messages">,
  toQuotableText: AnswerRequest["toQuotableText"],
): { readonly text: string; readonly used: readonly string[] } | undefined {
  if (!isOfOtherLanguage(question)) return undefined;
  const terms = new Set(extractTerms(question));
  let best: (Said & { readonly shared: number }) | undefined;
  for (const said of sentencesSaid(items, messages, toQuotableText)) {
    // Asked before, it is no answer.
    if (toWordKey(said.sentence) === toWordKey(question)) continue;
    const shared = new Set(extractTerms(said.sentence).filter((term) => terms.has(term))).size;
    if (shared > (best?.shared ?? 0)) best = { ...said, shared };
  }
  return best && { text: `${best.day}: “${best.sentence}”`, used: [best.id] };
}

interface Said {
  /** The item's id. */
  readonly id: string;
  readonly sentence: string;
  readonly day: string;
}

const QUESTION_MARK = /[?？؟\u037e]["”'’」』）)\]]*$/u;

/** What the user stated in the passages found, best first. */
function* sentencesSaid(
  items: Recall["items"],
  messages: StoredContent["messages"],
  toQuotableText: AnswerRequest["toQuotableText"],
): Iterable<Said> {
  for (const { id, type, sources } of items) {
    const [source] = sources;
    const message = type === "passage" && source ? messages.get(source.message) : undefined;
    if (!source || message?.role !== "user" || message.undone) continue;
    for (const span of splitSentences(message.content)) {
      const sentence = toQuotableText(message.content, source, span);
      if (sentence !== "" && !QUESTION_MARK.test(sentence))
        yield { id, sentence, day: message.at.slice(0, 10) };
    }
  }
}
