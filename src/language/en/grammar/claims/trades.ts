import type { ProposalTarget } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import type { Context, Statement } from "../context.ts";
import { isTrade } from "../words/persons.ts";

const ANEW = /\b(?:now|these days|nowadays|finally|officially|at last|newly|promoted|qualified)\b/i;

/**
 * "I'm a qualified electrician now": what somebody was for a living ends with what they have become, where the words
 * say that it is new or both are of one trade ("trainee electrician").
 */
export function formerTrade(
  context: Context,
  statement: Statement,
  title: string,
): { replaces?: ProposalTarget } {
  const trade = tradeIn(title);
  if (trade === undefined) return {};
  const isNew = ANEW.test(context.content.slice(statement.start, statement.end + 16));
  const former = context.known.filter(({ status, claim }) => {
    if (status !== "current" || claim?.subject !== statement.subject.path) return false;
    if (!/^(?:be|work as)$/.test(claim.relation) || claim.value.toLowerCase() === title.toLowerCase())
      return false;
    const held = tradeIn(claim.value);
    return held !== undefined && (isNew || held === trade);
  });
  return former.length > 0 ? { replaces: { ids: former.map(({ id }) => id) } } : {};
}

/** The noun that names the trade: "a junior buyer at …" -> "buyer". */
function tradeIn(title: string): string | undefined {
  const head =
    title
      .toLowerCase()
      .split(/ (?:at|in|for|with|of|on) |,/)[0]
      ?.split(" ")
      .at(-1) ?? "";
  return isTrade(head) ? toSingular(head) : undefined;
}
