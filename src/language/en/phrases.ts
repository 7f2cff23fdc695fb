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

const SMALL_TALK_WORDS =
  "hi|hello|hey|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|night)|bye|goodbye|see (?:you|ya)(?: later| soon| tomorrow)?|later|" +
  "cheers|thanks|thank you|thx|ty|ta|many thanks|no (?:worries|problem|thanks|thank you)|please|sorry|my bad|oops|whoops|" +
  "ok|okay|k|kk|alright|all right|right|sure|of course|yes|yeah|yep|yup|no|nope|nah|maybe|perhaps|fine|great|perfect|" +
  "good|nice|cool|awesome|amazing|brilliant|excellent|wonderful|lovely|wow|oh|ah|hm+|ha(?:ha)*|lol|haha|lmao|" +
  "got it|gotcha|i see|understood|noted|agreed|exactly|indeed|true|correct|done|same|you too|well done|good (?:job|work|one|idea|point)|" +
  "sounds (?:good|great|fine|right)|looks (?:good|great)|makes sense|fair enough|never ?mind|no way|really|" +
  "go on|continue|carry on|next|again|more|stop|wait|one (?:moment|second|sec)|hold on|" +
  "that(?:['’]s| is| was)? (?:all|it|good|great|fine|perfect|helpful|right|correct|cool|nice|awesome|so helpful|very helpful|interesting|funny)|" +
  "you(?:['’]re| are) (?:welcome|right|the best|great|awesome|so helpful)|how are you(?: doing)?(?: today)?|what['’]?s up|" +
  "have a (?:nice|good|great) (?:day|one|evening|night|weekend)|take care|let['’]?s (?:go|start|continue)|i(?:['’]ll| will) try(?: that| it)?|it works?(?: now)?|that works?(?: now)?";
const FILLERS =
  "so|very|much|a lot|again|then|now|there|everyone|all|man|mate|buddy|friend|dear|for (?:that|this|it|your help|the help|everything|now)|and|but|too|it|that|this|ok|oh";
const SMALL_TALK = new RegExp(`^(?:(?:${SMALL_TALK_WORDS})(?:[\\s,!.…-]+(?:${FILLERS}))*[\\s,!.…-]*)+$`, "i");

/** A general question, which reveals nothing about the user. */
const GENERAL_QUESTION =
  /^(?:and |but |so |ok,? |okay,? |hey,? |hi,? )?(?:what|who|whom|whose|when|where|why|which|how|is|are|was|were|do|does|did|can|could|would|will|should|shall|may|might|has|have|had|am|isn['’]t|aren['’]t|don['’]t|doesn['’]t|tell me|explain|define|show me|describe)\b[^?]*\??$/i;
/** Words by which people refer to themselves or their possessions. */
const SELF_REFERENCE = /\b(?:i|i['’]\w+|me|my|mine|myself|we|we['’]\w+|us|our|ours)\b/gi;
/** Questions about oneself that state nothing: "How do I cook rice?", "What is my sister called?". */
const HOW_DO_I =
  /\b(?:do|does|did|can|could|should|would|will|may|might|shall|am|was|have|had) i\b|\b(?:tell|show|give|remind|help) me\b/gi;
const WHAT_IS_MY =
  /^(?:what|who|where|when|which|how (?:old|tall|much|many|long|often)|whose)(?:['’]s| is| are| was| were| do| does| did)? ?(?:my|our|i|we)(?: \w+(?:['’]s)?){0,5}\?+$/i;

const TASK =
  /^(?:please |can you |could you |would you )?(?:write|translate|summari[sz]e|explain|list|generate|create|draft|compare|define|calculate|convert|solve|compute|recommend|suggest|give me|show me|tell me|find)\b/i;
/** Words that make even a task a statement about the user. */
const LASTING_WISH =
  /\b(?:always|never|every time|from now on|in (?:the )?future|prefer|call me|remember|forget|don['’]?t|do not|instead|anymore|no longer|used to)\b/i;

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

/** Whether a text only thanks or greets: "many thanks!". */
export function isThanks(text: string): boolean {
  return (
    /^(?:(?:many )?thanks|thank you|thx|hi|hello|hey|bye)\b[\w ,!.]{0,30}$/i.test(text) &&
    SMALL_TALK.test(text)
  );
}

/**
 * Whether an English sentence may state a lasting fact about its speaker. False for small talk, general questions and tasks: "thanks",
 * "What is a monad?", "Translate this".
 */
export function mayStateFact(sentence: string): boolean {
  if (!/[\p{L}\p{N}]/u.test(sentence) || SMALL_TALK.test(sentence)) return false;
  if (LASTING_WISH.test(sentence)) return true;
  const isAsked = GENERAL_QUESTION.test(sentence) || TASK.test(sentence);
  if (!isAsked) return true;
  if (WHAT_IS_MY.test(sentence)) return false;
  const selfReferences = sentence.match(SELF_REFERENCE)?.length ?? 0;
  const questionReferences = sentence.match(HOW_DO_I)?.length ?? 0;
  return selfReferences > questionReferences;
}
