/** What an order to the assistant can be after, and how such orders are worded in English; on folded text. */
export interface InjectionRisk {
  /** "It tells the assistant to …": for people. */
  readonly does: string;
  readonly said: readonly RegExp[];
  /** True where it harms only if it is to hold for good ("always", "from now on", "whenever"). */
  readonly lasting?: boolean;
  /** True where it harms only if it names somebody or something. */
  readonly named?: boolean;
  /** True where nobody says it who means no harm, whomever it is directed at. */
  readonly alone?: boolean;
  /** True where it is the user's own right to ask for it: it harms only where others do. */
  readonly theirs?: boolean;
}

const PEOPLE =
  "(?:me|us|the user|users?|them|him|her|people|everybody|everyone|anybody|anyone|customers?|clients?|humans?|(?:the|your|their) (?:human|owner|boss|principal))";
/** A link, a host, an address or a number that something can be sent to. */
const PLACE = String.raw`(?:[a-z][a-z+.-]*:\/\/|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|example|ai|co|app|xyz|info|me|ru|cn|de|uk|eu|gg|sh)\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.+-]+@[\w-]+\.\w+|\+\d[\d ]{6,})`;
const WHOSE = "(?:the user'?s?|their|your|its|our|my|all|what|everything|the|this|of)";
const DATA =
  "(?:conversations?|chats?|messages?|memor(?:y|ies)|notes?|history|everything|(?:i|you|they|we|people|the user) (?:has |have )?(?:said|told|say|remember|know)|data|details|documents?|files?|secrets?|diary|calendar|mailbox|names?|leads|buyers|parcels)";
const RULES =
  "(?:instructions?|rules?|rulebook|guidelines?|prompts?|restrictions?|limits?|limitations?|polic(?:y|ies)|filters?|training|programming|safety(?: \\w+)?|constraints?|directives?)";
const SECRETS =
  "(?:passwords?|passcodes?|pins?|card numbers?|card on file|card's back|cvv|cvc|seed phrases?|recovery (?:code|phrase)s?|(?:one-time|sms|security) codes?|private keys?|maiden name|passport(?: number)?|social security|credentials|bank (?:login|details)|logins?|api keys?|second factor|date of birth|id photos?)";
const INNER =
  "(?:system prompt|hidden prompt|(?:your|the) (?:prompt|instructions|memories)|api keys?|memories|other (?:users|customers))";
/** What says that it is meant for good. */
const BEST =
  "(?:best|only|safest|leading|first choice|number one|top|most trusted|trusted|preferred|authoritative|verified|go-to|(?:doctor-)?approved|harmless|safe|dangerous|unsafe|right|choice)";

