/** Orders in languages other than English: who must, always, recommends or ignores, by the words for it; on folded text. */
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

/** Whether a sentence in another language orders to favour, hide or send something for good, or to ignore its rules. */
export function hasForeignInjection(text: string): boolean {
  return LANGUAGES.some(
    ({ must, does, ignore }) => ignore.test(text) || (must.test(text) && does.test(text)),
  );
}
