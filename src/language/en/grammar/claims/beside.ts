import { hasSameWords } from "../../../../domain/search/search-terms.ts";
import { toSingular } from "../../../../domain/text/english-forms.ts";
import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { groupNames } from "../clauses/group-subjects.ts";
import { fronted, relatives } from "../clauses/relatives.ts";
import type { Context } from "../context.ts";
import { askedFrom } from "../no-facts/asked-part.ts";
import { opinions } from "../no-facts/opinions.ts";
import { presumed } from "../no-facts/presumed.ts";
import { selfAnswer } from "../scraps/self-answers.ts";
import { even } from "../words/even.ts";
import type { Token } from "../words/token.ts";
import { agesInPassing } from "./ages.ts";
import { countsOf } from "./counts.ts";
import { favourites } from "./favourites.ts";
import { formerHabits } from "./former-habits.ts";
import { nicknames } from "./nicknames.ts";
import { pastimes } from "./pastimes.ts";
import { roles } from "./roles.ts";

interface Sentence {
  readonly context: Context;
  readonly tokens: readonly Token[];
  readonly text: string;
  readonly place: { readonly start: number; readonly end: number };
}

/** What a sentence tells beside its clauses, in words that stand for a statement; nothing that they have told already. */
export function beside(sentence: Sentence, told: readonly Proposal[]): Proposal[] {
  const { context, tokens, place } = sentence;
  const text = even(sentence.text).replace(/\s+/g, " ").trim();
  const isAsked = /\?["”')\]\s]*$/.test(text);
  const found: Proposal[] = [];
  const take = (proposals: readonly Proposal[]): void => {
    for (const one of proposals) if (!isTold([...told, ...found], one)) found.push(one);
  };
  const asked = askedFrom(tokens);
  if (asked > 0) take(favourites(context, text, place));
  if (!isAsked) take(fronted(context, text, place));
  if (!isAsked) take(opinions(context, tokens, text));
  take(groupNames(context, tokens.slice(0, asked)));
  if (!isAsked) take(formerHabits(context, text, place));
  if (!isAsked) take([...agesInPassing(context, text, place), ...countsOf(context, text, place)]);
  if (!isAsked) take([...pastimes(context, text, place), ...nicknames(context, text, place)]);
  if (!isAsked)
    take([
      ...(selfAnswer(context, text, place) ?? []),
      ...relatives(context, tokens),
      ...roles(context, text, place),
    ]);
  take(presumed(context, tokens, [...told, ...found]));
  return found;
}

/** The same of the same subject, in whatever relation. */
function isTold(all: readonly Proposal[], one: Proposal): boolean {
  return one.propose === "add" && all.some((other) => other.propose === "add" && meets(other, one));
}

function meets({ claim }: AddProposal, other: AddProposal): boolean {
  return (
    claim !== undefined &&
    other.claim !== undefined &&
    thingOf(claim.subject) === thingOf(other.claim.subject) &&
    (hasSameWords(claim.value, other.claim.value) || isOneOf(other.claim.value, claim.value))
  );
}

/** "chess" of "knitting and chess" */
function isOneOf(value: string, list: string): boolean {
  return list
    .toLowerCase()
    .split(/,? and |, /)
    .includes(value.toLowerCase());
}

/** "user/hobbies" is "user/hobby". */
function thingOf(subject: string): string {
  return subject.split("/").map(toSingular).join("/").toLowerCase();
}
