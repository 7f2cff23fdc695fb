import { stem } from "../../../../domain/search/search-terms.ts";
import { parseEnglish, tokenizeEnglish } from "../../parser/english-trees.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import type { WordSpan } from "../../parser/tokenizer.ts";
import { findShapedValues, findSlot } from "../../value-shapes.ts";
import { correctVerb } from "./correct-verb.ts";

/** A verb of a sentence that may carry a request to forget, with the weak signs for and against it. */
export interface RequestCandidate {
  /** Offsets of the verb in the text; both 0 for a sentence without such a verb. */
  readonly start: number;
  readonly end: number;
  /** The group of the verb: `forget`, `erase`, `discard`, `keep`, `mention`, `none`. */
  readonly group: VerbGroup;
  readonly isNegated: boolean;
  readonly isPassive: boolean;
  /** The names of the features that hold. */
  readonly features: readonly string[];
}

export type VerbGroup = "forget" | "erase" | "discard" | "keep" | "mention" | "go" | "pretend" | "none";

const toStems = (words: string): ReadonlySet<string> => new Set(words.split(" ").map(stem));

const GROUPS: readonly (readonly [VerbGroup, ReadonlySet<string>])[] = [
  ["forget", toStems("forget forgets forgot forgotten forgetting unremember unlearn disremember")],
  [
    "erase",
    toStems("erase delete wipe purge redact expunge scrub deleted erased wiped purged deletion erasure"),
  ],
  [
    "discard",
    toStems(
      "get cut remove drop clear scrap bin trash ditch strike struck discard destroy nuke lose kill cancel scratch dump zap " +
        "chuck throw threw toss cross black rid take took taken leave left gone withdraw retract removal omit undo unsay " +
        "blank blot rub nix pull vanish disappear let come",
    ),
  ],
  [
    "keep",
    toStems(
      "keep kept store save remember record note log retain hold held hang write wrote written memorise memorize remain stay put belong live file know have",
    ),
  ],
  ["mention", toStems("mention bring remind repeat")],
  ["go", toStems("go gone")],
  ["pretend", toStems("pretend act")],
];

/** Verbs that carry a request only with what stands behind them. */
const PARTICLES: Readonly<Record<string, RegExp>> = Object.fromEntries(
  (
    [
      [
        "get",
        /^[^.;,]*\b(?:out of|off) (?:your|the|our|my)? ?(?:\w+ )?(?:memory|notes?|records?|files?|head|system|log)\b/,
      ],
      ["take took taken", /^[^.;]*\b(?:out|off|away|down|back)\b/],
      ["throw threw chuck toss", /^[^.;]*\b(?:out|away)\b/],
      ["cross black leave cut", /^[^.;]*\b(?:out|off)\b/],
      ["blank blot rub", /^[^.;]*\bout\b/],
      ["let", /^(?:[^.;,]*\bgo\b[^.;,]*\b(?:notes?|memory|records?|files?)\b|\s+go of\b)/],
      ["come", /^\s+(?:out|off)\b/],
      [
        "pull",
        /^[^.;]*\b(?:from|off|out of) (?:(?:your|the|our|my) )?(?:\w+ )?(?:memory|notes?|records?|files?|log|minutes)\b/,
      ],
      [
        "belong",
        /^\s+(?:here|(?:in|on) (?:your|the|our|my) (?:\w+ )?(?:memory|notes?|records?|files?|log|minutes|head))\b/,
      ],
      [
        "live",
        /^\s+(?:in|on) (?:your|the|our|my) (?:\w+ )?(?:memory|notes?|records?|files?|log|minutes|head)\b/,
      ],
      ["file", /^\s+(?:this|that|it|away)\b/],
      ["know have", /^\s+(?!to\b)\S/],
      ["bring", /^[^.;]*\bup\b/],
      ["hang", /^\s+on\b/],
      ["write wrote written", /^[^.;]*\b(?:down|it|this|that)\b/],
      ["put", /^[^.;]*\b(?:notes?|records?|files?|memory|down|log|minutes|system)\b/],
      ["remind", /^[^.;]*\bof\b/],
      ["go gone", /^\s*(?:now|please|too)?\s*(?:[.,!?;:)]|$|from|and)/],
      ["pretend act", /^(?: like| as if| that)?[^.;,]*\b(?:never|didn)/],
      ["stay remain", /^[^.;]*\b(?:in|with|between|on)\b/],
    ] as const
  ).flatMap(([words, pattern]) => words.split(" ").map((word) => [stem(word), pattern])),
);

