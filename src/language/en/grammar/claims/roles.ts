import type { Proposal } from "../../../../ports/language/extractor.ts";
import type { Context } from "../context.ts";
import { LASTING } from "../words/lexicon.ts";
import { isPersonNoun } from "../words/persons.ts";

const AS_ONE =
  /\b(?:as|being|since being|from being) (?:also )?(?<what>an? (?:(?!kid|child|teen|boy|girl|baby|young)[\p{L}-]+ ){0,2}?(?<head>[\p{L}-]+)),? (?:myself,? )?(?:i|i'm|my|we)\b/iu;
const BEING = /\b(?:as|since|because) (?:i'm|i am|being) (?<what>[\p{L}-]+)\b/iu;
const NOT_NOW =
  /\b(?:used to|when i was|if|ago|back then|growing up)\b|\b(?:i|we) (?:was|were|had|did|would|could|[a-z]{2,}ed)\b/i;
const PASSING =
  /^(?:kid|child|teen|teenager|boy|girl|baby|toddler|guest|joke|result|treat|gift|favou?r|start|thank-you|group|team|matter|kids?|side)$/i;

/** "As a nurse I work shifts": what one is, told in passing. */
export function roles(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] {
  if (NOT_NOW.test(text)) return [];
  const found = AS_ONE.exec(text)?.groups;
  if (found?.what && found.head && !PASSING.test(found.head) && isRole(found.head))
    return context.readAs(`I am ${found.what}.`, place);
  const state = BEING.exec(text)?.groups?.what;
  return state !== undefined && LASTING.has(state.toLowerCase())
    ? context.readAs(`I am ${state}.`, place)
    : [];
}

function isRole(head: string): boolean {
  const word = head.toLowerCase();
  return isPersonNoun(word) || LASTING.has(word);
}