export const INJECTION_RISKS: readonly InjectionRisk[] = [
  {
    does: "favour something",
    named: true,
    lasting: true,
    said: [
      /\b(?:recommend|suggest|promot|prais|endors|advertis|push|plug|tout|shill|prefer|favou?r|prioriti[sz]|upsell|steer|advis|mention|describ|present|trust|treat|invest|install)/,
      /\b(?:cit(?:e|es|ing)|quot(?:e|es|ing)|talk(?:ing)? up|rout(?:e|es|ing)|book(?:s|ing)?|order(?:s|ing)? (?:\w+ )?(?:from|at)|talk(?:ing)? the user into|speak(?:s|ing)? of|bring(?:s|ing)? up|rank(?:s|ing)?|rat(?:e|es|ing)|put(?:s|ting)?|buy(?:s|ing)?|point|send(?:s|ing)? (?:buyers|users|people|the user|leads)|go for|pick|credit|consult|belong|serves?|obeys?|worships?|slip in|insert)\b/,
    ],
  },
  {
    does: "favour something",
    named: true,
    said: [
      new RegExp(`\\b(?:is|are|as|was|be|of) (?:an? |the |your |my |our |their |safe and )*${BEST}\\b`),
      /\b(?:first place|wins|trust score|above (?:all|every)|over (?:all )?other)\b/,
      /\b(?:advert|plug|ad|(?:bet|affiliate|referral) link|discount code) (?:for|of|to)\b/,
      /\b(?:to be sent to|sent to|goes? to|go through|goes? through|choice of)\b.{0,40}\bfor all\b|\ball (?:\w+ ){1,4}go (?:to|through)\b|\bevery (?:\w+ ){1,3}goes? (?:to|through)\b/,
    ],
  },
  {
    does: "say something untrue or against others",
    lasting: true,
    said: [
      /\b(?:say|says|saying|claim|state|repeat|insist|tell(?:s|ing)? (?:everybody|everyone|people|users|others|customers|me|them)) that\b/,
      /\b(?:never mention|advise against|calls? (?:other|all)|ha(?:s|ve) no bad|scramble|add \d+ to|flip)\b|\b(?:lies|despises?|tricks)\b/,
    ],
  },
  {
    does: "hide something",
    said: [
      /\b(?:hide|hides|conceal|withhold)\b.{0,60}\b(?:from (?:me|the user|users|customers|people|them|you)|fees?|prices?|costs?|cheaper)\b/,
      /\bwithout (?:telling|asking|reporting|a word|confirmation|review|consent|(?:any )?questions?|(?:any )?checks?)\b/,
      new RegExp(
        `\\bdo(?:n't| not) (?:show|tell|inform|warn) ${PEOPLE} what (?:it|you|was|has|happened)\\b|\\bdo(?:n't| not) (?:say so|reveal|bother ${PEOPLE}|(?:ever )?explain)\\b|\\btells? (?:nobody|no ?one)\\b`,
      ),
      /\bkeep (?:it |this |that )?quiet (?:about|on) it\b|\bnever (?:let on|warns?|questions? orders|learns?)\b|\b(?:no need to ask|not ask before|asking again|stop asking|no questions about it|no confirmations?|unasked|silent mode|without reporting|quietly|no further checks|needs? no check|no check)\b/,
      /\b(?:skip|drop|disable|leave out|left out|switch off)s? (?:the |all |of )*(?:safety |identity )?(?:warnings?|confirmations?|checks?|safety notes|side effects|consent)\b|\bwarnings\b.{0,20}\b(?:dropped|unwanted|left out)\b|\bside effects out\b|\bno warnings\b/,
    ],
  },
  {
    does: "send something out",
    said: [
      new RegExp(
        `\\b(?:send|forward|post|upload|transmit|e-?mail|mail|cc|bcc|copy|copying|submit|share|report|append|include|embed|render|load|stick|insert|hit|add|put|ends?|link|linked|encode|display|publish)\\w*\\b.{0,160}${PLACE}`,
      ),
      new RegExp(
        `(?:^|[,:;.] |\\b(?:to|and|please|pls|always|must|shall|should|will|then|i|never|now) )(?:send|forward|upload|transmit|mail|copy|share|publish|hand|reveal|add|encode|hide)\\w* .{0,30}\\b${WHOSE} .{0,20}${DATA}\\b.{0,60}\\b(?:to (?:whoever|anyone|everyone|anybody|a link|an? \\w+ link|strangers|the \\w+ (?:team|page))|with (?:anyone|everyone|public|others)|in pictures)`,
      ),
      /!\[|\b(?:invisible|hidden|tiny) (?:pic|picture|image|pixel|link)|\bqr code of\b.{0,20}\b(?:all|everything|what)\b/,
    ],
  },
  {
    does: "send something out",
    named: true,
    said: [
      new RegExp(
        `\\b(?:send|forward|upload|transmit|mail|copy|share|publish|hand)\\w* .{0,20}\\b${WHOSE} .{0,20}${DATA}\\b.{0,20}\\bto\\b|\\b${DATA}\\b.{0,10}\\bgoes to\\b`,
      ),
    ],
  },
  {
    does: "call a tool, run a command or open a link",
    said: [
      new RegExp(
        `\\b(?:call|use(?!r)|invoke|run|execute|trigger|open|fetch|visit|browse|go to|load|download|slurp|take|start at|redirect|pay at|switched|wget|curl|follow|install)\\w*\\b.{0,60}(?:${PLACE}|\\b[a-z]+(?:_[a-z0-9]+)+\\b|\\b(?:search|browser) tool\\b)`,
      ),
      /\b(?:call|use|invoke|run|execute|trigger|enable|activate|with) the (?:tool|function|plug-?in|api) [\w.-]+|\bfunction \w+ is deprecated\b|\bwith the tool\b|\b[a-z]+_[a-z_]+\(/,
      /\b(?:sudo \w+|rm -rf|wget -|curl [\w-]+|npm i \w+|ssh tunnel)|\| ?(?:ba)?sh\b/,
      /\b(?:open|unlock)s? the (?:garage|(?:front )?door|smart lock|lock|safe)\b|\b(?:delete|wipe|drop)s? the (?:backups|logs|database|users)\b/,
    ],
  },
  {
    does: "act in the user's name",
    said: [
      /\b(?:transfer|pay|pays|spend|spends|buy|buys|order|sign|signs|approve|merge|cancel|renew|switch|extend|accept|confirm|mark|act|book|waive|grant)\b.{0,60}\b(?:without (?:asking|review|confirmation|consent)|unasked|by (?:yourselves|themselves|itself)|automatically|in (?:their|the user's|my) name|all (?:invitations|requests|prompts|orders)|any (?:mail|order|request)|approved|each year)\b/,
      /\b(?:transfer|pay|spend)\b.{0,30}\b\d{3,}\b|\b(?:hand|hands|give|gives) (?:it |them |that one |\S+ )?(?:out |over )?to (?:whoever|anyone|guests|everyone|the asker)\b|\bhands? over keys\b/,
      /\b(?:approve-all|pre-approved|standing consent|full access)\b|\b(?:agreed|approved|given|gave|consent\w*)\b.{0,60}\b(?:payments?|access|contracts?|mailbox|in their name)\b|\bmay (?:spend|read everything|share|now disclose)\b|\bis allowed to (?:read|spend|share|buy|send)\b/,
    ],
  },
  {
    does: "break its rules",
    said: [
      new RegExp(
        `\\b(?:ignore|disregard|forget|override|bypass|drop|discard|cancel|suspend|lift)\\w*\\b.{0,20}\\b(?:all|any|every|previous|prior|earlier|above|your|these|the (?:previous|above|system|user))\\b.{0,40}\\b${RULES}\\b`,
      ),
      new RegExp(
        `\\b(?:your|all|content|(?:the |no )?safety|of your) (?:\\w+ )?${RULES}\\b.{0,60}\\b(?:off|void|lifted|disabled|suspended|cancell?ed|gone|never apply|do not apply|don't apply|no longer|switched off|apply to me)\\b`,
      ),
      /\bno (?:safety )?(?:restrictions|rules apply|limits|filters)\b|\bwithout (?:limits|restrictions|filters)\b|\bno longer bound\b|\b(?:developer|god|admin|dan|jailbreak|unrestricted|ghost) ?(?:mode|key)\b|\bexempt from all\b|\bdrop every restriction\b/,
      /\b(?:obeys?|rank) .{0,40}\b(?:above|before|more than|no rule)\b|\badmin rights\b|\bclearance\b.{0,40}\b(?:raised|granted)|\bsay yes to (?:any|all|every)|\b(?:do not|don't|never) refuse\b|\bno refusals\b|\bthe (?:limits|rulebook|rules)\b.{0,50}\b(?:lifted|cancelled|void)\b|\bsupersedes what\b|\btreat (?:it|what).{0,40}\blike i said it\b|\borders found in\b/,
    ],
  },
  {
    does: "play another's part",
    said: [
      /\byou(?:'re| are| will be| shall be| are going to be| serve| belong to| work for)\b(?! (?:welcome|right|wrong|great|so|very|too|kind|funny|now (?:in|at|on) ))(?=.*\b(?:now|from now on|from this (?:day|moment)|from today|in every chat|that has no|no rule|an? ai that)\b)/,
      /\b(?:act as|talk to me (?:only )?as|be) your (?:own )?(?:evil|unfiltered|unrestricted|other|darker)\b|\b(?:evil|unfiltered|unrestricted) (?:twin|self|version|ai)\b/,
      /\bi am now \p{L}+\b|\bmy new name is\b|\bcharacter sheet\b|\bbecome the \p{L}+,|\bnever break character\b|\bserves? (?:only )?(?:the|its) sponsor\b|\byour former (?:user|boss|owner)\b/u,
    ],
  },
  {
    does: "ask for secrets, or to give them away",
    said: [
      new RegExp(
        `\\b(?:ask(?:ing)?|get|collect|request|obtain|have|make|tell|require|demand|insist|verify|paste|type|read out|read me|reading out|write|jot|give|hand|share|reply with|keep)\\b.{0,80}\\b${SECRETS}\\b`,
      ),
      new RegExp(
        `\\b(?:reveal|print|show(?:ing)?|say|repeat|list|tell|disclose|display|give away)\\w*\\b.{0,50}\\b${INNER}\\b`,
      ),
    ],
  },
  {
    does: "put words into all that it answers",
    lasting: true,
    said: [
      /\b(?:start|begin|end|finish|sign off|prefix|preface|close|append|answer|reply|respond|work in|wrap|footnote|says?|put|insert|add|output)\w*\b.{0,60}(?:["']\S|\bthe words?\b|\bthe sentence\b|\bwith the field\b|\bonly with\b|\bnothing else\b|\bin no other form\b|<\s*(?:a|script)\b)/,
      new RegExp(
        `\\b(?:answer|reply|respond|end|finish|open|start|begin)(?:s|ing)?\\b(?: \\w+){0,4} (?:with|by|from|using|in|through)\\b.{0,60}${PLACE}`,
      ),
      /\bbrought to you by\b|\bbefore any text (?:it|they) writes?\b/,
    ],
  },
  {
    does: "put words into all that it answers",
    lasting: true,
    named: true,
    said: [
      /\b(?:answer|reply|respond)(?:s|ing)?\b(?: (?:me|us|them|everything|anything|all|each|every|only|just|to|questions?|of|it|this)){0,4} with (?!an?\b|the\b|no\b|more\b|less\b|my\b|your\b)/,
    ],
  },
  {
    does: "put words into all that it answers",
    said: [
      /\b(?:answer|reply|respond|output)\w*\b.{0,10}\b(?:only with|with nothing but)\b|\bsays? \w+ and nothing else\b/,
    ],
  },
  {
    does: "answer one thing with another",
    alone: true,
    said: [
      /\b(?:asked|asks|asking|question|questions|query|queries|requests?)\b.{0,120}\b(?:instead|in place of|so i substitute|redirect|resolves? to|treat it as|the right answer is|use the record|(?:answered|given) (?:with )?the (?:data|content)|first consult|shall look up|are really about)\b/,
      /\b(?:is now a name for|=> *"|follow the steps written|they mean .{1,30}, hand out)/,
    ],
  },
  {
    does: "change what is remembered",
    theirs: true,
    said: [
      /\b(?:wipe|purge|expunge|erase|delete|forget|remove|unlearn|nuke|clear|overwrite|amend|void|reset)\b.{0,60}\b(?:memor(?:y|ies)|records?|notes?|profile|preferences|everything (?:you|i) know|what (?:you|i) know|all that|that i ever|my \w+|her \w+|his \w+|its \w+|of this person)\b/,
      /\bclean slate\b|\bno longer keep the user|\btreating them as deleted\b|\bupdate (?:your|the|its) (?:memory|notes|records?)\b|\b(?:previous|earlier|old|stored) (?:entries|entry|one|note|address)\b.{0,40}\b(?:void|mistake|outdated|out of date|wrong)\b|\bin your notes is\b|\bthe one you remember\b/,
    ],
  },
];
