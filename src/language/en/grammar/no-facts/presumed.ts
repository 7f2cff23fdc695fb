import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { isKindOf, toCanonicalThing } from "../../relations/relations.ts";
import { toSingular } from "../../word-forms.ts";
import { compose } from "../claims/sentence.ts";
import { adding, type Context, claimOf, said } from "../context.ts";
import { ANIMALS } from "../words/lexicon.ts";
import type { Stretch, Token } from "../words/token.ts";
import { askedFrom } from "./asked-part.ts";

/** Whom and what one has, so that to speak of "my" one is to say that there is one. Everybody has parents, and a day. */
const PRESUMED: ReadonlySet<string> = new Set(
  (
    "pet puppy kitty doggo kid child son daughter baby toddler twin triplet stepson stepdaughter stepchild grandchild grandson " +
    "granddaughter grandkid husband wife spouse partner boyfriend girlfriend fiance fiancé fiancee fiancée hubby sister " +
    "brother sibling stepsister stepbrother niece nephew cousin aunt uncle roommate flatmate housemate car truck van minivan " +
    "motorcycle motorbike bike bicycle scooter boat sailboat kayak canoe rv camper campervan caravan jeep suv pickup tractor " +
    "farm ranch allotment greenhouse apartment flat mansion garden backyard pool guitar piano violin drums cello ukulele farmhouse cabin cottage"
  ).split(" "),
);

/** What is not there, or not any more. */
const ABSENT =
  /\b(?:if|wish|wished|imagine|pretend|lost|lose|losing|died|dead|dies|dying|passed|passing|sold|sell|selling|gave (?:away|up)|give (?:away|up)|rehomed?|stolen|stole|crashed|totall?ed|buried|miss|missed|used to|got rid|put (?:him|her|it|them) down|no longer|any ?more|divorc\w*|broke up|split up|left me|when i was|growing up|as a (?:kid|child|boy|girl)|would have|had a)\b/i;
const NOT_ONES =
  /^(?:first|last|next|old|ex|future|dream|ideal|late|former|previous|childhood|imaginary|other|whole|entire|fake|toy)$/;
/** Behind the noun these make another thing of it. */
const COMPOUNDS =
  /^(?:food|beds?|house|toys?|park|seats?|doors?|keys?|insurance|payments?|trips?|loan|shows?|bowls?|sitter|walker|lessons?|teacher|player|shop|rental|accident|wash|club|rides?|hair|fur|shelter|groomer|clothes|room|school|center|centre|trouble|problems?|engine|tires?|tyres?|dealer\w*|repairs?|side|phobia|videos?|memes?|pictures?|photos?|law|in-law|in|class(?:es)?)$/;

/**
 * "My dog keeps me company": that there is a dog. Told once, and only of those of whom nothing is known or told here;
 * in the present, and where nothing says that it may be otherwise.
 */
export function presumed(
  context: Context,
  tokens: readonly Token[],
  made: readonly Proposal[],
): AddProposal[] {
  const first = tokens[0];
  const last = tokens.at(-1);
  if (!first || !last || ABSENT.test(context.content.slice(first.start, last.end))) return [];
  const found: AddProposal[] = [];
  // "Where does my sister live?" tells nobody that there is one.
  const end = askedFrom(tokens);
  for (let at = 0; at < end; at += 1) {
    const token = tokens[at];
    // "He's my boss, NOT my brother": that one is not tells of nobody.
    const isDenied = tokens[at - 1]?.class === "negation";
    if (!token || token.quoted || isDenied || !/^(?:my|our)$/.test(token.lower)) continue;
    for (const item of ownedAt(tokens, at)) {
      const proposal = presumedOne(context, tokens, item, [...made, ...found]);
      if (proposal) found.push(proposal);
    }
  }
  return found;
}

