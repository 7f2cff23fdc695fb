import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { type Clause, clausesOf } from "../clauses/clauses.ts";
import { adding, type Context, claimOf, said } from "../context.ts";
import type { Stretch, Token } from "../words/token.ts";

const GOOD =
  "amazing|awesome|great|fun|the best|delicious|beautiful|fantastic|wonderful|lovely|relaxing|brilliant|perfect|yummy|tasty|cool|so good|so much fun|addictive|fascinating|hilarious|adorable|cute|gorgeous|so fun|really fun|really good|pretty cool|interesting|soothing|exciting|my jam|my life|my thing|incredible|superb|the greatest";
const BAD =
  "boring|gross|horrible|awful|terrible|disgusting|overrated|annoying|the worst|scary|creepy|nasty|dull|stupid|hard|difficult|tedious|yucky|hateful|unbearable|frightening";
const VERDICT = new RegExp(
  `^(?:(?:so|really|very|just|always|pretty|quite|too|absolutely|truly|totally) )*(?<word>${GOOD}|${BAD})(?: (?:though|too|to me|for me|lol|haha|in general|as well))?$`,
  "i",
);
const ANY = new RegExp(`\\b(?:is|are|'s|'re) .{0,24}\\b(?:${GOOD}|${BAD})\\b`, "i");
/** Of the day or of the talk. */
const PASSING =
  /^(?:weather|work|today|life|time|traffic|people|things?|stuff|everything|nothing|music|dinner|lunch|breakfast|food|sleep|school|class|weekend|day|news|thanks|sounds?|looks?|one|some|most|others?|both|all|sorry|that|this|these|those|money|business|practice)s?$/i;

/**
 * "Sunsets are amazing", "shopping is boring": what somebody makes of a thing in general, as their view. Only of kinds of
 * things, by a bare plural, a doing or a name: of "the soup" it holds for a day.
 */
export function opinions(context: Context, tokens: readonly Token[], text: string): AddProposal[] {
  if (!ANY.test(text) || context.message.name !== undefined) return [];
  const isOwnView = /\bi (?:think|guess|feel|find|believe|bet|swear)\b/i.test(text);
  return clausesOf(tokens).flatMap((clause) => {
    const isTold = clause.role === "main" || (clause.role === "content" && isOwnView);
    return isTold && isPlain(clause) ? opinionOf(context, clause) : [];
  });
}

function isPlain({ asks, verb }: Clause): boolean {
  const isNow = verb.copula && verb.tense === "present" && !verb.perfect;
  return isNow && !asks && verb.chain.length === 0 && verb.modal === undefined;
}

function opinionOf(context: Context, clause: Clause): AddProposal[] {
  const { tokens, subject, verb, rest } = clause;
  if (!subject) return [];
  const words = said(context, tokens, ...rest);
  // "Golf is just not my thing"
  const bare = words.replace(
    /^(?:(?:just|simply|really|so|definitely|probably) )?not (?:really |exactly )?/i,
    "",
  );
  const denied = verb.denied !== undefined || bare !== words;
  const word = VERDICT.exec(bare)?.groups?.word;
  const thing = said(context, tokens, ...subject);
  if (
    word === undefined ||
    !(isGeneral(clause) || isTaste(word, tokens, subject)) ||
    PASSING.test(thing) ||
    thing.split(" ").length > 4
  )
    return [];
  const { speaker } = context.discourse;
  const place = { start: tokens[subject[0]]?.start ?? 0, end: tokens[rest[1] - 1]?.end ?? 0 };
  // "Golf is just not my thing": no more and no less than that one does not like it.
  if (/^my (?:thing|jam)$/i.test(word))
    return [
      adding(context, place, {
        text: compose(speaker.display, denied ? "does not like" : "likes", thing),
        claim: claimOf(speaker.path, denied ? "not like" : "like", thing),
        holds: "many",
      }),
    ];
  return [
    adding(context, place, {
      text: compose(speaker.display, denied ? "does not find" : "finds", thing, word),
      claim: claimOf(speaker.path, denied ? "not find" : "find", thing, word),
      kind: "preference",
      holds: "many",
      confidence: 0.7,
      importance: 0.3,
    }),
  ];
}

/** "Golf is not my thing": of what is somebody's thing a bare noun is enough. */
function isTaste(word: string, tokens: readonly Token[], [from, to]: Stretch): boolean {
  return /^my (?:thing|jam)$/i.test(word) && to - from === 1 && tokens[from]?.class === "noun";
}

function isGeneral({ tokens, subject }: Clause): boolean {
  const [from, to] = subject ?? [0, 0];
  const slice = tokens.slice(from, to);
  const last = slice.at(-1);
  if (
    !last ||
    slice.some(
      ({ class: kind, owner }) => kind === "possessive" || kind === "pronoun" || kind === "question" || owner,
    )
  )
    return false;
  const isAll = slice[0]?.class === "determiner" && slice[0].lower === "all";
  if (slice.some(({ class: kind }) => kind === "determiner") && !isAll) return false;
  return (
    /[a-z]{3}ing$/.test(last.lower) ||
    /[^s]s$/.test(last.lower) ||
    slice.every(({ class: kind }) => kind === "name")
  );
}
