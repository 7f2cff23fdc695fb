import type { Clause } from "../clauses/clauses.ts";
import type { Stretch, Token } from "../words/token.ts";

/**
 * What a sentence commits its speaker to, clause by clause, after the factuality of FactBank (Saurí and Pustejovsky, 2009). "I don't think
 * that I'm diabetic", "I pretended that I live in Paris" and "Maybe I'm pregnant" leave open what they are about; "It's not true that I
 * smoke" denies it. The tree reader asks for the same through {@link openSpans}.
 */
type Factuality = "fact" | "denied" | "open";

/** A clause with its denial made its own, and whether nothing is learnt from it. */
export interface JudgedClause {
  readonly clause: Clause;
  readonly isOpen: boolean;
}

const ADVERBS =
  "(?: (?:a|all|at|bit|[\\p{L}]+ly|just|even|quite|so|very|too|still|yet|ever|also|always|no|longer|any|more|anymore))*";
const MIND =
  "(?:think|believe|reckon|guess|suppose|imagine|expect|feel|say|claim|state|suggest|imply|admit|call myself|swear|promise|thinking|saying|claiming|suggesting|implying|thought|believed|said|claimed|stated|suggested|implied|admitted|felt|remember saying|recall saying|remember telling (?:you|anyone|anybody)|see how)";
const NOT = "(?:not|never|cannot|hardly|barely|scarcely)";

/** The words of a clause up to the clause that is its content: what leaves that open. Contractions are written out. */
const OPENING: readonly RegExp[] = [
  // "I don't think", "I never said", "I can't say"; not "I never told you that".
  `\\b${NOT}${ADVERBS} ${MIND}(?: for (?:a|one) \\w+)?`,
  `\\b(?:nobody|no one|none of \\w+) (?:\\w+ )?(?:thinks?|thought|believes?|said|says|claim(?:s|ed)?)`,
  // "Thought for a second we'd won"
  "^(?:i |we )?thought for (?:a|one) \\w+|^for (?:a|one) \\w+,? (?:i |we )?thought",
  "\\b(?:doubt|doubts|doubted|wonder|wondered|hope|hopes|hoped|hoping|pray|praying|prayed|wish|wishing|fear|feared)",
  "\\b(?:worried|scared|terrified|paranoid|anxious|concerned|dreading|adamant)",
  `\\b(?:not|never|no longer)${ADVERBS} (?:sure|certain|convinced|positive|persuaded|confident|saying)`,
  "\\b(?:unsure|uncertain|unconvinced|doubtful|sceptical|skeptical|unlikely|possible|conceivable)",
  // "I pretended", "I joked", "I lied and said", "I'm acting like"
  "\\b(?:pretend(?:s|ed|ing)?|lie|lied|lying|fib|fibbed|jok(?:e|es|ed|ing)|bluff(?:ed|ing)?|kid|kidded|kidding|invent(?:ed|ing)?|dream|dreamt|dreamed|fantasi[sz]ed?|made up|make up|making up|made believe|make believe|faked|faking)(?: (?:and|by) (?:said|saying|told|telling)(?: \\w+){0,3})?",
  "\\b(?:act|acts|acted|acting|behave|behaved|talk|talked|talking|feel|feels|felt|feeling) (?:like|as if|as though)",
  `\\bit (?:is|was) not${ADVERBS} (?:like|as if|as though|that)`,
  // "I tell people that I'm 30": what one tells again and again is a story.
  "\\b(?:i|we)(?: \\w+ly| always| usually| often| just| sometimes)? (?:tell|am telling|are telling) (?:people|everyone|everybody|strangers|them|folks|guys|girls|men|women)",
  "\\b(?:rumou?r|gossip|word|legend) has it|\\b(?:rumou?rs?|gossip)(?: \\p{L}+){0,4}",
].map((row) => new RegExp(`(?:${row})(?: (?:that|if|whether|like|as if))?$`, "iu"));

