import { toSingular } from "../../../../domain/text/english-forms.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, claimOf, tidy } from "../context.ts";
import { compose } from "./sentence.ts";

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
export function pastimes(context: Context, text: string, place: Place): AddProposal[] {
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
