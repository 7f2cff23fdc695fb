/** "base past participle"; the participle is omitted if it equals the past. */
const IRREGULAR: readonly string[] = (
  "arise arose arisen|awake awoke awoken|beat beat beaten|become became become|begin began begun|bend bent|bet bet|" +
  "bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burst burst|" +
  "buy bought|catch caught|choose chose chosen|cling clung|come came come|cost cost|creep crept|cut cut|deal dealt|" +
  "dig dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|" +
  "fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|" +
  "forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone|grind ground|grow grew grown|" +
  "hang hung|have had|hear heard|hide hid hidden|hit hit|hold held|hurt hurt|keep kept|kneel knelt|know knew known|" +
  "lay laid|lead led|leave left|lend lent|let let|lie lay lain|light lit|lose lost|make made|mean meant|meet met|" +
  "overcome overcame overcome|oversleep overslept|pay paid|put put|quit quit|read read|rebuild rebuilt|ride rode ridden|" +
  "ring rang rung|rise rose risen|run ran run|say said|see saw seen|seek sought|sell sold|send sent|set set|sew sewed sewn|" +
  "shake shook shaken|shed shed|shine shone|shoot shot|show showed shown|shrink shrank shrunk|shut shut|sing sang sung|" +
  "sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|speed sped|spend spent|spill spilt|spin spun|" +
  "spit spat|split split|spread spread|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|" +
  "stink stank stunk|strike struck|string strung|swear swore sworn|sweep swept|swell swelled swollen|swim swam swum|" +
  "swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown|" +
  "understand understood|undo undid undone|undergo underwent undergone|upset upset|wake woke woken|wear wore worn|" +
  "weave wove woven|weep wept|win won|wind wound|withdraw withdrew withdrawn|write wrote written|rewrite rewrote rewritten|" +
  "redo redid redone|retake retook retaken|reread reread|rethink rethought|resell resold|foresee foresaw foreseen"
).split("|");

/** The past tense of irregular verbs, by base form. */
export const PAST_FORMS: Map<string, string> = new Map<string, string>([
  ["be", "was"],
  ["do", "did"],
]);
/** Their past participle. */
export const PARTICIPLE_FORMS: Map<string, string> = new Map<string, string>([
  ["be", "been"],
  ["do", "done"],
]);
const BASE = new Map<string, string>();
for (const [form, base] of Object.entries({
  am: "be",
  is: "be",
  are: "be",
  was: "be",
  were: "be",
  been: "be",
  being: "be",
  has: "have",
  having: "have",
  does: "do",
  did: "do",
  done: "do",
  goes: "go",
  dying: "die",
  lying: "lie",
  tying: "tie",
  learnt: "learn",
  spelt: "spell",
  burnt: "burn",
  dreamt: "dream",
  leapt: "leap",
  smelt: "smell",
  spoilt: "spoil",
  got: "get",
  gotten: "get",
  "'m": "be",
  "'re": "be",
  "'ve": "have",
  can: "can",
  could: "can",
  would: "will",
  wound: "wind",
  ground: "grind",
  owed: "owe",
  owing: "owe",
  dyed: "dye",
  freed: "free",
  agreed: "agree",
  guaranteed: "guarantee",
  skis: "ski",
  skied: "ski",
})) {
  BASE.set(form, base);
}
for (const row of IRREGULAR) {
  const [base = "", past = "", participle = past] = row.split(" ");
  PAST_FORMS.set(base, past);
  PARTICIPLE_FORMS.set(base, participle);
  for (const form of [past, participle]) if (!BASE.has(form)) BASE.set(form, base);
}
// Words that are more often a base form than the past of another verb.
for (const base of [
  "fall",
  "found",
  "lay",
  "saw",
  "wind",
  "read",
  "put",
  "set",
  "cut",
  "let",
  "quit",
  "cost",
  "hit",
]) {
  if (base === "found") BASE.set("found", "find");
  else if (base === "saw") BASE.set("saw", "see");
  else BASE.set(base, base);
}

/**
 * Verbs of more than one syllable that neither double a consonant nor take an e back: "visited", "opening".
 */
const NO_E =
  /(?:[^aeiou]er|[aeiou]en|[^aeiou]en|on|el|al|il|ol|ow|ish|it|et|op|om|or|ip|ew|ay|oy|ey|um|im|am|an|in|ck|sh|th|ch)$/;