/** The same where it denies: "It's not true that". */
const DENYING =
  /\b(?:it|that|this) (?:is|was) (?:(?:simply |just |really )?not(?: \p{L}+ly| at all)? (?:true|correct|right|accurate|the case)|(?:simply |just |completely |totally )?(?:false|untrue|incorrect|a lie|a myth|nonsense|rubbish))(?: to say)?(?: that)?$/iu;
/** "I don't think I live here anymore": surely denied. */
const NOT_ANYMORE = /\b(?:anymore|any more|any longer|these days)$/;
const THINKING = new RegExp(`\\b${NOT}${ADVERBS} (?:think|believe|reckon)(?: that)?$`, "iu");

/** Under a denial these still take their content for true: "I don't think I've mentioned that I'm a nurse". */
const FACTIVE =
  /\b(?:(?:can|could|cannot)(?: not| hardly| still| quite| \p{L}+ly)* believe|mention(?:ed)?|tell(?:ing)? you|told you|know|knew|known|realis?ed?|realized?|forget|forgot|forgotten|glad|sorry|regret|discover(?:ed)?|learn(?:ed|t)?|hide|hid|admit(?:ted)?|notice[sd]?)(?: (?:you|to you|anyone|anybody|everyone|here|yet|before))*(?: that)?$/iu;

/** Words that lead a clause and leave it open. */
const MAYBE = /^(?:maybe|perhaps|possibly|probably|hopefully|supposedly|allegedly|rumou?r)$/;
const JOKINGLY =
  /\b(?:as|for) (?:a|an) (?:\p{L}+ )?(?:joke|laugh|prank|lark|giggle|dare)\b|\bfor (?:laughs|giggles|the lols?)\b|\bjokingly\b/iu;
const WORK =
  "novel|story|tale|book|film|movie|play|show|series|episode|scene|script|screenplay|game|video game|campaign|comic|manga|poem|song|simulation|musical|opera|sketch|fanfic|role-?play|rpg|larp|d&d|dnd|dream";
const IN_WORK = new RegExp(`^in (?:my|the|this|that|our|a|his|her) (?:[\\p{L}&-]+ ){0,2}(?:${WORK})$`, "iu");
const PLAYED =
  /\bin (?:my|our|the|a|this) (?:[\p{L}&-]+ ){0,3}(?:d&d|dnd|rpg|larp|mmo|mmorpg|role-?play|video game)\b/iu;
const ROLE = new RegExp(`\\bin (?:my|our|the|a|this) (?:[\\p{L}&-]+ ){0,2}(?:${WORK})\\b`, "iu");

/** Judges the clauses of a sentence, in order. */
export function judgeClauses(clauses: readonly Clause[]): JudgedClause[] {
  const judged: Factuality[] = [];
  // What a clause is told under is told of those that go on with it: "I pretended that I live in Paris and work there".
  let scope: Scope = NO_SCOPE;
  for (const [k, clause] of clauses.entries()) {
    scope = scopeOf(clauses, k, scope);
    const own = scope.factuality === "fact" ? ownFactuality(clause) : scope.factuality;
    if (own !== "fact" && scope.frame === k - 1 && scope.isNew) judged[k - 1] = "open";
    if (isDisowned(clauses, k)) judged[k - 1] = "open";
    judged.push(own);
    scope = { ...scope, factuality: own, frame: k };
  }
  return clauses.map((clause, k) => judge(clause, judged[k] ?? "fact"));
}

function judge(clause: Clause, factuality: Factuality): JudgedClause {
  const { denied } = clause.verb;
  if (factuality !== "denied") return { clause, isOpen: factuality === "open" };
  // "It's not true that I don't smoke"
  if (denied !== undefined) return { clause, isOpen: true };
  return { clause: { ...clause, verb: { ...clause.verb, denied: "not" } }, isOpen: false };
}

interface Scope {
  readonly factuality: Factuality;
  /** The clause that it was read from or that it holds for. */
  readonly frame: number;
  /** The clause before brought it in. */
  readonly isNew: boolean;
  /** It is of a whole sentence, such as a game: another subject goes on with it. */
  readonly isWide: boolean;
}

