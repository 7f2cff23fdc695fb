import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { toPastParticiple, toPastTense, toSingular } from "../../word-forms.ts";
import { isTimeNoun } from "../time/times.ts";
import { AUXILIARIES, BE, CATENATIVE, isParticle, MODALS, OPEN_MODALS } from "../words/lexicon.ts";
import type { Token } from "../words/token.ts";

/** A verb group: "have been taking", "don't use", "am planning to hike". */
export interface Verb {
  /** Token indices, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** Base form of the main verb, with its particle: "take up". */
  readonly lemma: string;
  /** Verbs before it that colour it, in base form with what joins them: "plan to", "love", "be going to". */
  readonly chain: readonly Link[];
  readonly denied?: Denial;
  readonly tense: "past" | "present" | "future";
  readonly perfect: boolean;
  readonly progressive: boolean;
  readonly passive: boolean;
  /** The main verb is a form of "be". */
  readonly copula: boolean;
  readonly modal?: string;
  /** "could", "would", "might": it is left open whether it is so. */
  readonly open: boolean;
  readonly form: "finite" | "gerund" | "participle" | "base";
  /** The forms in "ing" as they are written: "traveling", "programming". */
  readonly gerunds: readonly string[];
}

/** How a verb is denied, in the words of a memory. What hardly ever happens is no more done than what never happens. */
export type Denial =
  | "not"
  | "never"
  | "not often"
  | "not usually"
  | "rarely"
  | "seldom"
  | "hardly ever"
  | "barely ever"
  | "scarcely ever"
  | "almost never";

export interface Link {
  readonly verb: string;
  readonly next: "to" | "gerund" | "bare";
}

const SKIPPED = new Set(["adverb", "negation"]);

/** Reads the verb group that begins at a token of class verb. */
export function readVerb(tokens: readonly Token[], from: number, end: number): Verb | undefined {
  const reading = readAuxiliaries(tokens, from, end);
  const first = tokens[from];
  const group = first && readChain(tokens, reading, end);
  if (!first || !group) return undefined;
  // "rereading Dune", "been learning to sew": with "I am", "I have" left out.
  const isBare = reading.head === from && formOf(first) === "gerund";
  const hasGot = isHaveGot(first, reading, group);
  let to = group.to;
  // "is not": the denial belongs to the verb, and not to what is said.
  while (to < end && tokens[to]?.class === "negation" && reading.denied) to += 1;
  const lemma = hasGot ? "have" : group.lemma;
  return {
    from,
    to,
    lemma,
    chain: group.chain,
    ...(reading.denied ? { denied: reading.denied } : {}),
    tense: tenseOf(tokens, { from, end, reading }),
    perfect: (reading.perfect || first.lower === "been") && !hasGot,
    progressive: reading.progressive || isBare,
    passive: reading.passive && group.chain.length === 0,
    copula: lemma === "be",
    ...(reading.modal ? { modal: reading.modal } : {}),
    open: reading.modal !== undefined && OPEN_MODALS.has(reading.modal),
    form: formOf(first),
    gerunds: tokens.slice(from, to).flatMap(({ lower }) => (/ing$/.test(lower) ? [lower] : [])),
  };
}

/** "I NEVER eat pork", "NEVER really tried it": before the whole group. */
function isNever(tokens: readonly Token[], from: number): boolean {
  let at = from - 1;
  while (tokens[at]?.class === "adverb") at -= 1;
  return tokens[at]?.lower === "never" && !/[,;]/.test(tokens[at]?.after ?? "");
}

function noteDenial(reading: Reading, denial: Denial | undefined): void {
  if (denial !== undefined && reading.denied !== "almost never") reading.denied = denial;
}

/** The denial of a negation: "I don't only teach" is none. */
function denialAt(tokens: readonly Token[], at: number): Denial | undefined {
  const next = tokens[at + 1]?.lower ?? "";
  if (tokens[at]?.lower === "never") return "never";
  if (next === "often" || next === "usually") return `not ${next}`;
  const isMore = /^(?:only|just|merely|simply|solely)$/.test(next) && tokens[at + 2]?.class === "verb";
  return isMore ? undefined : "not";
}

/** "I NEVER eat pork", "I RARELY eat meat" */
function denialBefore(tokens: readonly Token[], from: number): Denial | undefined {
  return rarityBefore(tokens, from) ?? (isNever(tokens, from) ? "never" : undefined);
}

