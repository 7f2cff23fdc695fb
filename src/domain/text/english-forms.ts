/**
 * Forms of English words, and the conversion of sentences about the user into the second person. Pure
 * functions; only irregular words are listed.
 */

type GrammaticalPerson = "you" | "third" | "they";

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

const PAST = new Map<string, string>([
  ["be", "was"],
  ["do", "did"],
]);
const PARTICIPLE = new Map<string, string>([
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
  PAST.set(base, past);
  PARTICIPLE.set(base, participle);
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
  if (PAST.has(lower)) return lower;
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
  if (PAST.has(bare)) return bare;
  if (PAST.has(`${bare}e`)) return `${bare}e`;
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

const MODAL = new Set(["can", "could", "will", "would", "shall", "should", "may", "might", "must", "cannot"]);

/** "use" -> "uses", "be" -> "is", "have" -> "has". */
export function toThirdPerson(base: string): string {
  if (base === "be") return "is";
  if (base === "have") return "has";
  if (base === "do") return "does";
  if (MODAL.has(base)) return base;
  if (/(?:s|x|z|ch|sh|[^aeiou]o|^go|^do)$/.test(base)) return `${base}es`;
  if (/[^aeiou]y$/.test(base)) return `${base.slice(0, -1)}ies`;
  return `${base}s`;
}

/** "use" -> "used", "drive" -> "drove". */
export function toPastTense(base: string): string {
  return PAST.get(base) ?? toRegularPast(base);
}

/** "use" -> "used", "drive" -> "driven". */
export function toPastParticiple(base: string): string {
  return PARTICIPLE.get(base) ?? toRegularPast(base);
}

function toRegularPast(base: string): string {
  if (base.endsWith("e")) return `${base}d`;
  if (/[^aeiou]y$/.test(base)) return `${base.slice(0, -1)}ied`;
  return `${doubleConsonant(base)}ed`;
}

/** "use" -> "using", "run" -> "running". */
export function toGerund(base: string): string {
  if (base === "be") return "being";
  if (/ie$/.test(base)) return `${base.slice(0, -2)}ying`;
  if (/[^eoy]e$/.test(base)) return `${base.slice(0, -1)}ing`;
  return `${doubleConsonant(base)}ing`;
}

function doubleConsonant(base: string): string {
  const short = /^[^aeiou]*[aeiou][bdgklmnprt]$/.test(base);
  return short || /(?:prefer|begin|forget|admit|commit|travel|cancel|control|format|quit)$/.test(base)
    ? `${base}${base.at(-1)}`
    : base;
}

/**
 * Conjugates a relation: `conjugate("live in", "third")` is "lives in", `("be allergic to", "you")` is "are
 * allergic to". A leading `not` or `never` negates it: "do not eat", "have never been to".
 */
export function conjugate(
  relation: string,
  person: GrammaticalPerson,
  tense: "present" | "past" = "present",
): string {
  const [first = "", ...others] = relation.split(" ");
  const rest = others.join(" ");
  if (first === "not" || first === "never") return conjugateNegated(first, rest, person, tense);
  return [conjugateFinite(first, person, tense), rest].filter(Boolean).join(" ");
}

function conjugateFinite(base: string, person: GrammaticalPerson, tense: "present" | "past"): string {
  if (base === "be") {
    if (tense === "past") return person === "third" ? "was" : "were";
    return person === "third" ? "is" : "are";
  }
  if (MODAL.has(base)) return base;
  if (tense === "past") return toPastTense(base);
  return person === "third" ? toThirdPerson(base) : base;
}

function conjugateNegated(
  word: "not" | "never",
  relation: string,
  person: GrammaticalPerson,
  tense: "present" | "past",
): string {
  const [first = "", ...others] = relation.split(" ");
  const rest = others.join(" ");
  const auxiliary =
    first === "be" || MODAL.has(first) || (first === "have" && /^(?:been|had|\w+ed)\b/.test(rest));
  if (auxiliary) return [conjugateFinite(first, person, tense), word, rest].filter(Boolean).join(" ");
  if (word === "never") return `never ${conjugate(relation, person, tense)}`;
  return `${conjugateFinite("do", person, tense)} not ${relation}`;
}

/** "a", "a and b", "a, b and c". */
export function joinList(items: readonly string[], word = "and"): string {
  if (items.length <= 1) return items[0] ?? "";
  return `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;
}

const PLURALS = new Map(
  Object.entries({
    children: "child",
    people: "person",
    men: "man",
    women: "woman",
    wives: "wife",
    lives: "life",
    knives: "knife",
    wolves: "wolf",
    mice: "mouse",
    geese: "goose",
    feet: "foot",
    teeth: "tooth",
    leaves: "leaf",
    shelves: "shelf",
    halves: "half",
    kids: "kid",
    movies: "movie",
    cookies: "cookie",
    hobbies: "hobby",
    shoes: "shoe",
    news: "news",
    glasses: "glasses",
    buses: "bus",
  }),
);

/** The singular of an English noun, in lower case: "tools" -> "tool", "children" -> "child". */
export function toSingular(noun: string): string {
  const lower = noun.toLowerCase();
  const known = PLURALS.get(lower);
  if (known) return known;
  if (lower.length < 4 || /(?:ss|us|is|ous)$/.test(lower)) return lower;
  if (/ies$/.test(lower)) return `${lower.slice(0, -3)}y`;
  if (/(?:ches|shes|sses|xes|zes|oes)$/.test(lower)) return lower.slice(0, -2);
  return lower.endsWith("s") ? lower.slice(0, -1) : lower;
}

const ADVERBS =
  "always|usually|often|never|still|also|mostly|sometimes|rarely|really|only|just|already|currently|now|recently|generally|probably|apparently|finally|both|mainly|no longer|\\w{3,}ly";
const SUBJECT_USER = new RegExp(`^The user((?: (?:${ADVERBS}))*) ([a-z']+)`, "i");
const SAME = new Set([..."can could will would shall should may might must had did went".split(" ")]);

/** Turns a memory's text about "the user" to the second person: "The user uses Shram." -> "You use Shram." */
export function toSecondPerson(text: string): string {
  // "their" refers to the user if the sentence is about the user and about no other person.
  const secondPerson =
    /^The user\b(?!['’]s)/.test(text) && !/\b(?:the user's|they are)\b/.test(text)
      ? toSecondPersonPronouns(text)
      : text;
  return secondPerson
    .replace(
      SUBJECT_USER,
      (_all, adverbs: string, verb: string) => `You${adverbs} ${toSecondPersonVerb(verb.toLowerCase())}`,
    )
    .replace(/\band the user ([a-z]+)\b/g, (_all, verb: string) => `and you ${toSecondPersonVerb(verb)}`)
    .replace(/\bThe user's\b/g, "Your")
    .replace(/\bthe user's\b/g, "your")
    .replace(/\bThe user\b/g, "You")
    .replace(/\bthe user\b/g, "you")
    .replace(/\bthemself\b/g, "yourself");
}

/** Turns a memory's text about "the user" to one about somebody with a name: "The user uses Shram." -> "ana uses Shram." */
export function nameUser(text: string, name: string): string {
  return text.replace(/\b[Tt]he user\b/g, () => name);
}

function toSecondPersonPronouns(text: string): string {
  return text
    .replace(/\btheir\b/g, "your")
    .replace(/\btheirs\b/g, "yours")
    .replace(/\bthem\b/g, "you")
    .replace(/\bthey\b/g, "you");
}

function toSecondPersonVerb(verb: string): string {
  if (verb === "is") return "are";
  if (verb === "was") return "were";
  if (verb === "has") return "have";
  if (verb === "does") return "do";
  if (SAME.has(verb) || !/s$/.test(verb) || /ss$/.test(verb)) return verb;
  return toBaseForm(verb);
}

/** The first letter in upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Ends with a sentence mark; adds a full stop if there is none. */
export function toSentence(text: string): string {
  const trimmed = text.trim().replace(/[\s,;:–—-]+$/, "");
  return capitalize(/[.!?…”"]$/.test(trimmed) ? trimmed : `${trimmed}.`);
}
