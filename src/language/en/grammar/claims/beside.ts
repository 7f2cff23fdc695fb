import { hasSameWords } from "../../../../domain/search/search-terms.ts";
import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { toGerund, toSingular } from "../../word-forms.ts";
import { antecedent } from "../clauses/antecedents.ts";
import { groupNames } from "../clauses/group-subjects.ts";
import { fronted, relatives } from "../clauses/relatives.ts";
import { adding, type Context, claimOf, thirdPerson, tidy } from "../context.ts";
import { askedFrom } from "../no-facts/asked-part.ts";
import { opinions } from "../no-facts/opinions.ts";
import { presumed } from "../no-facts/presumed.ts";
import { selfAnswer } from "../scraps/self-answers.ts";
import { even } from "../words/even.ts";
import { LASTING } from "../words/lexicon.ts";
import { isPersonNoun } from "../words/persons.ts";
import type { Token } from "../words/token.ts";
import { favourites } from "./favourites.ts";
import { namesInPassing } from "./name-claims.ts";
import { compose } from "./sentence.ts";

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
  take(namesInPassing(context, tokens.slice(0, asked)));
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

/** "turned 30 last week", "not bad for 63", "my knees creak at 52": how old somebody is, told in passing. */
const PASSING: readonly RegExp[] = [
  /^(?:(?:well|so|hey|hi|yay|omg|guess what|i|i've|i have|just|finally|recently|and)[,!. ]+)*turned (?<age>\d{2})(?= (?:last|this|yesterday|today|on|in|two|a|the|and|recently)\b|[,;.!?]|$)/i,
  /\b(?:not (?:too )?bad|pretty good|quite something|impressive|great going|well done) (?:for|at) (?:a |an )?(?<age>\d{2})(?: year[- ]old)?(?=[,;.!?]|$)/i,
  /(?:^|[,;.!?] ?|\b(?:and|but) )(?:i|i'm|my|still)\b(?![^,;.!?]*\b(?:meet|start|begin|open|close|arrive|retir\w*|intends?|plans?|hopes?|wants?|husband|wife|partner|mother|mum|mom|father|dad|sister|brother|son|daughter|boss|uncle|aunt|nan|gran|grandad|grandma|grandfather|grandmother|cousin|friend|neighbou?r|leave|get|wake|go|come|finish|end|due|call|bed|train|bus|flight|class|appointment|until|till|was|were|had|did)\b)[^,;.!?]* at (?<age>2[5-9]|[3-9]\d)(?=[,;.!?]|$)/i,
];

function agesInPassing(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] {
  const age = PASSING.map((form) => form.exec(text)?.groups?.age).find((one) => one !== undefined);
  if (age === undefined) return [];
  const { speaker } = context.discourse;
  return [
    adding(context, place, {
      text: compose(speaker.display, "is", age, "years old"),
      claim: claimOf(speaker.path, "be aged", age),
      confidence: 0.8,
    }),
  ];
}

const OF_THEM =
  /(?:^|[,;.!?] ?|\b(?:and|so|but) )(?:i have|i've got|we have|we've got|i own|we own|there's|there are|there is|got|i've) (?<many>(?:about |around |over |nearly |almost |at least )?(?:\d[\d,.]*|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|a hundred|hundred)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine|hundred|thousand))*)) of (?:them|those)\b/i;

/** "I collect stamps, I have four thousand of them": how many, of what was named right before. */
function countsOf(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] {
  const found = OF_THEM.exec(text);
  const many = found?.groups?.many;
  if (!found || many === undefined) return [];
  const before = text.slice(0, found.index).replace(/[,;.!?]?\s*$/, "");
  const thing = before === "" ? antecedent(context, "them", place.start) : lastPlural(before);
  return thing === undefined ? [] : context.readAs(`I have ${many} ${thing}.`, place);
}

function lastPlural(text: string): string | undefined {
  return /\b(?<noun>[\p{L}-]+[^s\W]s)$/u.exec(text)?.groups?.noun;
}