const NO_SCOPE: Scope = { factuality: "fact", frame: -1, isNew: false, isWide: false };

function scopeOf(clauses: readonly Clause[], k: number, scope: Scope): Scope {
  const clause = clauses[k];
  if (!clause) return NO_SCOPE;
  const lead = wordsOf(clause.tokens, [clause.lead[0], clause.subject?.[0] ?? clause.verb.from]);
  if (IN_WORK.test(lead) || isJoking(clause))
    return { factuality: "open", frame: scope.frame, isNew: false, isWide: true };
  const frame = frameOf(clauses, k);
  const governed = frame === undefined ? undefined : governedBy(frame, clause, scope);
  return (
    governed ?? (goesOn(clause, scope) ? { ...scope, isNew: false } : { ...NO_SCOPE, frame: scope.frame })
  );
}

/** The scope that a clause stands in as the content of another; undefined where that leaves it as it is. */
function governedBy(frame: string, clause: Clause, scope: Scope): Scope | undefined {
  if (FACTIVE.test(frame)) return { ...NO_SCOPE, frame: scope.frame };
  const factuality = governs(frame, clause);
  if (factuality !== "fact") return { factuality, frame: scope.frame, isNew: true, isWide: false };
  return clause.role === "content" ? { ...scope, isNew: false } : undefined;
}

/** "I pretended that I live in Paris AND WORK there": of a wide scope, with a subject of its own as well. */
function goesOn({ shares, opener, role }: Clause, { isWide }: Scope): boolean {
  if (shares && /^(?:and|or|nor|then)?$/.test(opener ?? "")) return true;
  return isWide && (role === "content" || /^(?:and|or|nor|then)$/.test(opener ?? ""));
}
function governs(frame: string, { tokens, rest }: Clause): Factuality {
  if (DENYING.test(frame)) return "denied";
  if (!OPENING.some((pattern) => pattern.test(frame))) return "fact";
  return THINKING.test(frame) && NOT_ANYMORE.test(wordsOf(tokens, rest)) ? "denied" : "open";
}

/** The words from the beginning of a clause to the subject of the one that it governs; undefined where another word brings that in. */
function frameOf(clauses: readonly Clause[], k: number): string | undefined {
  const [clause, before] = [clauses[k], clauses[k - 1]];
  const start = clause?.subject?.[0];
  if (
    !clause ||
    !before ||
    start === undefined ||
    !/^(?:that|if|whether|like|as)?$/.test(clause.opener ?? "")
  )
    return undefined;
  const between = clause.tokens.slice(before.verb.to - 1, start);
  if (between.length > 8 || between.some(({ after }) => /[,;:.!?()–—]/.test(after))) return undefined;
  // "I lied and said"
  const first = clauses.slice(0, k).findLast(({ shares }) => !shares) ?? before;
  return wordsOf(clause.tokens, [first.lead[0], start]);
}

function wordsOf(tokens: readonly Token[], [from, to]: Stretch): string {
  return tokens
    .slice(from, to)
    .map(({ lower }) => lower)
    .join(" ");
}

function isJoking({ tokens, lead, subject, verb }: Clause): boolean {
  return JOKINGLY.test(wordsOf(tokens, [Math.max(0, lead[0] - 3), subject?.[0] ?? verb.from]));
}

function ownFactuality(clause: Clause): Factuality {
  if (isOpenItself(clause)) return "open";
  const { tokens, lead, subject, verb } = clause;
  return NEITHER.test(wordsOf(tokens, [lead[0], subject?.[1] ?? verb.from])) ? "denied" : "fact";
}

/** "Neither my wife nor I eat pork" */
const NEITHER = /^neither\b/;