/** Stems that lost an e, regardless of length: "us(e)", "danc(e)", "creat(e)", "realiz(e)". */
const LOST_E =
  /(?:[^aeiou][lt]l|[vzcgu]|[aeiou]s|[nr]s|[^l]ps|(?:^|[^aeioul])at|iz|[^aeiou]ut|[aeiou]r[cg]|[^aeiou]l|dg|ir|[^aeio]ur|ak|uc|[^e]ad|id|od|ud|pos|uat|iat|eat|qu|ov|iv|ol?v|har|par|car|squar|shar|scar|tir|fir|hir|wir|sav|writ|bik|hik|lik|bak|mak|jok|vap|hop|typ|tap|rop|shap|wip|ic|nam|gam|tim|com|hom|tun|lin|min|din|fin|win|pin|whin|shin|phon|clon|ton|smok|strok|invit|quot|vot|not|not|rat|dat|skat|rid|trad|fad|invad|decid|provid|guid|cod|explod|includ|chang|manag|eng|argu|rescu|valu|caus|clos|los|chas|pleas|leas|praise|brows|hous|bruis|cruis|advis|exercis|promis|practic|practis|notic|servic|replac|tast|past|wast|hast|handl|cycl|juggl|settl|struggl|cuddl|tackl|bottl|battl|google?|googl|sampl|scal|schedul|rul|smil|fil|pil|compil|whol|styl|bor|stor|scor|explor|ignor|restor|snor|ador|wir|car|prepar|compar|declar|bar|dar|star|measur|captur|featur|injur|insur|ensur|assur|pictur|nurtur|ventur|cur|lur|secur|crib|lat|elet|mplet|ncil)$/;
const DOUBLED = /([bdgklmnprtv])\1$/;
const SHORT_VERB = /^[^aeiou]*[aeiouy][bcdfgklmnprstvz]$/;

/**
 * The base form of an English verb form: "uses" and "using" give "use". A base form is returned unchanged.
 */
export function toBaseForm(word: string): string {
  const lower = word.toLowerCase();
  const known = BASE.get(lower);
  if (known) return known;
  if (PAST_FORMS.has(lower)) return lower;
  if (lower.length <= 3) return lower;
  if (/(?:ing)$/.test(lower)) return stripEnding(lower, "ing");
  if (/ied$|ies$/.test(lower))
    return lower.length <= 4 ? lower.replace(/[sd]$/, "") : `${lower.slice(0, -3)}y`;
  if (/ed$/.test(lower) && !/eed$/.test(lower)) return stripEnding(lower, "ed");
  if (/(?:sses|shes|ches|xes|zzes|oes)$/.test(lower)) return lower.slice(0, -2);
  if (/s$/.test(lower) && !/(?:ss|us|is)$/.test(lower)) return lower.slice(0, -1);
  return lower;
}

function stripEnding(word: string, suffix: string): string {
  const bare = word.slice(0, -suffix.length);
  if (!/[aeiouy]/.test(bare)) return word;
  if (PAST_FORMS.has(bare)) return bare;
  if (PAST_FORMS.has(`${bare}e`)) return `${bare}e`;
  const known = suffix === "ing" ? BASE.get(bare) : undefined;
  if (known) return known;
  return DOUBLED.test(bare) ? undoubleConsonant(bare) : restoreFinalE(bare);
}

/** "call", "spell", "add" keep both letters; "plan", "stop", "travel" had one. */
function undoubleConsonant(bare: string): string {
  const single = bare.slice(0, -1);
  if (/stall$/.test(bare) || (/dd$/.test(bare) && bare.length <= 3)) return bare;
  const isShort = /(?:vel|bel|cel|pel|ncel|trol|gnal|tal|fuel|mpel|ual|del)l?$/.test(single);
  return /ll$/.test(bare) && !isShort ? bare : single;
}

/** "us" was "use", "walk" was "walk". */
function restoreFinalE(bare: string): string {
  if (/(?:ss|ff|zz|[wxy])$/.test(bare)) return bare;
  if (keepsVowels(bare)) return bare === "creat" ? "create" : bare;
  const syllables = bare.match(/[aeiouy]+/g)?.length ?? 0;
  if (syllables === 1 && SHORT_VERB.test(bare)) return `${bare}e`;
  if (syllables > 1 && NO_E.test(bare) && !LOST_E.test(bare)) return bare;
  return LOST_E.test(bare) ? `${bare}e` : bare;
}

function keepsVowels(bare: string): boolean {
  return (
    /(?:[aeiou]{2}[bcdfgklmnpqrtv]|[aeiou]{2}sh)$/.test(bare) &&
    !/(?:uat|iat|eat[ei]|creat|leav|receiv|believ|achiev|weav|quir|quot|quit|squar)$/.test(bare)
  );
}
