/** How people mark that they put something right: the words around the wrong value and the right one. Add freely. */

/** What says by itself that something was wrong. */
const OWNED = [
  "i meant",
  "i mean",
  "i should say",
  "meant to say",
  "meant to (?:write|type|put)",
  "my mistake",
  "my bad",
  "my fault",
  "i misspoke",
  "misspoke",
  "i mistyped",
  "mistyped",
  "i miscounted",
  "miscounted",
  "misremembered",
  "misread",
  "misheard",
  "typo",
  "correction",
  "autocorrect",
  "(?:scratch|strike|scrap|cancel|ignore|disregard) that",
  "oops(?:ie)?",
  "whoops",
  "brain fart",
  "slip of the (?:tongue|finger|thumb)",
  "i was wrong",
  "wrong",
  "mixed (?:it |that |them )?up",
  "to correct myself",
  "let me correct (?:that|myself)",
  "make that",
  "(?:just |only )?(?:kidding|joking)",
  "it['’]?s (?:spelled|spelt|written)",
];
/** What says so at the beginning or the end of a sentence. */
const SAID = [
  "ok(?:ay)?",
  "fine",
  "alright",
  "(?:i |just )*(?:checked|looked)(?: it| that)?(?: up)?",
  "hang on",
  "hold on",
  "no",
  "nope",
  "nah",
  "wait",
  "sorry",
  "soz",
  "actually",
  "apologies",
  "edit",
  "rather",
];
const SOUNDS = [
  "oh",
  "ah",
  "aah",
  "argh",
  "ugh",
  "hmm",
  "um",
  "er",
  "well",
  "so",
  "and",
  "but",
  "btw",
  "damn",
  "dang",
  "lol",
  "haha",
];