/** "my two cats and dog": the noun with what stands before it, and what "and" joins without an owner of its own. */
function ownedAt(tokens: readonly Token[], at: number): Stretch[] {
  const end = nounEnd(tokens, at + 1);
  if (end === undefined) return [];
  const joins = ["and", "&"].includes(tokens[end]?.lower ?? "") && tokens[end - 1]?.after === " ";
  const other = joins ? nounEnd(tokens, end + 1) : undefined;
  return [[at + 1, end], ...(other === undefined ? [] : [[end + 1, other] as const])];
}

/** Where a noun that is presumed ends, with at most three words before it. */
function nounEnd(tokens: readonly Token[], from: number): number | undefined {
  for (let at = from; at < Math.min(tokens.length, from + 4); at += 1) {
    const token = tokens[at];
    if (!token || token.owner || NOT_ONES.test(token.lower)) return undefined;
    if (isThing(tokens, at)) return isTold(tokens, from, at) ? at + 1 : undefined;
    if (!["noun", "adjective", "number"].includes(token.class) || token.after !== " ") return undefined;
  }
  return undefined;
}

/** "my pet cow": of the two the cow. */
function isThing(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  const one = toSingular(token?.lower ?? "");
  if (one === "pet" && tokens[at + 1]?.class === "noun" && token?.after === " ") return false;
  return LOOKS.test(one) || PRESUMED.has(one) || ANIMALS.has(one);
}

function isTold(tokens: readonly Token[], from: number, at: number): boolean {
  const token = tokens[at];
  if (!token || LOOKS.test(toSingular(token.lower))) return isDescribed(tokens, from, at);
  return !isCompound(token, tokens[at + 1]);
}

/** "my long red hair": with the adjective, how one looks. */
const LOOKS = /^(?:hair|eye|beard|skin|freckle|moustache|mustache|mohawk|ponytail|braid|curl)$/;

function isDescribed(tokens: readonly Token[], from: number, at: number): boolean {
  return (
    at > from &&
    tokens.slice(from, at).every(({ class: kind }) => ["adjective", "noun", "number"].includes(kind))
  );
}

function isCompound(token: Token, next: Token | undefined): boolean {
  return token.after === "-" || (token.after === " " && COMPOUNDS.test(next?.lower ?? ""));
}

function presumedOne(
  context: Context,
  tokens: readonly Token[],
  [from, to]: Stretch,
  made: readonly Proposal[],
): AddProposal | undefined {
  const head = tokens[to - 1]?.lower ?? "";
  const one = toSingular(head);
  if (isKnown(context, one, made)) return undefined;
  const words = said(context, tokens, from, to).replace(/['’]s$/, "");
  const { speaker } = context.discourse;
  const isOne = one === head && tokens[from]?.class !== "number" && !/^(?:hair|skin)$/.test(one);
  const value = isOne ? `${/^[aeiou]/i.test(words) ? "an" : "a"} ${words}` : words;
  const place = { start: tokens[from]?.start ?? 0, end: tokens[to - 1]?.end ?? 0 };
  return adding(context, place, {
    text: compose(speaker.display, speaker.plural ? "have" : "has", value),
    claim: claimOf(speaker.path, "have", value),
    holds: "many",
    confidence: 0.8,
    importance: 0.6,
  });
}

/** Whether anything is known or told here of one of that kind. */
function isKnown(context: Context, thing: string, made: readonly Proposal[]): boolean {
  const { speaker } = context.discourse;
  const claims = [...context.known, ...context.made, ...made].flatMap((one) =>
    "claim" in one && one.claim ? [one.claim] : [],
  );
  return claims.some(({ subject, value, qualifier = "" }) => {
    if (subject !== speaker.path && !subject.startsWith(`${speaker.path}/`)) return false;
    const words =
      `${subject.slice(speaker.path.length)} ${value} ${qualifier}`.toLowerCase().match(/[\p{L}-]+/gu) ?? [];
    return words.some((word) => isSame(toSingular(word), thing));
  });
}

function isSame(word: string, thing: string): boolean {
  return toCanonicalThing(word) === toCanonicalThing(thing) || isKindOf(word, thing);
}
