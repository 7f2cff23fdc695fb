import type { Claim } from "../../../../domain/memory.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";

/** What only says how somebody finds a thing: "awesome", "a blast", "a dream come true". */
const VERDICT = new Set(
  "awesome amazing incredible inspiring great wonderful special fun cool crazy wild nice lovely good better best bad worse worst tough hard easy interesting beautiful gorgeous fantastic super perfect brilliant sweet cute scary sad happy worth important powerful meaningful rewarding refreshing relaxing soothing calming peaceful exciting exhausting uplifting heartwarming touching moving stunning breathtaking impressive admirable remarkable unforgettable memorable magical unreal unbelievable crucial essential key vital must helpful useful challenging overwhelming nerve-wracking humbling eye-opening real true chill epic sick dope neat rad solid tricky rough weird odd strange hilarious funny gross terrible horrible awful annoying frustrating disappointing heartbreaking encouraging motivating therapeutic cathartic liberating freeing free-feeling empowering invaluable priceless precious blessed lucky grateful thankful thrilled stoked pumped psyched excited glad proud nervous anxious relieved determined focused positive motivated inspired passionate eager keen ready sure certain aware alone tired exhausted swamped busy okay fine alright possible impossible short long big huge small little similar different main full open welcome available unique crowded quiet cozy cosy warm cold hot delicious tasty yummy creamy rich healthy safe fresh".split(
    " ",
  ),
);
const GENERIC = new Set(
  "blast experience way time times break reminder journey feeling feelings thing things reality dream dreams moment moments joy part step start chance sign boost rush treat classic must must-visit must-see lot bit ton bunch shot gift blessing honor honour pleasure inspiration motivation support source sense place day days world life love hope change difference impact choice idea work process progress change point reason success challenge win victory goal story adventure ride rollercoaster mix vibe vibes atmosphere energy passion escape outlet creation moment picture pic photo something anything everything nothing someone one ones stuff kind sort type bit game-changer soul-soother lifesaver keeper beauty mystery surprise relief shame pity deal fan favorite favorites favourite favourites testament statement celebration accomplishment achievement milestone opportunity combo trail view views sight memory memories come true ever always never really very so such too quite pretty totally absolutely definitely certainly truly just still also even especially again together alone around here there now then more most much many all whole entire own another other first last next same new old a an the of to in for and or but with on at from by as like than that this these those my our your his her its their me us you him them it is are was were be been being has have had do does did not no how what why when where who which if because while see hear know feel make made making get got getting".split(
    " ",
  ),
);

/** Verbs of the talk and of feelings, which tell nothing of a life by themselves. */
const TALK =
  /^(?:not |never )?(?:can |want to |be going to |need to |have to |try to |hope to )?(?:thank|thanks|appreciate|agree|excite|thrill|congratulate|wait|wonder|hope|wish|bet|guess|feel|seem|look|sound|keep|stay|remain|remind|encourage|inspire|believe in|understand|support you|mean|matter|deserve|rock|rule|cheer|count on|let|bring|show|share|hear|get to|see how|imagine|check out|check in|give|send|tell|say|ask|know|think|sure|make sure|be sure|be glad|be excited|be happy|be proud|be grateful|be determined|be ready|be here|be there|be down|be up|chat|chat about|talk|talk about|catch up|hang out|have been thinking|look forward to|be able to|continue|go on|take care|hang|push|chill|relax|vent|help)\b/;
const ADDRESS = /\b(?:you|your|yours|yourself|you're|you've|ya|u)\b/i;
const HANGING =
  /(?:^|\s)(?:how|what|why|who|where|when|which|that|at|of|to|with|for|so|if|than|as|and|or|the|a|an|my|their|his|her|is|are|was|also|both|even|while|because|it|this|them|these|those|him|me|us|each other)\.?$/i;
const POINTING =
  /^(?:it|this|that|these|those|them|they|one|ones|some|something|anything|everything|things?|stuff|here|there|such)\b/i;

/** How strict to be: with people among themselves most is said to each other, and little of a life. */
export interface Standing {
  readonly isStrict: boolean;
  /** "Playing games helps": a doing that may be anybody's. */
  readonly isGerund: boolean;
  /** The subject is neither a person nor an animal, as far as its words tell. */
  readonly isThing: boolean;
  /** The subject is "it", "that", "they", or "the thing". */
  readonly isPointed: boolean;
}

/** Whether a claim tells something by itself, to somebody who did not hear the talk. */
export function standsAlone(proposal: AddProposal, standing: Standing): boolean {
  const { claim, text, kind } = proposal;
  if (!claim || kind === "instruction") return true;
  const isCut = /^thanks? /.test(`${claim.relation} `) || HANGING.test(claim.value);
  if (isCut || /^(?:Who|Which|What|How|Why|When|Where|That|It|There)\b/.test(text)) return false;
  if (isOfTalk(proposal) || isOfWorld(claim, standing)) return false;
  const hasNews = tells(`${claim.value} ${claim.qualifier ?? ""}`);
  if (standing.isPointed && !hasNews && isVerdict(claim.value)) return false;
  return (
    !standing.isStrict || (!standing.isGerund && (hasNews || !standing.isPointed) && isOfLife(claim, text))
  );
}

/** "needs your help", "is your parrot": said to whoever answers. */
function isOfTalk({ claim, kind }: AddProposal): boolean {
  return kind !== "commitment" && /\b(?:your|yours|you)\b/i.test(claim?.value ?? "");
}

/** "London is big", "the note reads": an opinion of the world, or nothing. */
function isOfWorld({ subject, relation, value, qualifier = "" }: Claim, { isThing }: Standing): boolean {
  if (!isThing) return false;
  const isNobodys = subject !== "user" && !subject.includes("/");
  return (value === "" && qualifier === "") || (isNobodys && relation === "be" && isVerdict(value));
}

/** Of somebody's life, and not of the talk: for people among themselves. */
function isOfLife({ relation, value }: Claim, text: string): boolean {
  if (TALK.test(relation) && !tells(value)) return false;
  if (ADDRESS.test(text) || HANGING.test(text.replace(/\.$/, "")) || POINTING.test(value)) return false;
  return value === "" || !isVerdict(value) || /^be (?:called|aged|from|born|married)/.test(relation);
}

/** A name, a number or a date. */
function tells(text: string): boolean {
  return /\p{Lu}\p{L}|\d/u.test(text.replace(/\b(?:I|I['’]\w+)\b/g, ""));
}

/** Nothing but praise, blame and words that fit anything. */
export function isVerdict(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}][\p{L}'’-]*|\d+/gu) ?? [];
  return words.every((word) => VERDICT.has(word) || GENERIC.has(word) || /ly$/.test(word));
}