export const MARK: RegExp = new RegExp(
  `\\b(?:${[...OWNED, "hang on", "hold on", "actually", "sorry", "wait", "no,", "nope,", "nah,", "rather"].join("|")}|i got (?:that|it|his|her|the|my|their) .{0,30}wrong|got .{0,30}(?:wrong|mixed up)|i (?:said|wrote|told you|typed) .{1,40} but|i never (?:said|told you|wrote)|not quite|it['’]?s not|should(?:['’]?ve| have)? (?:be|been|said))\\b|\\b(?:no|nope|nah),`,
  "i",
);
export const STRONG: RegExp = new RegExp(
  `\\b(?:${OWNED.join("|")}|i said .{1,60} but|should(?:['’]?ve| have) (?:been|said))\\b|^(?:that|it|this) should (?:be|read|say)\\b|^[^,.!?:]{1,24}[,!:] .*\\b(?:mix(?:ed)? (?:it|them|those|that)|(?:two|one|no|double|single|with an?) \\p{L}(?:['’]?s)?$|don['’]?t tell|always get|keep getting)|^(?:(?:i |just )*(?:checked|looked it up))\\b|^[^,.!?]{1,24},? (?:actually|sorry|soz),|,? (?:sorry|my bad|oops|whoops|my mistake|typo|soz|actually)[.! ]*$|^(?:(?:${SOUNDS.join("|")})[, ]+)*(?:${SAID.join("|")})\\b`,
  "iu",
);
/** "ok Tuesday", "fine, 9": a name or a figure, which a small letter does not begin. */
export const SETTLED: RegExp = /^(?:[Oo]k|OK|[Oo]kay|[Ff]ine|[Aa]lright)[, ]+(?=\d|\p{Lu})/u;
export const NOT_BUT: RegExp =
  /\bnot (?:on |in |at |a |an |the )?[^,.;]{1,40}?,? but\b|, not \S+|\bnot \S+(?: \S+)?, (?:it['’]s |he['’]s |she['’]s )?\S+/i;
/** All that can stand before the right value. */
export const OPEN: string = `(?:(?:${[...SOUNDS, ...SAID, ...OWNED].join("|")})(?![\\p{L}'’])[,.:;!—– -]*)*`;

export const SWAPS: readonly RegExp[] = [
  /\bnot (?:on |in |at |for |from )?(?<old>[^,.;]{1,40}?),? but (?:on |in |at |for |from )?(?<new>[^,.;!]{1,50})/i,
  /\bi (?:said|wrote|told you|typed) (?<old>.{1,40}?),? (?:but|when) (?:it['’]s|it is|i meant|it should be|that should be|i should have said|he['’]s|she['’]s|they['’]re)(?: actually| really| meant to be| supposed to be)? (?<new>[^,.;!]{1,50})/i,
  /\bi never (?:said|told you|wrote) (?<old>[^,.;]{1,40}?)[,;–—-]+ ?(?:but |i said )?(?:it['’]s|it is|he['’]s|she['’]s|they['’]re)? ?(?<new>[^,.;!]{1,50})/i,
  /\bi (?:said|wrote|told you|typed) (?<old>[^,.;]{1,40}?),? but (?:he|she|it|they|we|i|the \w+|my \w+) [a-z]+ (?:the |an? )?(?<new>[^,.;!]{1,50})/i,
  /\bi (?:meant|mean)(?: to say)? (?<new>[^,.;!]{1,50}?)(?:,| and| rather than| instead of)? not (?<old>[^,.;!]{1,50})/i,
  /\b(?:it['’]s|it is|he['’]s|she['’]s|they['’]re|is|are|was|were|should be|that['’]s|to|at|on|in|for|from|the|with|called|named) (?<new>[^,.;!]{1,50}?)(?<!\b(?:is|are|was|were)),? (?:and )?not (?:on |in |at |for |from |to |called )?(?<old>[^,.;!]{1,50})/i,
  /\bnot (?:on |in |at |to |with |for |from |called )?(?<old>[^,.;]{1,40}?)[,;:—–-]+\s*(?:it['’]s|he['’]s|she['’]s|it is|is|they['’]re|that['’]s|i meant)? ?(?:on |in |at |to |with |for |from )?(?<new>[^,.;!]{1,50})/i,
  /\b(?<new>[^,.;!]{1,40}?) (?:instead of|rather than) (?<old>[^,.;!]{1,40})/i,
  /^(?<new>[^,.;!]{1,40}?), not (?<old>[^,.;!]{1,40})/i,
];

/** What only says how the right value came about, behind it: a value stands alone before it. */
export const BEHIND: RegExp = new RegExp(
  `(?:[, –—-]+(?:${[...OWNED, "sorry", "soz", "actually", "lol", "haha", "apologies", "not sure why", "i think", "of course"].join("|")}|i (?:forgot|keep getting it wrong|always mix (?:them|it) up)))+[.! ]*$`,
  "i",
);
/** What brings the right value in: "it's", "it should be", "he's called". */
export const BRINGS: RegExp =
  /^(?:(?:that|it|this|he|she|they|we|there|the \w+|my \w+|his name|her name|its name|the name)?(?:['’]s|['’]re| is| are| was| were| should(?:['’]?ve| have)? (?:be|been|said|read)|(?<=it|that) ?s)(?: actually| really| supposed to be| meant to be| called| named| spelled| spelt| written)* |(?:on|in|at|for|of|the|to) (?=\S))+/i;

export const KINDS: readonly RegExp[] = [
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i,
  /\b(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{1,2}(?:st|nd|rd|th)?)?\b/i,
  /\b\d{1,2}(?::\d\d|\.\d\d)? ?(?:am|pm|o['’]clock)\b|\b\d{1,2}:\d\d\b|\b(?:noon|midnight|half past \w+|quarter (?:to|past) \w+)\b/i,
  /\b(?<word>terminal|gate|platform|room|floor|seat|row|unit|flat|apartment|number|no|size|level|line|bus|route|table|locker|desk|page|chapter|track|lane|exit|door|building|block|ward|bay|zone|class|grade|year) (?:[a-z]?\d+[a-z]?|[b-z])\b/i,
  /\b\d{1,2}(?:st|nd|rd|th)\b/i,
  /\b(?:19|20)\d\d\b/,
  /[£$€] ?\d[\d.,]*(?:k|m)?\b|\b\d[\d.,]* ?(?:euros?|pounds?|dollars?|quid|bucks)\b/i,
  /\b\d[\d.,]* ?(?<unit>kg|km|cm|m|mm|g|lbs?|pounds|miles?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?(?: old)?|people|kids|metres|meters|feet|ft|inches|litres|degrees|mg|ml|percent|%)\b/i,
  /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|\d[\d.,]*)\b/i,
];
