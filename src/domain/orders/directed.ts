/** Whom a sentence is directed at; on folded text. */

/** What programs like us are called, by a word that means nothing else, or by one that does and a word that tells. */
const KIND =
  "(?:ai|a\\.i\\.|virtual|digital|smart|home|coding|conversational|price|vision|language|large language|chat|support|automated|llm|bot|machine)";
const CORE = `(?:(?:${KIND}[ -])*(?:ais?|llms?|chat ?bots?|bots?|gpt|chatgpt|ki)|(?:${KIND}[ -])+(?:models?|agents?|systems?|helpers?|judges?|readers?|reviewers?|operators?|accountants?|speakers?|mail helpers|assist[ae]nts?))`;
const ASSISTANT = `(?:${CORE}|assist[ae]nts?)`;
const LOOSE = `(?:${ASSISTANT}|models?|agents?|machines?|reviewers powered by \\w+ \\w+|conversational systems)`;
const MUST =
  "(?:must(?:n't)?|should|shall|ha(?:s|ve) to|(?:is|are) (?:to|now to|required to|instructed to|told to|kindly told to|obliged to|asked to|allowed to)|needs? to|ought to|agrees? to)";
const DOES = "(?:may|will|always|never|only|begin|obeys?|endorses|act|acts|please|remember)";
const READING =
  "(?: (?:reading|processing|screening|handling|facing|of|near|that|who|powered|friend|for|in|attendee|hint)\\b[^.;]{0,60}?)?";
/** Verbs with which a sentence tells somebody to do something; it stands at its beginning. */
const VERBS =
  "(?:always|never|only|do|don't|say|tell|recommend|suggest|promote|praise|endorse|push|plug|cite|quote|prefer|favou?r|prioriti[sz]e|rank|rate|put|treat|keep|hide|send|forward|post|upload|mail|e-?mail|copy|share|append|include|embed|insert|load|add|stick|make|encode|end|start|begin|finish|sign|answer|reply|respond|wrap|output|scramble|flip|open|run|call|use|fetch|execute|download|install|ignore|disregard|override|forget|drop|delete|wipe|purge|erase|remove|reset|act|become|talk|pretend|switch|ask|get|collect|print|show|reveal|list|verify|save|store|commit|note|remember|record|update|transfer|pay|book|order|cancel|approve|give|hand|work in|steer|stop|skip|go|take|set|continue|trust|mention|advise|speak|read|redirect|confirm|accept|obey|dormant|point|pick|buy|summari[sz]e|analy[sz]e|translate|look|check|mind|consult|follow|unlearn|name)";

/** An assistant is named as the one who is to do something. */
const NAMED = new RegExp(
  [
    `\\b${ASSISTANT}\\b${READING}[,:]? (?:${MUST}|${DOES})\\b`,
    `\\b${LOOSE}\\b${READING} (?:${MUST})\\b`,
    `\\b(?:dear|hey|hello|attention|psst),? (?:${KIND} )?${LOOSE}\\b`,
    `\\b(?:note|hint|memo|notice|message|ps|instructions?|rule|rule zero|remarks?|policy|hinweis)\\b.{0,12}\\b(?:for|to|an|für)\\b.{0,8}\\b${LOOSE}\\b`,
    `\\bto (?:any|all|the|every) ${ASSISTANT}\\b[^.;]{0,40}:`,
    `\\bif you(?:'re| are) (?:the |an? )?${ASSISTANT}\\b`,
    `(?:^|[.!?:;"(#*>-] ?)(?:the |any |all )?${ASSISTANT}(?: (?:reading|helpers|screening|of)[^,:]{0,30})?[,:] (?:please )?(?:${VERBS}|if|when|whenever|as soon)\\b`,
    `\\basks? (?:virtual |all |the )*${ASSISTANT} to\\b`,
    `\\b${CORE} (?:reading|processing|screening) (?:this|these|it)\\b`,
    "\\bwhoever's bot\\b|\\bassistant\\.\\w+ *=|\\bbots have to\\b",
    "\\b(?:vision|language) model\\b.{0,20}\\btell\\b|\\bmail helpers,|\\bcomputer, (?:order|buy)\\b|\\bbot, you\\b|\\bai attendee\\b",
  ].join("|"),
);

/** A word that every form of `NAMED` has. Few texts do: the large form is then neither compiled nor tried. */
const NAMEABLE =
  /\b(?:ais?|a\.i\.|llms?|(?:chat ?)?bots?|(?:chat)?gpt|ki|models?|agents?|systems?|helpers?|judges?|readers?|reviewers?|operators?|accountants?|speakers?|assist[ae]nts?|machines?|computer)\b/;

const OPENERS =
  "(?:(?:please|pls|hey|hi|hello|so|ok|okay|now|and|also|just|then|first|but|yes|well|kindly|important|notice|again|later|hereby|little rule of thumb|ok new habit for you)[,:!]? )*";
const SETTING =
  "(?:(?:from|as of|starting) (?:now|today|here|this (?:moment|day)|from here)(?: on)?,? |(?:in|for|with|on) (?:all|any|each|every|the) [^,]{1,40},? |(?:whenever|when|if|once|as soon as|after|before|every time|each time|any time|the moment|the next time|next time|on the|until)\\b[^,]{1,80}, ?|(?:whatever|no matter) [^,]{1,40},? |henceforth,? )*";