/** "I RARELY eat meat", "HARDLY EVER drink": before the whole group. */
function rarityBefore(tokens: readonly Token[], from: number): Denial | undefined {
  for (let at = from - 1; at >= 0 && SKIPPED.has(tokens[at]?.class ?? ""); at -= 1) {
    if (breaks(tokens, at)) return undefined;
    const rarity = rarityAt(tokens, at);
    if (rarity !== undefined) return rarity;
  }
  return undefined;
}

function rarityAt(tokens: readonly Token[], at: number): Denial | undefined {
  const { lower = "" } = tokens[at] ?? {};
  if (lower === "rarely" || lower === "seldom") return lower;
  const next = tokens[at + 1]?.lower;
  if (next === "never" && (lower === "almost" || lower === "nearly")) return "almost never";
  if (next !== "ever") return undefined;
  return lower === "hardly" || lower === "barely" || lower === "scarcely" ? `${lower} ever` : undefined;
}

interface Group {
  readonly lemma: string;
  readonly chain: readonly Link[];
  readonly to: number;
  readonly main: Token;
}

/** From the first full verb over all that it takes: "plan to hike". */
function readChain(tokens: readonly Token[], reading: Reading, end: number): Group | undefined {
  const chain: Link[] = [];
  let main = tokens[reading.head];
  let to = reading.head + 1;
  for (let depth = 0; depth <= 3 && main; depth += 1) {
    const lemma = withParticle(tokens, to, end, lemmaOf(main));
    to += lemma.split(" ").length - 1;
    const link =
      depth < 3 ? readLink(tokens, { at: to, end, lemma }, reading, chain.length === 0) : undefined;
    if (!link) return { lemma, chain, to, main };
    chain.push({ verb: link.verb, next: link.next });
    main = tokens[link.at];
    to = link.at + 1;
  }
  return undefined;
}

