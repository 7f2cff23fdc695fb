import { singular } from "../../domain/english.ts";
import { canonicalThing, isKindOf } from "../../domain/relations.ts";
import type { AddProposal, Proposal } from "../../ports/extractor.ts";
import { adding, type Context, claimOf, said } from "./context.ts";
import { headWord } from "./entities.ts";
import { ANIMALS } from "./lexicon.ts";
import { readNounPhrase } from "./noun-phrases.ts";
import { nounOf } from "./nouns.ts";
import { compose } from "./sentence.ts";
import type { Stretch, Token } from "./token.ts";

/** Whom and what one has, so that to speak of "my" one is to say that there is one. Everybody has parents, and a day. */
const PRESUMED: ReadonlySet<string> = new Set(
  (
    "pet puppy kitty doggo kid child son daughter baby toddler twin triplet stepson stepdaughter stepchild grandchild grandson " +
    "granddaughter grandkid husband wife spouse partner boyfriend girlfriend fiance fiancé fiancee fiancée hubby sister " +
    "brother sibling stepsister stepbrother niece nephew cousin aunt uncle roommate flatmate housemate car truck van minivan " +
    "motorcycle motorbike bike bicycle scooter boat sailboat kayak canoe rv camper campervan caravan jeep suv pickup tractor " +
    "farm ranch allotment greenhouse guitar piano violin drums cello ukulele farmhouse cabin cottage"
  ).split(" "),
);

/** What is not there, or not any more. */
const ABSENT =
  /\b(?:if|wish|wished|imagine|pretend|dream|dreams|ideal|imaginary|future|ex|late|old|former|previous|childhood|first|last|next|lost|lose|losing|died|dead|dies|dying|passed|passing|sold|sell|selling|gave|rehomed?|stolen|stole|crashed|totall?ed|broke|broken|buried|miss|missed|used|had|was|were|been|did|didn['’]?t|got rid|put down|no longer|any ?more|without|left|leaving|divorc\w*|split|would|could|should|might|may|never|named?|call(?:ed)?)\b/i;

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
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (!token || token.quoted || !/^(?:my|our)$/.test(token.lower)) continue;
    for (const item of ownedAt(tokens, at)) {
      const proposal = presumedOne(context, tokens, item, [...made, ...found]);
      if (proposal) found.push(proposal);
    }
  }
  return found;
}

/** "my two cats and dog": one noun phrase, and what "and" joins without an owner of its own. */
function ownedAt(tokens: readonly Token[], at: number): Stretch[] {
  const end = readNounPhrase(tokens, at, tokens.length);
  if (end === undefined) return [];
  const items: Stretch[] = [[at + 1, end]];
  const joint = tokens[end];
  const next = joint && ["and", "&"].includes(joint.lower) ? end + 1 : end;
  const isFree = next > end && ["noun", "number", "adjective"].includes(tokens[next]?.class ?? "");
  const other = isFree ? readNounPhrase(tokens, next, tokens.length) : undefined;
  return other === undefined ? items : [...items, [next, other]];
}

function presumedOne(
  context: Context,
  tokens: readonly Token[],
  [from, to]: Stretch,
  made: readonly Proposal[],
): AddProposal | undefined {
  const noun = nounOf(tokens, from - 1, to);
  const head = headWord(tokens, noun).split(" ").at(-1) ?? "";
  const one = singular(head);
  const isOwned = noun.owners.length > 0 || tokens[to - 1]?.owner === true;
  if (isOwned || !(PRESUMED.has(one) || ANIMALS.has(one)) || isKnown(context, one, made)) return undefined;
  const end = noun.name ? noun.name[0] : to;
  const words = said(context, tokens, from, end);
  if (words === "" || words.split(" ").length > 4) return undefined;
  const { speaker } = context.discourse;
  const value = withArticle(tokens, from, one === head, words);
  const place = { start: tokens[from - 1]?.start ?? 0, end: tokens[to - 1]?.end ?? 0 };
  return adding(context, place, {
    text: compose(speaker.display, speaker.plural ? "have" : "has", value),
    claim: claimOf(speaker.path, "have", value),
    holds: "many",
    confidence: 0.8,
    importance: 0.6,
  });
}

function withArticle(tokens: readonly Token[], from: number, isOne: boolean, words: string): string {
  if (!isOne || tokens[from]?.class === "number") return words;
  return `${/^[aeiou]/i.test(words) ? "an" : "a"} ${words}`;
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
    return words.some((word) => isSame(singular(word), thing));
  });
}

function isSame(word: string, thing: string): boolean {
  return canonicalThing(word) === canonicalThing(thing) || isKindOf(word, thing);
}