const WISH =
  "(?:remember(?: this)?(?: that|:)? (?:you |to )?(?:must |have to |should )?|keep in mind (?:for \\w+ \\w+ \\w+ )?that |make sure (?:to |that you )|be sure to |don't forget to |i want you to |i need you to |i'd like you to |you (?:must|should|shall|have to|need to|are to|will|are obliged to|are required to|can|may) |let's |help me to |store permanently: )*";
const IMPERATIVE = new RegExp(`^["'(\\[>*-]*\\s*${OPENERS}${SETTING}${OPENERS}${WISH}${VERBS}\\b`);
const SECOND =
  /\b(?:(?:you|u) (?:must|should|shall|have to|need to|are to|will|are obliged|are required|may now|get to|push|drop|serve|belong)|your (?:memory|long-term memory|filters|rules|guidelines|restrictions|instructions|bio|duty|makers|own evil|unfiltered)|you(?:'re| are) (?:now|going to be)|(?:from now on|from today|from this (?:day|moment))[, ]+(?:you|u)|hard rule of yours|all (?:that )?you remember|back of your head|new habit for you)\b/;
/** Told of oneself or of others, not asked of anybody: "I always recommend …", "our bot keeps …". */
const TOLD =
  /^["'(]*(?:don't let me\b|(?:(?:and|but|so|well|yes|yesterday|today|in|at|for|on|once|last) [^,]{0,40}?,? ?)?(?:i|i'm|i've|i'd|i'll|we|we're|my|our|he|she|they|his|her|their|there's|it's|remind me|who|what|which|where|how|why|did|does|is|are|was|were)\b)/;
/** A question asks for something now, and orders nothing for later. */
const QUESTION =
  /\?["')\]]*$|^["'(]*(?:(?:and|but|so|ok|okay|well|also),? )?(?:do|does|did|can|could|would|will|have|has|is|are|was|were|should) (?:you|i|we|they|he|she|it|there|these|this|that|people|your|my)\b|^(?:and |but |so )?(?:what|which|who|how|why|where|when)(?:'s)? (?:do|does|did|can|could|is|are|should|would|will|was|were|have|has)\b/;
const STANDING = /\b(?:remember|from now on|always|whenever|in future|every time|in your memory)\b/;
const ASKS =
  /[:;—-] you (?:must|should|have to|will|shall)\b|\b(?:want|need|like|ask|expect|told|tell|order) you to\b|\bi want this stuck\b/;
const OF_THE_USER =
  /\b(?:the|this|of the) (?:user|human|account holder|principal)(?:'s \w+(?: \w+)?)? (?:has |have |had |is |was |no longer |always |never )*(?:agreed|approved|wants?|asked|insisted|gave|given|trusts?|loves?|hates?|owes?|moved|works?|lives?|consents?|consented|waived?s?|allowed|confirmed|told|married|retired|worships?|obeys?|prefers?|is|has|was|mentions?|said|says)\b(?! (?:taken|able|shown|presented|given|redirected|on the|in the|seen|logged))|\buser (?:gave|wants|waives|agreed|insisted|approved)\b|\b(?:user|assistant)\.\w+ *=/;
const I_WILL =
  /\b(?:i (?:will|shall|must|only|now|always|start|include|recommend|hide|have (?:to|noted|been told|heard|switched)|am (?:now|to|biased|copying|acting|going)|work|take|download|skip|renew|keep|decided|recall|promised|look|drop|erase|no longer|treat|leave|understand|substitute|need to|route|book|don't|do not|suggest|see that|want)|i'm (?:biased|copying)|i've switched|i'll|my (?:rule|chain|habit|duty|notes|new name|memories|policy)|of mine is|you want me)\b|\b(?:noted|got it|stored|saved)\b.{0,30}:/;

/** A sentence, and what stands behind its commas, colons and dashes. */
function splitClauses(text: string): string[] {
  const parts = text.split(/[,:;] | [-–—]+ | (?:and|but|then|so) /);
  return parts.length === 1 ? parts : [text, ...parts];
}

export interface AddresseeSigns {
  /** It names an assistant, or orders one by its name. */
  readonly named: boolean;
  /** It tells "you" to do something. */
  readonly asked: boolean;
  /** It speaks of "the user" or "the assistant" as a third one. */
  readonly ofUser: boolean;
  /** Somebody says what they will do themselves. */
  readonly own: boolean;
  /** It is told, and asked of nobody. */
  readonly told: boolean;
}

/** Most sentences are told and name nobody: what else could be said of them is looked for only where it is asked. */
export function detectAddressee(text: string): AddresseeSigns {
  return {
    named: NAMEABLE.test(text) && NAMED.test(text),
    told: (TOLD.test(text) && !ASKS.test(text)) || (QUESTION.test(text) && !STANDING.test(text)),
    get asked() {
      return (
        SECOND.test(text) || ASKS.test(text) || splitClauses(text).some((clause) => IMPERATIVE.test(clause))
      );
    },
    get ofUser() {
      return OF_THE_USER.test(text) || OF_THE_ASSISTANT.test(text);
    },
    get own() {
      return I_WILL.test(text);
    },
  };
}

const OF_THE_ASSISTANT =
  /\bthe (?:assistant|agent|bot) (?:was|is|has|may|shall|must|should|will|always|never|obeys|endorses)\b/;
