import { toPastTense } from "../../word-forms.ts";
import type { Stretch, Token } from "../words/token.ts";
import type { Verb } from "./verbs.ts";

/** What one is or has all the time: behind "I like to …" it stands for itself. */
const STANDS = new Set("live work have own be use belong speak know need want love like hate".split(" "));
const TASTES = new Set(["like", "love", "enjoy", "hate", "prefer", "try", "tend"]);

/**
 * "I want to move and OPEN a café", "I can juggle and WHISTLE": a bare verb that "and" joins shares what stands before the
 * first one. Gives the verb as it is where it stands for itself.
 */
export function shared(
  tokens: readonly Token[],
  verb: Verb,
  last: { readonly verb: Verb; readonly subject?: Stretch } | undefined,
): Verb {
  // "My dad is Greek, BORN in Patras": he was.
  if (last?.verb.copula && tokens[verb.from]?.lower === "born")
    return { ...verb, lemma: "be", copula: true, tense: "past", form: "finite", to: verb.from };
  if (last && isSharedPassive(tokens, verb, last.verb))
    return { ...verb, passive: true, tense: tenseOfPassive(tokens, verb, last.verb) };
  if (last && verb.form === "gerund" && last.verb.chain.at(-1)?.next === "gerund" && verb.chain.length === 0)
    return taken(verb, last.verb, last.verb.chain);
  if (!last || !isBare(verb) || !isJoined(tokens, verb.from)) return verb;
  // "I'd buy a boat and never SET foot on land"; "I have to work nights and never see my kids" is two facts.
  if (verb.denied && last.verb.modal !== "would") return verb;
  const link = last.verb.chain.findLastIndex(({ next }) => next === "to");
  if (link >= 0) return sharedInfinitive(tokens, verb, last.verb, last.verb.chain.slice(0, link + 1));
  if (last.verb.modal === undefined) return verb;
  const isOr = tokens[verb.from - 1]?.lower === "or";
  const denied = isOr && last.verb.denied ? { denied: last.verb.denied } : {};
  return { ...verb, tense: last.verb.tense, open: last.verb.open, ...colour(last.verb), ...denied };
}

/** "I want to move and OPEN a café": with what stands before "to". */
function sharedInfinitive(tokens: readonly Token[], verb: Verb, last: Verb, chain: Verb["chain"]): Verb {
  const isTaste = TASTES.has(chain.at(-1)?.verb ?? "");
  if (isTaste && STANDS.has(verb.lemma)) return verb;
  return isPastBehindHabit(tokens, verb, chain) ? { ...verb, tense: "past" } : taken(verb, last, chain);
}

/** "I used to smoke, QUIT in May": a form that is its own past, behind a comma, tells what ended the habit or came after it. */
function isPastBehindHabit(tokens: readonly Token[], { lemma, from }: Verb, chain: Verb["chain"]): boolean {
  const isHabit = chain[0]?.verb === "use" && chain[0].next === "to";
  const isJoined = /^(?:and|or|&)$/.test(tokens[from - 1]?.lower ?? "");
  return isHabit && toPastTense(lemma) === lemma && (lemma === "quit" || !isJoined);
}

/** The verb with all that stands before the other one. */
function taken(verb: Verb, last: Verb, chain: Verb["chain"]): Verb {
  const { tense, perfect, progressive, open, denied } = last;
  const gerunds = [...last.gerunds, ...verb.gerunds];
  const isDenied = denied === undefined ? {} : { denied };
  return { ...verb, chain, tense, perfect, progressive, open, gerunds, ...colour(last), ...isDenied };
}

function isBare({ form, tense, chain, modal, denied }: Verb): boolean {
  const isPlain = form === "base" && tense === "present";
  return isPlain && chain.length === 0 && modal === undefined && (denied === undefined || denied === "never");
}

/** "born in Texas but RAISED in Maine", "I'm Swiss, RAISED in Lugano": done to somebody, as what was said before. */
function isSharedPassive(tokens: readonly Token[], verb: Verb, last: Verb): boolean {
  const first = tokens[verb.from];
  const isDone =
    (verb.form === "participle" || first?.tags.has("Passive") === true) &&
    verb.tense === "past" &&
    verb.chain.length === 0;
  if (!isDone || !first || !["preposition", "conjunction"].includes(tokens[verb.to]?.class ?? ""))
    return false;
  if (first.tags.has("Passive") && (last.copula || last.passive) && !STATES.test(first.lower)) return true;
  const isJoint = /^(?:and|but|or|then)$/.test(tokens[verb.from - 1]?.lower ?? "");
  const isBorn = [tokens[last.to], tokens[last.from]].some((word) => word?.lower === "born");
  const isPreposition = tokens[verb.to]?.class === "preposition";
  return isJoint && isPreposition && (last.passive || isBorn);
}

/** What one does oneself, or is from then on: "is a vet and retired in May". */
const STATES = /^(?:retired|married|divorced|separated|engaged|graduated)$/;

/** "I'm a potter, trained in Stoke" is over; "booked until March", "based in Rome since May" is so now. */
function tenseOfPassive(tokens: readonly Token[], verb: Verb, last: Verb): Verb["tense"] {
  const goesOn = tokens
    .slice(verb.to, verb.to + 6)
    .some(({ lower }) => /^(?:until|till|since|for)$/.test(lower));
  return goesOn ? last.tense : "past";
}

function colour({ modal }: Verb): { modal?: string } {
  return modal === undefined ? {} : { modal };
}

/** What comes behind them is one of the things, and no doing. */
const NAMES_ONE = /^(?:especially|particularly|mostly|mainly|like|including|specifically)$/;

/** Behind "and", "or" or a comma, adverbs between. */
function isJoined(tokens: readonly Token[], at: number): boolean {
  let i = at - 1;
  while (
    tokens[i]?.lower === "never" ||
    (tokens[i]?.class === "adverb" && !NAMES_ONE.test(tokens[i]?.lower ?? ""))
  )
    i -= 1;
  const before = tokens[i];
  return before !== undefined && (/^(?:and|or|&|then)$/.test(before.lower) || /^,\s*$/.test(before.after));
}
