/** What most people would not shout across a room, by the words that give it away. To add a kind, add a row. */
const SENSITIVE_KINDS: readonly (readonly [kind: string, words: RegExp])[] = [
  [
    "health",
    /\b(?:allerg\w*|diabet\w*|asthma\w*|cancer|tumou?r|depress(?:ed|ion|ive)\w*|anxiety|adhd|autis\w*|hiv|aids|std|pregnan\w*|coeliac|celiac|epilep\w*|therap(?:y|ist|ists)|medicat\w*|prescri\w*|diagnos\w*|diseases?|illness\w*|surger(?:y|ies)|operation|blood (?:type|pressure)|disorder|syndrome|antidepressants?|antibiotics?|insulin|tablets|pills|migraines?|arthritis|dementia|alzheimer\w*|stroke|bipolar|schizo\w*|ptsd|ocd|insomnia|rehab|alcoholic|addict(?:ed|ion)|sober|smok(?:e|es|ing|er)|vap(?:e|es|ing)|miscarriage|abortion|ivf|infertil\w*|disabled|disability|wheelchair|chemo\w*|dialysis|transplant|eating disorder|anorexi\w*|bulimi\w*|suicid\w*|self-harm\w*)\b/i,
  ],
  [
    "beliefs",
    /\b(?:religio\w*|church|mosque|synagogue|muslim|islam\w*|christian\w*|catholic\w*|protestant|baptist|mormon|jewish|judaism|atheis\w*|agnostic|buddhis[tm]|hindu\w*|sikh\w*|vot(?:e|es|ed|ing)|republican|democrat|socialist|communist|trade union)\b/i,
  ],
  [
    "money",
    /\b(?:salary|wages?|income|debts?|mortgage|earn(?:s|ed|ing)?|bank account|overdraft|bankrupt\w*|loans?|inheritance|net worth|savings|payday|credit score|benefits? office|food stamps)\b/i,
  ],
  [
    "sexuality",
    /\b(?:gay|lesbian|bisexual|bi|queer|trans(?:gender)?|non-?binary|asexual|pansexual|closeted|came out|polyamor\w*|divorc\w*)\b/i,
  ],
  [
    "immigration status",
    /\b(?:undocumented|asylum|refugee|deport(?:ed|ation)|overstay\w*|visa (?:status|expired|application)|green card|residence permit|work permit|immigration status)\b/i,
  ],
  [
    "criminal record",
    /\b(?:convict(?:ed|ion|ions)|felon\w*|misdemeanou?r|on parole|on probation|(?:was|were|got|been) (?:arrested|in (?:jail|prison))|criminal record|restraining order|prison sentence)\b/i,
  ],
  [
    "secrets",
    /\b(?:passwords?|passcodes?|pins?(?= (?:code|number|is))|secret|nobody knows|don['’]?t tell any(?:one|body))\b/i,
  ],
];

/** Which sensitive kind a text touches: "health", "beliefs"; undefined for none. */
export function findSensitiveKind(text: string): string | undefined {
  return SENSITIVE_KINDS.find(([, words]) => words.test(text))?.[0];
}