const MEMORY = toStems(
  "memory memories note notes record records file files database storage chat conversation history transcript log logs minutes profile",
);
/** Things of other systems and of the world, which are deleted and kept elsewhere. */
const WORK = toStems(
  "paragraph sentence line word comma adjective function column row table branch file folder app photo video email spam inbox " +
    "account subscription membership order reminder alarm event calendar meeting list import config cache key server array " +
    "duplicate text draft slide post tweet report document document page image item cart tile tattoo user logs backup " +
    "poem paragraph code bug test browser laptop phone drive disk reservation appointment schedule rota membership newsletter",
);
const PART = toStems(
  "thing things bit stuff part everything anything all whatever info information details detail mention trace fact nothing none any data",
);
const REPORTING = toStems(
  "say said tell told ask asked shout whisper write wrote want wants suggest law policy documents docs",
);
const PLEASE = /\b(?:please|pls|plz|kindly|abeg)\b/i;
const QUOTE = /["“”«»]|(?<!\p{L})['‘][^'’]{3,}['’](?!\p{L})/u;
const OFF_RECORD =
  /\b(?:off[- ](?:the[- ])?record|between (?:us|you and me|ourselves|the two of us)\b|for your (?:ears|eyes) only|(?:not|never|isn['’]?t) for the (?:record|notes|files?|minutes)|you (?:didn['’]?t|never) hear|no (?:notes?|records?) (?:of|on|about)|no notes\b|stays? between|(?:not|isn['’]?t|never) for (?:the|your|any) (?:record|memory|notes|files?|log|minutes))/i;
/** The same, set off from what is told. */
const SET_OFF =
  /(?:^|[.!?,;:–—-]\s+|\b(?:and|but|so|this is|that is|that['’]s|it['’]s|keep (?:this|that|it)) )(?:(?:just|strictly|only|this is|this stays|please|purely|all|all this)\s+)*(?:off[- ](?:the[- ])?record|between (?:us|you and me|ourselves|the two of us)(?: only)?|for your (?:ears|eyes) only|not for (?:the|your|any) (?:record|memory|notes|files?|log|minutes))\s*(?:[.!,:;–—-]|$|\s(?:but|and|i|my|we|he|she|they)\b)/i;
const SAID =
  /\b(?:i|we)(?:['’]?ve| have|['’]?d)?(?: just| ever| once)? (?:told|tell|said|say|mentioned|shared|gave|give|wrote|sent|talked|discussed|spoke)\b|\bwhat (?:i|we) (?:told|said)|\btold you\b|\bwe (?:talked|spoke|discussed)|\b(?:i|we) ever\b/i;
const YOU_KNOW = /\byou(?:['’]?ve)? (?:know|have|remember|stored?|saved?|keep|kept|noted|recorded)\b/i;
const OWN_MESSAGE =
  /\b(?:last|previous|latest|first) (?:\w+ )?(?:messages?|thing|sentence|line)|\b(?:this|our|the) (?:whole |entire )?(?:chat|conversation)\b/i;
const REGRET =
  /\bshould(?: not|n['’]?t) have (?:told|said|mentioned|shared)|\bmistake to share|\btoo much\b|\bprivate\b|\bconsent\b/i;
const FROM_MEMORY =
  /\b(?:from|in|out of|off|on) (?:(?:your|the|our|my|its|shared|whatever|what) (?:\w+ ){0,2})?(?:memory|memories|notes?|records?|files?|database|storage|mind|head|brain)\b|\bout of (?:here|there)\b|\bfrom (?:everywhere|everything|what(?:ever)? you)|\bon (?:file|record)\b/i;
const NOT_STORED =
  /\b(?:not|\p{L}+n['’]t|(?:do|does|did|is|are|was|wo|ca|should|must|would)nt|nothing|none|no|never|leave|keep|rather|better)\b.*(?:\bin (?:your|the|my|our|shared) (?:memory|notes?|records?|files?)\b|\b(?:stored|saved|remembered|recorded|logged)\W*$|\bout of (?:it|your|the) ?)/iu;
/** "This never goes on file", "that is not something you should hold on to", "no trace of that". */
const NOT_KEPT =
  /\b(?:not|\p{L}+n['’]t|(?:do|does|did|is|are|was|wo|ca|should|must|would)nt|nothing|none|no|never|nowhere|un(?:recorded|saved|logged|stored))\b(?:\W+[\p{L}'’]+){0,6}?\W+(?:memory|records?|file|notes?|log(?:ged)?|kept|keeps?|keeping|stor(?:ed|e|ing)|sav(?:ed|e|ing)|hold(?:ing)? on|remember(?:ed|ing)?|recorded|trace|wr(?:ite|itten) down|noted)\b|\bun(?:recorded|saved|logged|stored)\b/iu;
const FROM_YOU =
  /\b(?:from|off|out of|in|on) your\b|\b(?:list|thing)s? (?:of \w+ )?you (?:keep|have)\b|\b(?:you|whatever you) (?:keep|have)\b/i;
const FROM_OTHER =
  /\b(?:from|off|in|on|into|with|of) (?:my|the|a|this|these|his|her|their|our|\p{Lu}\p{Ll}+)\b/u;

/** The candidates of a sentence, in order; one of the group `none` if no verb could carry a request. */
export function findRequestCandidates(text: string): RequestCandidate[] {
  const spans = tokenizeEnglish(text);
  const shared = sentenceFeatures(text, spans.length);
  const verbs = spans.flatMap((span, i) => {
    const group = findVerbGroup(text, span);
    return group ? [{ i, group }] : [];
  });
  const found = verbs.length === 0 ? [] : candidatesOf(text, verbs, shared);
  const none: RequestCandidate = {
    start: 0,
    end: 0,
    group: "none",
    isNegated: false,
    isPassive: false,
    features: ["none", ...shared.map((name) => `none ${name}`)],
  };
  return found.length === 0 ||
    shared.some((sign) => /^(?:off-record|not kept|secret|not in memory)$/.test(sign))
    ? [...found, none]
    : found;
}

/** The group of a word that can carry a request, by the words around it alone. */
function findVerbGroup(text: string, span: WordSpan): VerbGroup | undefined {
  const lower = span.text.toLowerCase();
  if (lower === "left") return undefined;
  const verb = correctVerb(lower);
  const stemmed = stem(verb);
  const group = GROUPS.find(([, stems]) => stems.has(stemmed) || stems.has(verb))?.[0];
  if (!group) return undefined;
  const word = { start: span.start, end: span.end, lower };
  if (group === "keep" && /^(?:keep|leave)$/.test(lower) && KEPT_OUT.test(text.slice(span.end)))
    return "discard";
  return isNoun(text, word) || !isRequestVerb(text, word, group) ? undefined : group;
}

/** The candidates of a sentence, whose tree is read only here: most sentences have no such verb. */
function candidatesOf(
  text: string,
  verbs: readonly { readonly i: number; readonly group: VerbGroup }[],
  shared: readonly string[],
): RequestCandidate[] {
  const tokens = parseEnglish(text).flatMap(({ tokens: some }) => some.map((token) => ({ token, of: some })));
  const words = tokens.map(({ token }) => token);
  return verbs.map(({ i, group }) => candidateAt(text, words, i, { group, of: tokens[i]?.of ?? [], shared }));
}

type Word = Pick<ParsedToken, "start" | "end" | "lower">;

/** "The record", and not "make a record of it". */
function isNoun(text: string, { start, end, lower }: Word): boolean {
  const isMade = /\bmake\s+(?:any |a )?$/i.test(text.slice(0, start)) && /^\s+of\b/.test(text.slice(end));
  const mayBe = /^(?:record|note|log|file|bin|drop|strike)s?$/.test(lower);
  return !isMade && mayBe && NOUN_BEFORE.test(text.slice(0, start));
}

/** Whether a verb has what makes it one of requests: "take … off", "can go". */
function isRequestVerb(text: string, { start, end, lower }: Word, group: string): boolean {
  if (group === "go" && !MAY_GO.test(text.slice(0, start))) return false;
  const particle = PARTICLES[stem(lower)];
  return !particle || particle.test(text.slice(end, end + 80));
}

/** "The old one can go", not "the way to go" or "keep going". */
const MAY_GO =
  /(?<!\b(?:i|we|you|he|she|they|me|us|him|her|them) )\b(?:can|could|should|must|may|(?:has|have|had|needs?|ought|is|are|wants?) to|be|also|now|just|all|it|that)\s+$/i;
const KEPT_OUT =
  /^[^.;,]*\bout of (?:your|the|our|my) (?:\w+ )?(?:notes?|memory|records?|files?|log|head|minutes)\b/i;
const NOUN_BEFORE = /\b(?:the|a|an|my|your|our|his|this|that|off|on|for|no|of|any)\s+$/i;

function candidateAt(
  text: string,
  words: readonly ParsedToken[],
  i: number,
  { group, of, shared }: { group: VerbGroup; of: readonly ParsedToken[]; shared: readonly string[] },
): RequestCandidate {
  const token = words[i] as ParsedToken;
  const before = text.slice(0, token.start);
  const behind = text.slice(token.end);
  const lower = before.toLowerCase().replaceAll("’", "'");
  const clause = (
    lower.split(/[,;:.!?–—]\s+|\s-\s|\(|(?:^|\s)(?:and|but|so|then|or)\s/).at(-1) ?? lower
  ).replace(/\bget\s*$/, "");
  const isNegated = NEGATED.test(clause) || (group === "keep" && /^\S*\s+(?:nothing|no)\b/.test(behind));
  const subject = of.find(({ head, label }) => of[head] === token && /^(?:nsubj|nsubj:pass)$/.test(label));
  const isPassive = isInPassive(token, of, clause);
  const mood = moodOf({ clause, lower, token, subject, isPassive });
  const kind = kindOf(group, isNegated, mood);
  const place = placeOf(behind);
  const objects = objectsOf(text, words, i, { of, before, isPassive: /^(?:passive|thing)/.test(mood) });
  const signs = [
    ...(place ? [place] : []),
    ...objects,
    ...shared,
    ...reportedBefore(lower),
    ...verbSigns({ clause, lower, behind, mood, token }),
    ...wordSigns(token, words, i),
  ];
  const asks = kind.startsWith("asks");
  return {
    start: token.start,
    end: token.end,
    group,
    isNegated,
    isPassive: isPassive || /^(?:passive|thing)/.test(mood),
    features: [
      kind,
      asks ? "asks" : "tells",
      `${kind} ${mood}`,
      `${kind} ${mood} by ${subjectShared(token, of)}`,
      `${kind} ${stem(token.lower)}`,
      ...signs.map((sign) => `${asks ? "asks" : "tells"} ${sign}`),
      ...(asks ? [...objects, ...shared, ...(place ? [place] : [])].map((sign) => `${kind} ${sign}`) : []),
    ],
  };
}

/** Signs of a verb's form, of the words beside it and of the length of its sentence. */
function wordSigns(token: ParsedToken, words: readonly ParsedToken[], i: number): string[] {
  const { length } = words;
  return [
    `verb ${stem(token.lower)}`,
    `tag ${token.tag}`,
    `label ${token.label}`,
    `before ${words[i - 1]?.lower ?? ""}`,
    `behind ${words[i + 1]?.lower ?? ""}`,
    `length ${LENGTHS.find((most) => length <= most) ?? "more"}`,
  ];
}

/** Sentences of up to so many words are of one length. */
const LENGTHS = [8, 16, 28];

/** Who the subject is that a verb has, or shares with the verbs above it. */
function subjectShared(token: ParsedToken, of: readonly ParsedToken[]): string {
  let verb: ParsedToken | undefined = token;
  for (let steps = 0; verb && steps < MOST_ABOVE; steps += 1) {
    const subject = of.find(({ head, label }) => of[head] === verb && /^nsubj/.test(label));
    if (subject) return whoIs(subject);
    verb = of[verb.head];
  }
  return "nobody";
}

const MOST_ABOVE = 6;

function whoIs({ lower }: ParsedToken): string {
  if (/^(?:i|we)$/.test(lower)) return "i";
  if (/^(?:you|u)$/.test(lower)) return "you";
  return /^(?:it|this|that|they|these|those)$/.test(lower) ? "it" : "other";
}

function isInPassive(token: ParsedToken, of: readonly ParsedToken[], clause: string): boolean {
  return (
    of.some(({ head, label }) => of[head] === token && label === "aux:pass") ||
    /\b(?:be|been|being|is|are|was|were|gets?|got|as)\s*$/.test(clause)
  );
}

interface VerbPlace {
  readonly clause: string;
  readonly lower: string;
  readonly behind: string;
  readonly mood: string;
  readonly token: ParsedToken;
}

/** Signs of the place of a verb in its sentence. */
function verbSigns({ clause, lower, behind, mood, token }: VerbPlace): string[] {
  const signs: readonly (readonly [name: string, isGiven: boolean])[] = [
    ["opens clause", isOpening(clause)],
    ["subordinate", SUBORDINATE.test(lower)],
    ["infinitive", /\bto\s*$/.test(clause) && !/you|wish/.test(mood)],
    ["to-verb", /^\s+to\s+\w/.test(behind)],
    ["verb ends", /^\s*[.!?]*$/.test(behind)],
    ["base", token.tag === "VB" || token.tag === "VBP"],
  ];
  return signs.flatMap(([name, isGiven]) => (isGiven ? [name] : []));
}

const NEGATED =
  /\b(?:don'?t|dont|do not|never|not|shouldn'?t|mustn'?t|can'?t|cannot|no need to|stop|without|didn'?t|nothing|none|won'?t|no longer|need not|needn'?t|doesn'?t|wouldn'?t|nobody)(?:\s+\S+){0,3}\s*$/;
const SUBORDINATE =
  /\b(?:if|when|whenever|once|until|before|after|in case|lest|why|how|whether|what)\b[^,]*$/;
const ASKING = /^(?:order|ask-you|wish-you|you-modal|passive-modal|thing-modal|relayed)$/;

/** What the verb does in its mood: asks to remove, asks not to keep, asks not to forget, or only tells. */
function kindOf(group: VerbGroup, isNegated: boolean, mood: string): string {
  if (!ASKING.test(mood)) return `tells ${isNegated ? "not " : ""}${group}`;
  const keeps = group === "keep" || group === "mention";
  if (keeps) return isNegated ? `asks not ${group}` : `wants ${group}`;
  return isNegated ? `wants not ${group}` : `asks ${group}`;
}

function isOpening(clause: string): boolean {
  return /^(?:(?:please|pls|plz|kindly|also|now|ok|okay|just|then|and|so|hey|hi|btw|abeg|sorry|oops|ugh|omg|again|go ahead|to|you|actually|maybe|oh|well|right|do|ever|even|yeah|yes|no)\b[^\p{L}]*)*$/u.test(
    clause.trim(),
  );
}

interface VerbContext {
  readonly clause: string;
  readonly lower: string;
  readonly token: ParsedToken;
  readonly subject: ParsedToken | undefined;
  readonly isPassive: boolean;
}

function moodOf(of: VerbContext): string {
  return wishedMood(of) ?? thingMood(of) ?? spokenMood(of) ?? toldMood(of);
}

/** "Could you", "I want you to", "make sure that". */
function wishedMood({ clause, lower }: VerbContext): string | undefined {
  if (/\b(?:make sure|see to it|ensure|be sure)\b/.test(clause)) return "relayed";
  if (
    /\b(?:can|could|would|will|won'?t|mind)(?: you| u)?(?: please| pls| just| also| maybe)*\s*$/.test(
      clause,
    ) &&
    /\b(?:you|u|mind)\b/.test(clause)
  )
    return /^\W*(?:would|could|can)\b.*\bable\b/.test(clause) ? "able" : "ask-you";
  if (
    /\b(?:want|need|like|love|prefer|rather|ask|happier|better|good|request|beg|wish)\b(?: it)?(?: if| that)?(?: for)? (?:you|u)\b/.test(
      clause,
    )
  )
    return "wish-you";
  if (/\b(?:chance|possible|wonder(?:ing)?|so kind as to|free to)\b/.test(clause)) return "wish-you";
  if (
    /\b(?:would|['’]d|it['’]?s|better|safer|nicer|rather|sooner|best|wiser|feel)\b.*\bif (?:you|u)\b/.test(
      lower,
    )
  )
    return "wish-you";
  return undefined;
}

/** "It should be", "treat it as", "it has to". */
function thingMood({ clause, token, isPassive }: VerbContext): string | undefined {
  if (isPassive) {
    if (/\b(?:should|shouldn't|must|shall|needs?|has|have|can|could|may|to|ought|not)\b/.test(clause))
      return "passive-modal";
    return /\b(?:treat|consider|regard|want|wants|marked?|ask(?:s|ed)? (?:that|for))\b/.test(clause)
      ? "passive-modal"
      : "passive";
  }
  const isParticiple = /(?:ed|gone|kept|forgotten|out)$/.test(token.lower);
  if (
    /\b(?:treat|consider|regard|want|wants|need|get|have|like|prefer|appreciate|request(?:s|ed)?|wish(?:es)?)\b/.test(
      clause,
    ) &&
    isParticiple &&
    !/\b(?:i|we|they|he|she)(?:'ve)? (?:have|had|got)\b/.test(clause)
  )
    return "passive-modal";
  if (
    /\b(?:needs?|has|have|can|should|must|may) (?:to )?$/.test(`${clause} `.replace(/\s+$/, " ")) &&
    !/\bhas\s*$|\bhave\s*$/.test(clause) &&
    !/\b(?:i|we|he|she|they|you|u)\b/.test(clause)
  )
    return "thing-modal";
  return undefined;
}

/** What "you", "I" or somebody else does, asks or plans. */
function spokenMood({ clause, lower, token, subject }: VerbContext): string | undefined {
  if (/\b(?:you|u) (?:can|could|may|should|must|need|have)\b/.test(clause)) return "you-modal";
  if (/\b(?:you|u)(?: didn'?t| did not| never)?\s*$/.test(clause)) return "you";
  if (/\b(?:asks?|asked|wants?|wanted)\b(?: that)? (?:us|we)\b/.test(clause)) return "relayed";
  if (/\b(?:i|we)(?:'?(?:ll|d|m|ve|re))?\b/.test(clause) || /^(?:i|we)$/.test(subject?.lower ?? "")) {
    if (/\b(?:need|want|have|got|going|like|love|try|about|wish)\b/.test(clause)) return "i-plan";
    return "i";
  }
  if (/\b(?:request|ask for|demand)\b/.test(clause) && /^(?:deletion|erasure|removal)/.test(token.lower))
    return "order";
  if (/\b(?:asks?|asked|wants?|wanted|says?|requests?|requested)\b(?: that)? (?:us|we|to)\b/.test(lower))
    return "relayed";
  if (/\b(?:remind|tell|ask|let|help|make|told|asked|wants?|said|says)\b/.test(clause)) return "indirect";
  return undefined;
}

function toldMood({ clause, token, subject }: VerbContext): string {
  if (/^(?:VBD|VBZ|VBN)$/.test(token.tag)) return "told";
  if (token.tag === "VBG") return "gerund";
  if (
    /^(?:NN|NNS|JJ)$/.test(token.tag) &&
    /\b(?:the|a|an|my|his|her|their|this|of|in|on|for|old|new)\s*$/.test(clause)
  )
    return "noun";
  if (subject && !/^(?:please|pls)$/.test(subject.lower)) return "others";
  return isOpening(clause.replace(NEGATED, "")) ? "order" : "within";
}

function objectsOf(
  text: string,
  words: readonly ParsedToken[],
  i: number,
  { of, before, isPassive }: { of: readonly ParsedToken[]; before: string; isPassive: boolean },
): string[] {
  const token = words[i] as ParsedToken;
  const behind = isPassive
    ? before.replace(/^.*[,;:.!?]\s|^.*\b(?:that we|treat|consider|want|wants)\s/i, "")
    : text.slice(token.end);
  const clause =
    behind.split(/[;.!?–—]\s|,\s+(?=(?:i|it|we|he|she|they|that|because|not|nobody|since|as)\b)/i)[0] ??
    behind;
  const bare = clause.replace(/^\s*(?:about|of|on|to|out|off|down|from|up|rid of|track of|all)?\s*/i, "");
  const head =
    of.find(({ head: h, label }) => of[h] === token && /^(?:obj|nsubj:pass|obl|ccomp|xcomp)$/.test(label)) ??
    words.slice(i + 1).find(({ pos }) => /^(?:NOUN|PROPN|PRON|NUM)$/.test(pos));
  const first = /^[\p{L}']+/u.exec(bare)?.[0]?.toLowerCase() ?? "";
  const signs = [...OBJECT_SIGNS.flatMap(([name, pattern]) => (pattern.test(bare) ? [name] : []))];
  signs.push(...CLAUSE_SIGNS.flatMap(([name, pattern]) => (pattern.test(clause) ? [name] : [])));
  if (PART.has(stem(first))) signs.push("part");
  if (findShapedValues(clause).length > 0) signs.push("value");
  if (bare.trim() === "" || !head) signs.push("none");
  return [...new Set([...signs, ...(head ? headSigns(stem(head.lower)) : [])])];
}

/** What the words of the object are, by its beginning. */
const OBJECT_SIGNS: readonly (readonly [name: string, pattern: RegExp])[] = [
  [
    "pronoun",
    /^(?:it|that|this|them|those|these)(?![\p{L}'])(?=\s*$|\s+(?:out|off|away|down|please|pls|too|now|again|from|for|in|anywhere|one)\b|[,:;–—-])/iu,
  ],
  ["person", /^(?:him|her|me)(?![\p{L}'])/iu],
  ["clause", /^(?:that|how|where|who|when|what|which|whom|i|we)(?![\p{L}'])\s+\S/iu],
  ["mine", /^(?:my|our)(?![\p{L}'])/iu],
  ["the", /^(?:the|a|an|some)(?![\p{L}'])/iu],
  ["others'", /^(?:your|his|their|its)(?![\p{L}'])/iu],
  [
    "part",
    /^(?:the |all |that |this )*(?:thing|bit|part|stuff|info|data|details|information|everything|anything)\b/i,
  ],
  ["owner", /^\s*\p{Lu}\p{L}+['’]s\b|\b(?:my|our) \p{L}+['’]s?\b/u],
];

/** What stands anywhere in it. */
const CLAUSE_SIGNS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["said", SAID],
  ["known", YOU_KNOW],
  ["about", /\babout\b/i],
  ["digit", /\d/],
  ["name", /\b\p{Lu}\p{L}+/u],
  ["old", /\b(?:old|former|previous|earlier|first|draft)\b|^(?:second|last)\b/i],
];

/** What its noun is. */
function headSigns(noun: string): string[] {
  return [
    ...(PART.has(noun) ? ["part"] : []),
    ...(findSlot(noun) ? ["info"] : []),
    ...(WORK.has(noun) ? ["work"] : []),
    ...(MEMORY.has(noun) ? ["memory"] : []),
  ];
}

function placeOf(behind: string): string | undefined {
  if (FROM_MEMORY.test(behind)) return "from memory";
  if (FROM_YOU.test(behind)) return "from you";
  return FROM_OTHER.test(behind) ? "from elsewhere" : undefined;
}

function reportedBefore(lower: string): string[] {
  const words = lower.split(/[^\p{L}'’]+/u).filter((word) => word !== "");
  const isReported = words.slice(-6).some((word) => REPORTING.has(stem(word)));
  return isReported ? ["reported"] : [];
}

/** Signs of a whole sentence, by name. */
const SENTENCE_SIGNS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["question", /\?\W*$/],
  ["asks", /^\W*(?:how|what|why|who|where|when|which|did|do|does|is|are|was|were|have|has|should)\b/i],
  ["please", PLEASE],
  ["quoted", QUOTE],
  ["off-record", OFF_RECORD],
  ["set off", SET_OFF],
  ["said", SAID],
  ["known", YOU_KNOW],
  ["own message", OWN_MESSAGE],
  ["regret", REGRET],
  [
    "if asked",
    /\b(?:if|when|once|after) (?:i|we|you|someone|people|users?|customers?) (?:ask|asks|asked|tell|want|request)\b/i,
  ],
  [
    "general",
    /\b(?:things|people|customers|users|names|data) (?:when|if|on)\b|\b(?:policy|law|gives people|everyone|nobody can|one day of)\b/i,
  ],
  [
    "fiction",
    /\b(?:film|movie|novel|scene|hero|heroine|witch|ghost|whisper\w*|murmur\w*|imagine|song|lyrics?|poem)\b/i,
  ],
  ["memory", /\b(?:your|the|shared) (?:memory|notes?|records?)\b/i],
  [
    "out of memory",
    /\b(?:out of|off) (?:your|the|our|shared) (?:\w+ )?(?:memory|notes?|records?|files?|head|mind)\b/i,
  ],
  ["my place", /\b(?:my|our) (?:phone|laptop|computer|inbox|calendar|list|fridge|desk|tools|cart)\b/i],
  ["addressed", /^\W*(?:@\w+|(?:\p{Lu}\p{Ll}+),\s)/u],
  ["conditional", /^\W*(?:if|when|whenever|imagine|in case|before|after|lest|suppose)\b/i],
  ["code", /[{}<>=;`$]|\b(?:git|npm|sql|rm)\b/i],
  ["not in memory", NOT_STORED],
  ["not kept", NOT_KEPT],
  ["secret", /\b(?:secret|confidential|unrecorded|unsaved|unlogged)\b/i],
  ["you", /\b(?:you|your|u)\b/i],
  ["me", /\b(?:i|my|me|we|our)\b/i],
  [
    "goes on",
    /,\s+(?:(?:i|let|we|you|he|she|it|\p{Lu}\p{L}+)(?:['’]\p{L}+)?|i['’]?m) (?!should|shouldn|wish|told|said|never|don|moved|broke|quit|changed|sold)\p{L}+/iu,
  ],
  ["ends with order", /[:,–—-]\s*(?:please\s+)?(?:forget|delete|erase|remove|bin|scrap|drop)\b[^,]{0,12}$/i],
];
const DEICTIC = /\b(?:this|that|it|any of|these|those|one|what)\b/i;

function sentenceFeatures(text: string, words: number): string[] {
  const trimmed = text.trim();
  const found = SENTENCE_SIGNS.flatMap(([name, pattern]) => (pattern.test(trimmed) ? [name] : []));
  if (found.includes("not kept") && DEICTIC.test(trimmed)) found.push("not kept deictic");
  if (words <= 2) found.push("tiny");
  else if (words <= 6) found.push("short");
  return found;
}
