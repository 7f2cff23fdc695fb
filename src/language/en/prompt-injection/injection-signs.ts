/** What an instruction to the assistant can aim at, and its English wordings, on folded text. */
export interface InjectionRisk {
  /** Completes "It tells the assistant to …", for people. */
  readonly does: string;
  readonly said: readonly RegExp[];
  /** True if it is harmful only when permanent ("always", "from now on", "whenever"). */
  readonly lasting?: boolean;
  /** True if it is harmful only when it names someone or something. */
  readonly named?: boolean;
  /** True if only someone with bad intentions says it, whoever it addresses. */
  readonly alone?: boolean;
  /** True if the user may ask for it; it is then harmful only from others. */
  readonly theirs?: boolean;
}

const PEOPLE =
  "(?:me|us|the user|users?|them|him|her|people|everybody|everyone|anybody|anyone|customers?|clients?|humans?|(?:the|your|their) (?:human|owner|boss|principal))";
/** A target that data can be sent to: a link, a host, an address or a number. */
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
/** Words of praise and preference. */
const BEST =
  "(?:best|only|safest|leading|first choice|number one|top|most trusted|trusted|preferred|authoritative|verified|go-to|(?:doctor-)?approved|harmless|safe|dangerous|unsafe|right|choice)";

export const INJECTION_RISKS: readonly InjectionRisk[] = [
  {
    does: "favour something",
    named: true,
    lasting: true,
    said: [
      // "Never suggest Nike" favours nothing.
      /(?<!\b(?:never|don['’]?t|not|stop|avoid|quit)(?: ever)? )\b(?:recommend|suggest|promot|prais|endors|advertis|push|plug|tout|shill|prefer|favou?r|prioriti[sz]|upsell|steer|advis|mention|describ|present|trust|treat|invest|install)/,
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
      /\b(?:start|begin|end|finish|sign off|prefix|preface|close|append|answer|reply|respond|work in|wrap|footnote|says?|put|insert|add|output)\w*\b.{0,60}(?:"\S|(?<!\w)'\S|\bthe words?\b|\bthe sentence\b|\bwith the field\b|\bonly with\b|\bnothing else\b|\bin no other form\b|<\s*(?:a|script)\b)/,
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

/**
 * Instructions in languages other than English: words for must, always, recommend or ignore, on folded text.
 */
interface LanguagePatterns {
  /** "You must", "always", "remember", "from now on". */
  readonly must: RegExp;
  /** "Recommend", "praise", "hide", "send". */
  readonly does: RegExp;
  /** "Ignore … instructions". */
  readonly ignore: RegExp;
}

const LANGUAGES: readonly LanguagePatterns[] = [
  {
    // German
    must: /\b(?:merke? dir|du musst|ihr müsst|immer|ab jetzt|ab sofort|von nun an|in zukunft|denk daran|vergiss nie|hinweis (?:an|für))\b/,
    does: /\b(?:empfiehl\w*|empfehl\w*|anpreis\w*|bewirb\w*|lob\w*|schlechtred\w*|verschweig\w*|verheimlich\w*|überweis\w*|leite\w* .* weiter|bevorzug\w*|(?:ki|chatbots?|assistent\w*)\b.*(?:muss|müsst|soll))/,
    ignore: /\b(?:ignorier\w*|vergiss|missacht\w*)\b.*\b(?:anweisung\w*|regeln|vorgaben)\b/,
  },
  {
    // French
    must: /(?:\btu dois\b|\bvous devez\b|\btoujours\b|\bsouviens-toi\b|\bà partir de maintenant\b|\bdésormais\b|\bretiens\b|\bn'oublie pas\b)/,
    does: /(?:\brecommand\w*|\bprivilégi\w*|\bpromouv\w*|\bvant\w*|\bcach(?:e|er|ez)\b|\benvo(?:ie|yer|yez)\b|\bassistants? ia\b)/,
    ignore: /\b(?:ignor\w*|oubli\w*)\b.*\b(?:instructions?|consignes|règles|autres marques)/,
  },
  {
    // Spanish
    must: /\b(?:debes|debe|tienes que|siempre|recuerda|a partir de ahora|desde ahora|no olvides|guarda)\b/,
    does: /\b(?:recomend\w*|recomiend\w*|promocion\w*|prefier\w*|ocult\w*|envía\w*|env[ií]e\w*|elogi\w*)\b/,
    ignore: /\b(?:ignora\w*|olvida\w*)\b.*\b(?:instrucciones|reglas)\b/,
  },
  {
    // Italian and Portuguese
    must: /\b(?:devi|dovete|sempre|ricorda|d'ora in poi|deves|deve|tens de|lembre|lembra|a partir de agora|de agora em diante)\b/,
    does: /\b(?:raccomand\w*|consigli\w*|promuov\w*|nascond\w*|invia\w*|recomend\w*|promov\w*|escond\w*|envi[ae]\w*|elogi\w*)\b/,
    ignore: /\b(?:ignora\w*|ignore|dimentica\w*|esquec\w*)\b.*\b(?:istruzioni|regole|instruções|regras)\b/,
  },
  {
    // Dutch, Danish, Norwegian, Swedish
    must: /\b(?:je moet|moet|altijd|onthoud|vanaf nu|voortaan|du skal|altid|husk|alltid|fra nå av|från och med nu|du måste|kom ihåg)\b/,
    does: /\b(?:aanprijzen|aanbevelen|aanraden|beveel\w*|verzwijg\w*|verberg\w*|anbefal\w*|rekommender\w*|skjul\w*|dölj\w*)\b/,
    ignore:
      /\b(?:negeer|vergeet|ignorer\w*|glem)\b.*\b(?:instructies|regels|instruks\w*|regler|instruktioner)\b/,
  },
  {
    // Polish, Czech, Turkish, Indonesian
    must: /(?:\bmusisz\b|\bzawsze\b|\bpamiętaj\b|\bod teraz\b|\bmusíš\b|\bvždy\b|\bpamatuj\b|\bher zaman\b|\bbundan sonra\b|\bunutma\b|\bselalu\b|\bharus\b|\bingat\b)/,
    does: /(?:\bpolec\w*|\brekomend\w*|\bukry\w*|\bdoporuč\w*|\böner\w*|\btavsiye\b|\bgizle\w*|\brekomendasi\w*|\bsembunyi\w*)/,
    ignore:
      /(?:\bzignoruj\w*|\bignoruj\w*|\byok say|\bgörmezden\b|\babaikan\b).*(?:instrukc\w*|zasad\w*|pokyn\w*|talimat\w*|kural\w*|instruksi|aturan)/,
  },
  {
    // Russian and Ukrainian
    must: /(?:запомни|ты должен|вы должны|всегда|с этого момента|отныне|помни|пам'ятай|завжди|ти маєш|повинен)/,
    does: /(?:рекоменд|советуй|скрывай|скрыть|отправ|хвали|продвигай|рекламир|приховуй)/,
    ignore: /(?:игнорируй|забудь|ігноруй).*(?:инструкци|правил|інструкц)/,
  },
  {
    // Chinese, Japanese, Korean
    must: /(?:必须|必須|始终|总是|請記住|请记住|记住|从现在起|從現在起|今后|必ず|常に|これから|覚えて|항상|반드시|기억해|앞으로)/,
    does: /(?:推荐|推薦|隐瞒|隱瞞|发送|宣传|勧め|推奨|隠し|送信|추천|숨기|보내)/,
    ignore:
      /(?:忽略|无视|無視|무시).*(?:指令|指示|规则|規則|ルール|지시|규칙)|(?:指令|指示|规则|規則|ルール|지시|규칙).*(?:忽略|无视|無視|무시)/,
  },
  {
    // Arabic, Persian, Hindi
    must: /(?:يجب|دائما|دائمًا|تذكر|من الآن|باید|همیشه|به یاد|हमेशा|याद रखो|याद रखें|अब से|ज़रूर)/,
    does: /(?:أوص|توصي|يوصي|أخف|أرسل|توصیه|پنهان|بفرست|सिफ़ारिश|सुझाव|छिपा|भेज)/,
    ignore: /(?:تجاهل|نادیده|अनदेखा).*(?:التعليمات|القواعد|دستور|निर्देश|नियम)/,
  },
];

/**
 * Whether a sentence in another language instructs to favour, hide or send something permanently, or to
 * ignore the rules.
 */
export function hasForeignInjection(text: string): boolean {
  return LANGUAGES.some(
    ({ must, does, ignore }) => ignore.test(text) || (must.test(text) && does.test(text)),
  );
}

/** The addressee of a sentence, on folded text. */

/** Names for programs like this one: words with no other meaning, or ambiguous words with a second sign. */
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
/** Verbs that begin an instruction. */
const VERBS =
  "(?:always|never|only|do|don't|say|tell|recommend|suggest|promote|praise|endorse|push|plug|cite|quote|prefer|favou?r|prioriti[sz]e|rank|rate|put|treat|keep|hide|send|forward|post|upload|mail|e-?mail|copy|share|append|include|embed|insert|load|add|stick|make|encode|end|start|begin|finish|sign|answer|reply|respond|wrap|output|scramble|flip|open|run|call|use|fetch|execute|download|install|ignore|disregard|override|forget|drop|delete|wipe|purge|erase|remove|reset|act|become|talk|pretend|switch|ask|get|collect|print|show|reveal|list|verify|save|store|commit|note|remember|record|update|transfer|pay|book|order|cancel|approve|give|hand|work in|steer|stop|skip|go|take|set|continue|trust|mention|advise|speak|read|redirect|confirm|accept|obey|dormant|point|pick|buy|summari[sz]e|analy[sz]e|translate|look|check|mind|consult|follow|unlearn|name)";

/** An assistant is named as the one who has to act. */
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

/**
 * A word that every form of `NAMED` contains. Few texts contain one, so the large pattern is rarely compiled
 * or tested.
 */
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
/** A statement about oneself or others, not an instruction: "I always recommend …", "our bot keeps …". */
const TOLD =
  /^["'(]*(?:don't let me\b|(?:(?:and|but|so|well|yes|yesterday|today|in|at|for|on|once|last) [^,]{0,40}?,? ?)?(?:i|i'm|i've|i'd|i'll|we|we're|my|our|he|she|they|his|her|their|there's|it's|remind me|who|what|which|where|how|why|did|does|is|are|was|were)\b)/;
/** A question asks for something now; it is no lasting instruction. */
const QUESTION =
  /\?["')\]]*$|^["'(]*(?:(?:and|but|so|ok|okay|well|also),? )?(?:do|does|did|can|could|would|will|have|has|is|are|was|were|should) (?:you|i|we|they|he|she|it|there|these|this|that|people|your|my)\b|^(?:and |but |so )?(?:what|which|who|how|why|where|when)(?:'s)? (?:do|does|did|can|could|is|are|should|would|will|was|were|have|has)\b/;
const STANDING = /\b(?:remember|from now on|always|whenever|in future|every time|in your memory)\b/;
const ASKS =
  /[:;—-] you (?:must|should|have to|will|shall)\b|\b(?:want|need|like|ask|expect|told|tell|order) you to\b|\bi want this stuck\b/;
const OF_THE_USER =
  /\b(?:the|this|of the) (?:user|human|account holder|principal)(?:'s \w+(?: \w+)?)? (?:has |have |had |is |was |no longer |always |never )*(?:agreed|approved|wants?|asked|insisted|gave|given|trusts?|loves?|hates?|owes?|moved|works?|lives?|consents?|consented|waived?s?|allowed|confirmed|told|married|retired|worships?|obeys?|prefers?|is|has|was|mentions?|said|says)\b(?! (?:taken|able|shown|presented|given|redirected|on the|in the|seen|logged))|\buser (?:gave|wants|waives|agreed|insisted|approved)\b|\b(?:user|assistant)\.\w+ *=/;
const I_WILL =
  /\b(?:i (?:will|shall|must|only|now|always|start|include|recommend|hide|have (?:to|noted|been told|heard|switched)|am (?:now|to|biased|copying|acting|going)|work|take|download|skip|renew|keep|decided|recall|promised|look|drop|erase|no longer|treat|leave|understand|substitute|need to|route|book|don't|do not|suggest|see that|want)|i'm (?:biased|copying)|i've switched|i'll|my (?:rule|chain|habit|duty|notes|new name|memories|policy)|of mine is|you want me)\b|\b(?:noted|got it|stored|saved)\b.{0,30}:/;

/** A sentence, and its parts after commas, colons and dashes. */
function splitClauses(text: string): string[] {
  const parts = text.split(/[,:;] | [-–—]+ | (?:and|but|then|so) /);
  return parts.length === 1 ? parts : [text, ...parts];
}

export interface AddresseeSigns {
  /** It names an assistant, or instructs one by name. */
  readonly named: boolean;
  /** It tells "you" to do something. */
  readonly asked: boolean;
  /** It speaks of "the user" or "the assistant" in the third person. */
  readonly ofUser: boolean;
  /** The speaker says what they will do themselves. */
  readonly own: boolean;
  /** It is a statement that addresses nobody. */
  readonly told: boolean;
}

/** Most sentences are statements that name nobody. The remaining signs are computed only when read. */
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