/** "have got" is "have". */
function isHaveGot(first: Token, reading: Reading, group: Group): boolean {
  if (!reading.perfect || group.lemma !== "get" || group.chain.length > 0) return false;
  return group.main.lower === "got" && /^(?:have|has|'ve)$/.test(first.lower);
}

/** How a verb form stands by itself. */
export function formOf(token: Token): Verb["form"] {
  if (AUXILIARIES.has(token.lower))
    return ["be", "been", "being", "having"].includes(token.lower) ? "participle" : "finite";
  if (/ing$/.test(token.lower) && (token.tags.has("Gerund") || toBaseForm(token.lower) !== token.lower))
    return "gerund";
  if (token.tags.has("PastTense") || token.tags.has("Participle")) return "participle";
  return toBaseForm(token.lower) === token.lower ? "base" : "finite";
}

interface Reading {
  head: number;
  denied?: Denial;
  perfect: boolean;
  progressive: boolean;
  passive: boolean;
  modal?: string;
  did: boolean;
}

function readAuxiliaries(tokens: readonly Token[], from: number, end: number): Reading {
  const reading: Reading = { head: from, perfect: false, progressive: false, passive: false, did: false };
  noteDenial(reading, denialBefore(tokens, from));
  let last: string | undefined;
  for (let at = from; at < end; at += 1) {
    const token = tokens[at];
    if (!token) break;
    if (isBetween(tokens, reading, { at, from, end })) continue;
    if (token.class !== "verb" || (at > from && breaks(tokens, at - 1))) break;
    if (last !== undefined && !goesOn(reading, last, token)) break;
    const isMain = isMainVerb(token, last);
    reading.head = at;
    last = token.lower;
    if (isMain) break;
    noteAuxiliary(reading, token.lower);
  }
  return reading;
}

/** "I can't do dairy": behind a modal, "do" is the verb itself. */
function isMainVerb({ lower }: Token, last: string | undefined): boolean {
  return !AUXILIARIES.has(lower) || (lower === "do" && MODALS.has(last ?? ""));
}

function goesOn(reading: Reading, last: string, token: Token): boolean {
  if (!continues(last, token)) return false;
  note(reading, last, token);
  return true;
}

/** Negations, "rather" and adverbs inside the group. */
function isBetween(
  tokens: readonly Token[],
  reading: Reading,
  { at, from, end }: { at: number; from: number; end: number },
): boolean {
  const token = tokens[at];
  if (token?.class === "negation") {
    noteDenial(reading, denialAt(tokens, at));
    return true;
  }
  if (at > from) noteDenial(reading, reading.denied ?? rarityAt(tokens, at));
  if (reading.modal === "would" && token?.lower === "rather") {
    reading.modal = "would rather";
    return true;
  }
  return at > from && token?.class === "adverb" && nextVerb(tokens, at, end) !== undefined;
}

function noteAuxiliary(reading: Reading, word: string): void {
  if (MODALS.has(word) || word === "would") reading.modal ??= word === "'ll" ? "will" : word;
  if (word === "did") reading.did = true;
}

/** Whether a verb can follow an auxiliary: "have been", "do use", "is called"; not "is, sold". */
function continues(auxiliary: string, token: Token): boolean {
  const form = formOf(token);
  if (MODALS.has(auxiliary) || ["do", "does", "did", "would", "'d"].includes(auxiliary))
    return (
      form === "base" ||
      token.lower === "be" ||
      token.lower === "have" ||
      toBaseForm(token.lower) === token.lower
    );
  if (["have", "has", "had", "'ve"].includes(auxiliary))
    return (
      form === "participle" ||
      isPastForm(token.lower) ||
      ["been", "had", "got"].includes(token.lower) ||
      toPastParticiple(token.lower) === token.lower
    );
  if (BE.has(auxiliary))
    return (
      form !== "base" ||
      token.tags.has("Participle") ||
      ["set", "put", "let", "hit", "cut", "read"].includes(token.lower)
    );
  return true;
}

function note(reading: Reading, auxiliary: string, token: Token): void {
  if (["have", "has", "had", "'ve"].includes(auxiliary) && continues(auxiliary, token))
    reading.perfect = true;
  if (BE.has(auxiliary) && continues(auxiliary, token)) {
    if (/ing$/.test(token.lower) && formOf(token) !== "base") reading.progressive = true;
    else if (!BE.has(token.lower)) reading.passive = true;
  }
}

function breaks(tokens: readonly Token[], at: number): boolean {
  return /[,;:.!?()—–]/.test(tokens[at]?.after ?? "");
}

function nextVerb(tokens: readonly Token[], from: number, end: number): number | undefined {
  for (let at = from; at < end; at += 1) {
    const token = tokens[at];
    if (!token) return undefined;
    if (token.class === "verb") return breaks(tokens, at - 1) ? undefined : at;
    if (!SKIPPED.has(token.class)) return undefined;
  }
  return undefined;
}

function lemmaOf(token: Token): string {
  return toBaseForm(token.lower.replace(/in'$/, "ing"));
}

/** A verb with the particle that follows it: "take up". */
function withParticle(tokens: readonly Token[], at: number, end: number, lemma: string): string {
  const next = tokens[at];
  if (!next || at >= end || breaks(tokens, at - 1) || !isParticle(lemma, next.lower)) return lemma;
  return `${lemma} ${next.lower}`;
}

const SHORT_FORMS = new Map([
  ["gonna", "be going"],
  ["wanna", "want"],
  ["gotta", "have"],
]);

interface Place {
  readonly at: number;
  readonly end: number;
  readonly lemma: string;
}

/** "plan TO hike", "love baking", "gonna try". */
function readLink(
  tokens: readonly Token[],
  place: Place,
  reading: Reading,
  isFirst: boolean,
): (Link & { at: number }) | undefined {
  const { at, end, lemma } = place;
  const next = tokens[at];
  if (!next || at >= end || breaks(tokens, at - 1)) return undefined;
  const short = SHORT_FORMS.get(lemma);
  if (short) return next.class === "verb" ? { verb: short, next: "to", at } : undefined;
  return next.lower === "to"
    ? (linkTo(tokens, place, reading, isFirst) ?? linkGerund(tokens, place))
    : linkGerund(tokens, place);
}

function linkTo(
  tokens: readonly Token[],
  { at, end, lemma }: Place,
  reading: Reading,
  isFirst: boolean,
): (Link & { at: number }) | undefined {
  const after = skipAdverbs(tokens, at + 1, end);
  const head = lemma.split(" ")[0] ?? lemma;
  const takes = CATENATIVE.has(head) || reading.passive || lemma === "be";
  if (tokens[after]?.class !== "verb" || !takes) return undefined;
  const main = tokens[reading.head]?.lower ?? "";
  const isGoing = head === "go" && isFirst && (reading.progressive || main === "going");
  if (isGoing) return { verb: "be going", next: "to", at: after };
  // "I've got to go", "gotta go": a duty, and nothing that is done.
  if (lemma === "get" && reading.perfect && main === "got" && isFirst) {
    reading.perfect = false;
    return { verb: "have", next: "to", at: after };
  }
  return { verb: reading.passive && isFirst ? `be ${main}` : lemma, next: "to", at: after };
}

function linkGerund(
  tokens: readonly Token[],
  { at, end, lemma }: Place,
): (Link & { at: number }) | undefined {
  const gerund = skipAdverbs(tokens, at, end);
  const token = tokens[gerund];
  const takes = CATENATIVE.has(lemma.split(" ")[0] ?? lemma) && lemma !== "be" && !/ into$/.test(lemma);
  if (token?.class !== "verb" || formOf(token) !== "gerund" || !takes) return undefined;
  return { verb: lemma, next: "gerund", at: gerund };
}

function skipAdverbs(tokens: readonly Token[], from: number, end: number): number {
  let at = from;
  while (at < end && tokens[at] && SKIPPED.has(tokens[at]?.class ?? "")) at += 1;
  return at;
}

function isPastForm(word: string): boolean {
  const base = toBaseForm(word);
  return (
    base !== word &&
    !/(?:s|ing)$/.test(word) &&
    (toPastTense(base) === word || toPastParticiple(base) === word || /(?:ed|nt|lt)$/.test(word))
  );
}

function tenseOf(
  tokens: readonly Token[],
  { from, end, reading }: { from: number; end: number; reading: Reading },
): Verb["tense"] {
  const first = tokens[from];
  if (!first) return "present";
  if (reading.modal === "will") return "future";
  if (reading.did || ["was", "were", "had"].includes(first.lower)) return "past";
  if (AUXILIARIES.has(first.lower)) return "present";
  if (isPastForm(first.lower)) return "past";
  return toPastTense(first.lower) === first.lower && isPastInPlace(tokens, from, end) ? "past" : "present";
}

/** How far a subject or a time is looked for. */
const REACH = 20;

/** Whether the place shows that a form which is both base and past, such as "put" or "read", is the past. */
function isPastInPlace(tokens: readonly Token[], from: number, end: number): boolean {
  if (/^(?:always|usually|often|sometimes|normally|generally|typically)$/.test(tokens[from - 1]?.lower ?? ""))
    return false;
  if (tokens[from]?.tags.has("PastTense")) return true;
  if (/^(?:just|finally|recently)$/.test(tokens[from - 1]?.lower ?? "")) return true;
  return followsSingular(tokens, from) || hasPointInTime(tokens, from + 1, end);
}

/** "My doctor put": in the present, a verb behind one person or thing ends in s. */
function followsSingular(tokens: readonly Token[], from: number): boolean {
  let at = from - 1;
  while (tokens[at]?.class === "adverb") at -= 1;
  const subject = tokens[at];
  if (!subject) return false;
  const nearby = tokens.slice(Math.max(0, at - REACH), at);
  const start = nearby.findLastIndex((_, i) => breaks(nearby, i)) + 1;
  const before = nearby.slice(start);
  // "Let my son read", "Tom and Ana cut": another verb takes the base form, and several have no ending.
  if (before.some(({ class: kind, lower }) => kind === "verb" || kind === "conjunction" || lower === "to"))
    return false;
  if (/^(?:he|she|it)$/.test(subject.lower)) return true;
  return subject.class === "noun" && !isPlural(subject) && toSingular(subject.lower) === subject.lower;
}

const isPlural = ({ tags, lower }: Token): boolean =>
  tags.has("Plural") || /^(?:people|police|family|team|staff|crew)$/.test(lower);

/** "in March", "on Friday", "last week", "two days ago": when something was done once. */
function hasPointInTime(tokens: readonly Token[], from: number, end: number): boolean {
  return tokens.slice(from, Math.min(end, from + REACH)).some(({ lower }, i) => {
    const at = from + i;
    const next = tokens[at + 1];
    if (lower === "ago" || lower === "yesterday") return true;
    if (lower === "last") return isTimeNoun(next?.lower ?? "");
    if (lower === "on") return next?.tags.has("WeekDay") && !/days$/.test(next.lower);
    return lower === "in" && (next?.tags.has("Month") || /^(?:19|20)\d\d$/.test(next?.lower ?? ""));
  });
}