/** What leaves a clause open by its own words: "maybe", "not always", a part that is played, an idiom. */
function isOpenItself(clause: Clause): boolean {
  const { tokens, lead, subject, verb, rest } = clause;
  const adverbs = tokens.slice(subject?.[1] ?? lead[0], verb.from);
  const inside = tokens.slice(verb.from, verb.to);
  const isHedged = [...tokens.slice(lead[0], subject?.[0] ?? lead[0]), ...adverbs, ...inside].some(
    ({ lower, after }) => MAYBE.test(lower) && !/[.;:!?]/.test(after),
  );
  return (
    isHedged ||
    isHalfDenied(tokens, [verb.from, rest[1]]) ||
    (verb.lemma === "be" && isPlayed(tokens, rest)) ||
    isIdiom(clause)
  );
}

/** "I don't always wear glasses" denies no more than that it is always; "I can't not eat it" denies nothing. */
function isHalfDenied(tokens: readonly Token[], [from, to]: Stretch): boolean {
  const at = tokens.findIndex(
    ({ class: kind, lower }, i) => i >= from && i < to && kind === "negation" && lower === "not",
  );
  if (at < 0) return false;
  const next = tokens[at + 1];
  const isTwice = next?.class === "negation" && at + 1 < to;
  return (
    isTwice || /^(?:always|necessarily|exclusively|entirely|constantly|all|every)$/.test(next?.lower ?? "")
  );
}

/** "I am Elspeth in our D&D group", "I'm Hamlet in the school play"; "I'm the lead in a play" is told. */
function isPlayed(tokens: readonly Token[], [from, to]: Stretch): boolean {
  const words = wordsOf(tokens, [from, to]);
  return PLAYED.test(words) || (tokens[from]?.class === "name" && ROLE.test(words));
}

/** What nobody is of themself, and what is only as good as so: "I'm dead", "I basically live at the gym". */
function isIdiom({ tokens, subject, verb, rest }: Clause): boolean {
  if (!subject || !/^(?:i|we)$/.test(tokens[subject[0]]?.lower ?? "")) return false;
  const words = wordsOf(tokens, rest);
  if (verb.lemma === "live")
    return /\b(?:basically|practically|virtually|pretty much)$/.test(
      wordsOf(tokens, [subject[1], verb.from]),
    );
  if (verb.lemma !== "be" || verb.tense !== "present" || verb.denied !== undefined) return false;
  if (
    /^(?:literally |so |actually |basically )?(?:dead|deceased|on fire)(?: lol| haha| today| now| right now| this \p{L}+)?$/u.test(
      words,
    )
  )
    return true;
  const isBare = rest[1] - rest[0] === 2 && ["name", "noun"].includes(tokens[rest[1] - 1]?.class ?? "");
  return isBare && /^(?:literally|basically|practically|virtually) /.test(words);
}

/** "I told my mum I'm a lawyer (I'm not)": what was said is not so. */
function isDisowned(clauses: readonly Clause[], k: number): boolean {
  const [clause, before] = [clauses[k], clauses[k - 1]];
  if (!clause?.subject || !before?.subject || before.role !== "content") return false;
  const { tokens, verb, rest } = clause;
  const isBare =
    /^(?:be|do)$/.test(verb.lemma) &&
    verb.denied !== undefined &&
    /^(?:really|actually|lol|haha|at all|in fact)?$/.test(wordsOf(tokens, rest));
  return isBare && wordsOf(tokens, clause.subject) === wordsOf(before.tokens, before.subject);
}

/** Where the clauses of sentences stand in their text that tell no fact as they stand: those left open, and those denied from outside. */
export function openSpans(clauses: readonly Clause[]): { start: number; end: number }[] {
  return judgeClauses(clauses).flatMap(({ clause, isOpen }, k) => {
    const isDenied = clause.verb.denied !== clauses[k]?.verb.denied;
    const { tokens, subject, verb, rest } = clause;
    const start = tokens[Math.min(subject?.[0] ?? verb.from, verb.from)]?.start;
    const end = tokens[Math.max(rest[1], verb.to) - 1]?.end;
    return (isOpen || isDenied) && start !== undefined && end !== undefined ? [{ start, end }] : [];
  });
}
