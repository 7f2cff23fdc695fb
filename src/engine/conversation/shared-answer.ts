import type { Answer, Item, Recall } from "../../domain/recall.ts";
import { maskCredentials } from "../../domain/text/credentials.ts";
import { toSentence } from "../../domain/text/english-forms.ts";
import { toOwnerName } from "../sharing/shared-items.ts";
import { mentionsSelf } from "./compose-reply.ts";

/** Items of about this share of the best one's score are quoted with it. */
const NEARLY_BEST = 0.8;
const MAX_QUOTED = 3;

/**
 * An answer from what other users share, where the user's own memory has no sure one: it quotes the best items and names
 * whose they are. It is not sure of a question about the user, because nobody else's memory is about them.
 */
export function answerFromShared(
  question: string,
  own: Answer,
  shared: readonly Item[],
  recall: Recall,
): Answer {
  const [best] = shared;
  if (!best) return own;
  const quoted = shared
    .filter(({ owner, score }) => owner === best.owner && score >= NEARLY_BEST * best.score)
    .slice(0, MAX_QUOTED);
  const words = quoted.map(({ text }) => toSentence(text)).join(" ");
  const said = `${toOwnerName(best.owner ?? "")} shares: ${maskCredentials(words)}`;
  const isAboutUser = mentionsSelf(question);
  // A doubtful quote of the user's own stays in front.
  const text = own.used.length > 0 || isAboutUser ? `${own.text} ${said}` : said;
  const used = [...own.used, ...quoted.map(({ id }) => id)];
  return { ...own, text, used, abstained: isAboutUser || own.used.length > 0, recall };
}
