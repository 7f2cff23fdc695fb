import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import { antecedent } from "../clauses/antecedents.ts";
import { adding, type Context, claimOf, tidy } from "../context.ts";
import { compose } from "./sentence.ts";

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Whether an attribute is a favourite: "favourite colour". */
export function isFavourite(thing: string): boolean {
  return /favou?rite|^fave? /.test(thing);
}

/** "sushi is my favourite food now" tells of the favourite food. */
export function withoutNow(thing: string): string {
  return thing.replace(/ (?:now|nowadays|currently|again)$/i, "");
}

const FAVOURITE =
  "(?:all[- ]time |absolute |very |personal |other |second |new |current )*(?<word>(?:least[- ])?(?:favou?rites?|faves?|favs?))";
/** What stands between what is liked and what is said of it. */
const IS =
  "(?:is|are|'s|would be|would have to be|would probably be|'d be|'d have to be|has to be|have to be|must be|will always be)(?: (?:still|definitely|probably|also|really|easily|by far|always|certainly|currently))?";
/** Where a statement can begin within a sentence. */
const OPENS =
  "(?:^|[,;:.!?–—(-] *|\\b(?:and|but|so|because|cause|cuz|since|well|yes|yeah|no|oh|like|love|think|guess|say|maybe|probably|though|also) )";
/** The words for it: no verb of a person, no pronoun. */
const VALUE = "(?<value>[^,;:.!?]{2,48}?)";
const NOUN = "(?<noun>(?: [\\p{L}'’-]+){0,3}?)";
const STOPS =
  "(?=$|[,;:.!?)]| (?:and|but|so|because|though|too|also|as|when|while|since|what|whats|who|how|do|of all|ever|by|in|at|for|i|we|my|it|he|she|they|you|which|that|actually|right|lol|haha)\\b)";

/** Ways to tell of a favourite that are no "my favourite … is …" with a noun behind it. */
const FORMS: readonly RegExp[] = [
  // "otters are my favourite animal", "chess is one of my favourite games"
  new RegExp(
    `${OPENS}${VALUE} ?${IS} (?<many>one of |some of |among )?(?:my|our) ${FAVOURITE}${NOUN}${STOPS}`,
    "giu",
  ),
  // "New Orleans, that's my favourite city", "autumn, which is my favourite season"
  new RegExp(
    `${OPENS}${VALUE},? (?:which|that|this|it) ?(?:is|'s|s|was)? (?:actually |also |still )?(?<many>one of )?(?:my|our) ${FAVOURITE}${NOUN}${STOPS}`,
    "giu",
  ),
  // "lemon cake, my favourite dessert"
  new RegExp(`${OPENS}${VALUE}, (?<many>one of )?(?:my|our) ${FAVOURITE}${NOUN}${STOPS}`, "giu"),
  // "my favourite band, Rush"
  new RegExp(
    `\\bmy ${FAVOURITE}(?<noun>(?: [\\p{L}'’-]+){1,3}), (?<value>(?!and |but |so |i )[\\p{L}\\p{N}'’ -]{2,30})(?=$|[,;.!?])`,
    "giu",
  ),
  // "my favourite is shopping", "my favourite thing to do is go sailing"
  new RegExp(
    `(?<many>\\bone of |\\bsome of )?\\b(?:my|our) ${FAVOURITE}(?<noun>(?: (?!would\\b)[\\p{L}'’-]+){0,2}?)(?: (?:to|of) [\\p{L} ]{2,20})? ${IS} (?:to |to go )?${VALUE}(?=$|[,;:.!?]| (?:and|but|so|because|though|too|do|what|i|we|my)\\b)`,
    "giu",
  ),
];

const NO_VALUE =
  /\b(?:i|we|you|he|she|they|it|its|it's|that|this|these|those|which|what|who|mine|yours|there|here|him|them|not|never|if|your|his|her|their|does|do|did|is|are|was|were|am|favou?rite|one|ones|thing|thanks|nothing|anything|everything)\b/i;
const OPENING =
  /^(?:(?:i (?:think|guess|would say|'d say)|and|but|so|or|well|oh|yes|yeah|hi|hello|hey|maybe|probably|especially|mostly|like|just|then|also|really|to) )+/i;

/** "Otters are my favourite animal", "lemon cake, my favourite dessert": what is liked stands before the words that say so. */
export function favourites(context: Context, text: string, place: Place): AddProposal[] {
  if (!/\b(?:my|our) .{0,20}fav/i.test(text)) return [];
  return FORMS.flatMap((form) => [...text.replace(/[’]/g, "'").matchAll(form)]).flatMap((found) => {
    const { value = "", noun = "", word = "favourite", many } = found.groups ?? {};
    const said = tidy(value.replace(OPENING, ""));
    const told = /^(?:it|they|that|those|these)$/i.test(said)
      ? (antecedent(context, said.toLowerCase(), place.start) ?? "")
      : said;
    if (told === "" || NO_VALUE.test(told) || told.split(" ").length > 6) return [];
    return [favourite(context, place, { word, noun: noun.trim(), value: told, isMany: many !== undefined })];
  });
}

/** One favourite, under `user/favourite …`. */
function favourite(
  context: Context,
  place: Place,
  { word, noun, value, isMany }: { word: string; noun: string; value: string; isMany: boolean },
): AddProposal {
  const { speaker } = context.discourse;
  const one = word.endsWith("s") ? word.slice(0, -1) : word;
  const thing = withoutNow(`${one} ${noun}`.trim().toLowerCase());
  const last = thing.split(" ").at(-1) ?? "";
  const owner = speaker.path === "user" ? "The user's" : `${speaker.display}'s`;
  return adding(context, place, {
    text: isMany
      ? compose("One of", owner.replace(/^The/, "the"), thing, "is", value)
      : compose(owner, thing, noun !== "" && toSingular(last) !== last ? "are" : "is", value),
    claim: claimOf(`${speaker.path}/${thing}`, "be", value),
    kind: "preference",
    holds: isMany || noun === "" ? "many" : "one",
    importance: 0.7,
  });
}
