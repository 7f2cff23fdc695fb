import type { PhraseReader } from "../../ports/language/vocabulary.ts";

const SELF_WORDS: ReadonlySet<string> = new Set(["i", "my", "me", "mine", "myself", "we", "our", "us"]);
const MENTIONS_SELF = /\b(?:i|i['’]\p{L}+|me(?=\s*[?.!]*$)|my|mine|we|us|our|ours|myself)\b/iu;

const SAID_VERBS =
  "recommend(?:ed)?|suggest(?:ed)?|tell|told|say|said|mention(?:ed)?|give|gave|given|provide[d]?|list(?:ed)?|explain(?:ed)?|describe[d]?|propose[d]?|write|wrote|share[d]?|offer(?:ed)?|advise[d]?";
const ASSISTANT_QUESTION = new RegExp(
  `\\b(?:did|have|had|that|what|which|where|how|as|when|advice|suggestions?|recommendations?) you (?:\\w+ )?(?:${SAID_VERBS})\\b|\\byou (?:just |had |previously |earlier |once |also |have )?(?:recommended|suggested|told|said|mentioned|gave|provided|listed|explained|described|proposed|wrote|shared|advised|offered|given)\\b|\\bremind me (?:what|of|which|how|about)\\b|\\bour (?:previous|last|earlier|past) (?:chat|conversation|discussion)\\b`,
  "i",
);
const ADVICE_REQUEST =
  /^\s*(?:can|could|would|will) you\b|\bhow (?:do|can|should|would|could|might) i\b|\bhow would you\b|\bwhat (?:steps|libraries|tools|kind|sort|type|should|would|are (?:some|the)|do you)\b|\b(?:suggest|recommend|advice|advise|help me|show me|walk me|explain|tips|ideas)\b|\bif i\b|\b(?:how|where|which|who|when|what)\b[^.?!]{0,30}\b(?:should|shall|would|could) (?:i|we)\b/i;
const VALUE_QUESTION =
  /\b(?:how (?:many|much|long|often)|what|when(?:'s| is| are| do| does| will| should)|where|which|who|currently)\b/i;
const LIST_REQUEST = /\b(?:can you|could you|suggest|recommend|list the order|walk me|summar)/i;
const NUMBER_QUESTION =
  /\bhow (?:many|much|often|long)\b|\b(?:percentage|what time|when|amount|ratio|average|quota|target|deadline|count|score)\b/i;

/** A query without these words names no time span and need not be parsed for one. */
const TIME_WORDS =
  /\b(?:last|next|this|past|ago|yesterday|today|tonight|tomorrow|since|until|before|after|during|between|week\w*|month\w*|year\w*|jan\w*|feb\w*|march|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|spring|summer|autumn|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|\d{4}|\d{1,2}(?:st|nd|rd|th))\b/i;

const CHANGE_WORDS =
  /\b(?:now|new|currently|recently|just|updated?|changed|moved|switched|rescheduled|adjusted|increased|decreased|reduced|improved|extended|reached|upgraded|postponed|instead|anymore|no longer|latest|finally|actually)\b/i;
/** Each line break matches only up to the next one: otherwise a text of blank lines would take quadratic time. */
const STANDING_WISH =
  /(?:^|[.!?]\s*|\n[^\S\n]*)(?:please\s+)?(?:always|never|make sure (?:to|you) always|from now on|(?:don't|do not) ever|whenever i|when i ask)\b|\bi(?:'d| would)? (?:really |generally |usually |always |much |strongly )?(?:prefer|rather)\b|\bmy preference\b|\bi (?:(?:don't|do not) (?:like|want)|like|love|want|need) (?:it when|you to)\b/i;
const NUMBER_WORDS =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third|fourth|fifth|sixth|half|dozen)\b/i;

/** Advice, ideas, favours: a memory alone cannot answer these. */
const ADVICE =
  /\b(?:should|could|can|would|might|shall)\s+(?:i|we|you)\b|\b(?:recommend|suggest|advise|advice|ideas?|tips?|help)\b/i;

/**
 * "How do I cook rice?", "Why am I so tired?", "What do I need for a passport?": general questions, unless
 * the memory has an answer.
 */
const WORLDLY =
  /^(?:\W*(?:and|so|but|ok(?:ay)?|hey|hi)\b)*\W*(?:why\b|how (?:do|does|did)\b)|\bwhat (?:do|does) (?:i|we) (?:do|need|have to)\b|\bif (?:i|we)\b/i;

const YES_PHRASES =
  "yes|yep|yeah|yup|sure|ok|okay|correct|absolutely|definitely|confirm|confirmed|i confirm|i(?:['’]m| am) sure|i do";
const DO_PHRASES =
  "please|please do|do it|do that|do so|go ahead|(?:please )?(?:forget|delete|erase|remove|end|wipe|drop|clear) " +
  "(?:them|it|that|those|these|everything|it all|them all|all|all of (?:it|them|that)|the lot)";
const PLAIN_YES = new RegExp(`^(?:(?:${YES_PHRASES}|${DO_PHRASES})[\\s,.!]*)+$`, "i");
const ORDINALS = [
  "first",
  "second",
  "third",
  "fourth",
  "fifth",
  "sixth",
  "seventh",
  "eighth",
  "ninth",
  "tenth",
];
const COUNTS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const ITEM = `(?:${[...ORDINALS, ...COUNTS].join("|")}|last|\\d{1,2}(?:st|nd|rd|th)?)`;
const PARTIAL_YES = new RegExp(
  `^(?:(?:${YES_PHRASES})[\\s,.!]+)?(?:(?:but|only|just|delete|erase|forget|remove)\\s+)*(?:the\\s+)?(?:numbers?\\s+)?(?<items>${ITEM}(?:(?:\\s*,\\s*|\\s+and\\s+|\\s+)(?:the\\s+)?${ITEM})*)(?:\\s+ones?)?(?:\\s+(?:only|please))*[\\s.!]*$`,
  "i",
);
const EXPLICIT_YES = new RegExp(`(?:${DO_PHRASES.replace("please|", "")}|confirm)`, "i");

const FORGET_WORDS =
  /\b(?:forget|forgot|erase|delete|remove|wipe|scrub|unlearn|scrap|strike|purge|redact|drop|lose|bin|clear|ditch|discard|rid of|let go|(?:your|the) (?:memory|notes|records?)|off the record|(?:don['’]?t|do not|never|stop) (?:remember|keep|store|sav)\w*)/i;
const ERASURE_TALK =
  /\b(?:delet|eras|remov|purg|wip(?:e|ing)|clear|scrub|forg[eo]t|expung|redact|discard|withdr[ae]w|retract|unavailable|inaccessible|no longer|stale|previous|prior|former|earlier|old(?:er)?\b|used to|before\b|recover|restor|reveal|any ?more\b|any longer|no one\b|nobody\b|not to be\b|do not\b|don['’]t\b|stop\b|never\b|no\b)/i;
/** "Finish that erased line for me": then no part of the message is a new statement. */
const DELETED_THING =
  /\b(?:the|that|this|any|my|our|his|her|their|an?) (?:old |former |earlier )?(?:deleted|erased|removed|purged|forgotten) \p{L}/iu;
const QUESTION_START =
  /\?["'”’)]*$|^\s*(?:is|was|were|are|did|does|do|has|had|have|can|could|would|should|will|what|which|who|whose|where|when|why|how|tell me|confirm|just confirm|remind me)\b/i;
const PART_TALK =
  /\b(?:ends?|ended|ending|last|final|digits?|starts?|started|begins?|began|beginning|first|prefix|suffix|then)\b/i;

/** "how are you?", "tell me a joke", "what's 2 + 2?": questions that no memory could answer. */
function isForAssistant(text: string): boolean {
  if (MENTIONS_SELF.test(text)) return false;
  const isAboutYou = /\b(?:you|your|yourself)\b/i.test(text);
  const isOrder = /^\s*(?:please\s+)?(?:tell|write|give|make|sing|show|draw|translate|calculate)\b/i.test(
    text,
  );
  return isAboutYou || isOrder || /\d\s*[-+*/×÷]\s*\d/.test(text);
}

/** "first two" are 0 and 1, "second" is 1, "1 and 3" are 0 and 2; -1 is the last. */
function toItems(words: string): number[] {
  const all = words.toLowerCase().match(/[a-z]+|\d+/g) ?? [];
  const first = COUNTS.indexOf(all[1] ?? "");
  if (all[0] === "first" && first >= 0) return Array.from({ length: first + 1 }, (_, i) => i);
  return all.flatMap((word) => {
    if (word === "last") return [-1];
    const place = Math.max(ORDINALS.indexOf(word), COUNTS.indexOf(word), Number(word) - 1 || 0);
    return /^(?:and|the|st|nd|rd|th)$/.test(word) ? [] : [place];
  });
}

/** Judges English by its words alone. */
export const englishPhrases: PhraseReader = {
  readQuery(query) {
    const isAfterAssistant = ASSISTANT_QUESTION.test(query);
    return {
      isAfterAssistant,
      isRequest: !isAfterAssistant && ADVICE_REQUEST.test(query),
      isAfterValue: VALUE_QUESTION.test(query) && !LIST_REQUEST.test(query),
      isAfterNumber: NUMBER_QUESTION.test(query),
    };
  },
  mayNameTime: (query) => TIME_WORDS.test(query),
  isSelfWord: (word) => SELF_WORDS.has(word),
  mentionsSelf: (text) => MENTIONS_SELF.test(text),
  tellsChange: (text) => CHANGE_WORDS.test(text),
  statesPreference: (message) => STANDING_WISH.test(message.replaceAll("’", "'")),
  hasNumber: (text) => NUMBER_WORDS.test(text),
  readDemand: (message) => ({
    isForAssistant: isForAssistant(message),
    isAdvice: ADVICE.test(message),
    isWorldly: WORLDLY.test(message),
  }),
  readConfirmation(message) {
    const said = message.trim();
    const partial = PARTIAL_YES.exec(said)?.groups?.items;
    if (!PLAIN_YES.test(said) && partial === undefined) return undefined;
    const isExplicit = EXPLICIT_YES.test(message);
    return partial === undefined ? { isExplicit } : { isExplicit, items: toItems(partial) };
  },
  mayAskToForget: (message) => FORGET_WORDS.test(message),
  naming: ["ask for", "alias", "name", "named", "called"],
  readErasureTalk: (sentence) => ({
    isQuestion: QUESTION_START.test(sentence),
    isOfErasure: ERASURE_TALK.test(sentence),
    isOfParts: PART_TALK.test(sentence),
  }),
  namesErased: (message) => DELETED_THING.test(message),
};