const FORMER =
  /\b(?:i|we) used to (?<verb>\p{L}+)(?<rest>(?: [^,;.!?]{1,40}?)?),? (?:but|until|till|and then|then|and) (?:i |we )?(?:finally |eventually |just |have |'ve )*(?:quit|stopped|gave (?:it |that )?up|given (?:it |that )?up|packed it in)(?: it| that| doing (?:it|that))?(?<when> (?:in|last|on|at|when|two|three|a few|ages|years|this|after|before)\b[^,;.!?]*)?(?=$|[,;.!?])/iu;

/** "I used to bite my nails but I quit in 2015": what was stopped, and when. */
function formerHabits(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] {
  const found = FORMER.exec(text)?.groups;
  if (!found?.verb || /^(?:be|have|live|own)$/i.test(found.verb)) return [];
  const doing = `${toGerund(found.verb.toLowerCase())}${found.rest ?? ""}`;
  return context.readAs(`I stopped ${doing}${found.when ?? ""}.`, place);
}

const CALLED =
  /\b(?:they|people|every(?:one|body)|most people|(?:my |all my )?(?:friends|family|mates|colleagues|parents|coworkers|students|kids)|folks)(?: (?:all|always|usually|just|mostly|also))? call(?:s)? me (?<name>[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)(?=$|[,;.!?]| (?:and|but|because|for|since|at|now)\b)/iu;
const NO_NAME =
  /^(?:back|up|out|in|on|at|when|if|every|later|now|names?|crazy|weird|lazy|stupid|mad|again|by|often|all|a|an|the|too|so|over|just|because|for|that|it|this|what)$/i;

/** "They call me Slim": a name beside one's own. */
function nicknames(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] {
  const name = tidy(CALLED.exec(text)?.groups?.name ?? "");
  if (name === "" || NO_NAME.test(name)) return [];
  const { speaker } = context.discourse;
  return [
    adding(context, place, {
      text: compose(speaker.display, "is nicknamed", name),
      claim: claimOf(speaker.path, "be nicknamed", name),
      importance: 0.7,
    }),
  ];
}

interface Place {
  readonly start: number;
  readonly end: number;
}

const WORDS = "hobby|hobbies|pastimes?|passions?|interests?|obsessions?|speciality|specialty";
const HOW = "(?:main |biggest |only |other |new |true |real |great |favou?rite |current |number one )?";
const BE = "(?:is|are|'s|include|includes|would be|lies in|has always been|will always be)";

/** "my hobbies are knitting and gardening" */
const BEHIND = new RegExp(
  `\\b(?:my|our) ${HOW}(?<word>${WORDS})(?: (?:right now|these days|at the moment|besides \\w+))? ?${BE} (?<value>[^;:.!?]{3,80})`,
  "giu",
);
/** "poetry is my hobby", "weekend cooking is a passion of mine" */
const BEFORE = new RegExp(
  `(?:^|[,;:.!?] *|\\b(?:and|but|so|because|well|yes|oh|think|guess) )(?<value>[^,;:.!?]{3,40}?) ?(?:is|are) (?:also |really |definitely )?(?:my ${HOW}|an? )(?<word>${WORDS})(?: of mine)?(?=$|[,;:.!?]| (?:and|but|so|too|though|because)\\b)`,
  "giu",
);
const NO_VALUE =
  /\b(?:i|we|you|he|she|they|it|that|this|which|what|mine|yours|here|there|one|your|his|her|their)\b/i;

/** What somebody does for pleasure, by the noun for it: one memory for each. */
function pastimes(context: Context, text: string, place: Place): AddProposal[] {
  if (!new RegExp(`\\b(?:${WORDS})\\b`, "i").test(text)) return [];
  const plain = text.replace(/[’]/g, "'");
  return [...plain.matchAll(BEHIND), ...plain.matchAll(BEFORE)].flatMap((found) => {
    const { word = "", value = "" } = found.groups ?? {};
    const members = listOf(
      value.replace(/ (?:but|because|so|though|when|while|what|how|do you|i|we) .*$/i, ""),
    );
    return members.map((member) => pastime(context, place, word, member));
  });
}

function listOf(value: string): string[] {
  return value
    .split(/,? and |, | & /)
    .map((one) => tidy(one.replace(/^(?:to|also|mostly|mainly|probably|just|definitely) /i, "")))
    .filter((one) => one !== "" && !NO_VALUE.test(one) && one.split(" ").length <= 5);
}

function pastime(context: Context, place: Place, word: string, value: string): AddProposal {
  const { speaker } = context.discourse;
  const one = toSingular(word.toLowerCase());
  return adding(context, place, {
    text: compose(speaker.path === "user" ? "The user's" : `${speaker.display}'s`, one, "is", value),
    claim: claimOf(`${speaker.path}/${one}`, "be", value),
    kind: "preference",
    holds: "many",
    importance: 0.6,
  });
}

const AS_ONE =
  /\b(?:as|being|since being|from being) (?:also )?(?<what>an? (?:(?!kid|child|teen|boy|girl|baby|young)[\p{L}-]+ ){0,2}?(?<head>[\p{L}-]+)),? (?:myself,? )?(?:i|i'm|my|we)\b/iu;
const BEING = /\b(?:as|since|because) (?:i'm|i am|being) (?<what>[\p{L}-]+)\b/iu;
const NOT_NOW =
  /\b(?:used to|when i was|if|ago|back then|growing up)\b|\b(?:i|we) (?:was|were|had|did|would|could|[a-z]{2,}ed)\b/i;
const PASSING_ROLE =
  /^(?:kid|child|teen|teenager|boy|girl|baby|toddler|guest|joke|result|treat|gift|favou?r|start|thank-you|group|team|matter|kids?|side)$/i;

/** "As a nurse I work shifts": what one is, told in passing. */
function roles(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] {
  if (NOT_NOW.test(text)) return [];
  const found = AS_ONE.exec(text)?.groups;
  if (found?.what && found.head && !PASSING_ROLE.test(found.head) && isRole(found.head))
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

const WISH =
  /(?:^|[,;:.!?] *|\b(?:and|but|so|though|lol|always|really|just|sometimes|also|well|do) |\bi (?:really |always |often |just |sometimes |do )*)wish (?:that )?(?:i|we) (?<verb>could|had|was|were|knew|lived|owned|worked|spoke|played|did|got) (?<rest>[^,;:.!?]{2,80})/iu;
const ENDS = / (?:i|we|my|but|so|because|cause|though|and (?:i|we|my|then)|lol|haha|do you|what|how)\b.*$/i;

/** "I wish I could play the harp": a preference, and never said to be so. */
export function wishesOf(context: Context, text: string, place: Place): AddProposal[] {
  const found = WISH.exec(text.replace(/[’]/g, "'"))?.groups;
  const { speaker } = context.discourse;
  const rest = tidy((found?.rest ?? "").replace(ENDS, ""));
  if (!found?.verb || rest === "" || /^(?:not|never|too|so)$/i.test(rest)) return [];
  const told = thirdPerson(rest, context, speaker);
  const they = speaker.path === "user" ? "they" : speaker.display;
  const verb = found.verb === "was" && they === "they" ? "were" : found.verb;
  return [
    adding(context, place, {
      text: compose(speaker.display, "wishes", they, verb, told),
      claim: claimOf(speaker.path, "wish", `I ${found.verb} ${rest}`),
      kind: "preference",
      holds: "many",
      confidence: 0.7,
      importance: 0.4,
    }),
  ];
}

/** A sentence at its commas and before "but". */
export function piecesOf(tokens: readonly Token[]): Token[][] {
  const pieces: Token[][] = [[]];
  for (const [i, token] of tokens.entries()) {
    if (token.lower === "but" && i > 0) pieces.push([]);
    pieces.at(-1)?.push(token);
    if (token.after.includes(",")) pieces.push([]);
  }
  return pieces;
}
