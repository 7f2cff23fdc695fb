import type { Kind } from "../../../../domain/memory.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toCanonicalRelation } from "../../relations/relations.ts";
import { toSingular } from "../../word-forms.ts";
import { antecedent } from "../clauses/antecedents.ts";
import {
  type ClausePart,
  getStatementSpan,
  isOver,
  isSince,
  isWish,
  leadText,
  qualifierOf,
  restWith,
  sentenceOf,
  since,
} from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { type AddParts, adding, claimOf, said, thirdPerson, tidy } from "../context.ts";
import { isAmongPeople } from "../standing/among-people.ts";
import { momentOf } from "../time/dates.ts";
import type { Stretch, Token } from "../words/token.ts";
import {
  groupClaims,
  groupIn,
  listedBehind,
  listedClaims,
  listedMeans,
  withoutMeasure,
} from "./listed-claims.ts";
import { toReplacement } from "./replaced.ts";
import { compose, inflect } from "./sentence.ts";

const STATIVE = new Set(
  "live work have own love like hate use play drive smoke speak study teach want prefer need know believe support eat drink wear rent weigh earn attend belong keep".split(
    " ",
  ),
);

/** One proposal for each member of the list that the relation holds. */
export function relationClaims(
  part: ClausePart,
  base: string,
  phrase: Phrase | undefined,
  whole?: string,
): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const { verb } = clause;
  const head = verb.lemma.split(" ")[0] ?? "";
  const isPast = isPastTold(part);
  const relation = relationNamed(part, base, isPast && STATIVE.has(head) && !base.startsWith("used to"));
  const member = phrase && relation === "have" ? membershipsOf(part, phrase) : undefined;
  if (member) return relationClaims(member.part, "be a member of", member.phrase);
  const means = phrase ? listedMeans(part, phrase) : undefined;
  if (means) return means.flatMap((one) => relationClaims(one, base, phrase, whole));
  const listed = phrase ? listClaims(part, relation, phrase) : undefined;
  if (listed) return listed;
  const mine = phrase ? minesOf(part, phrase) : [];
  if (mine.length > 0) return mineClaims(part, relation, mine);
  const items = phrase && phrase.items.length > 0 ? splitItems(part, phrase) : [undefined];
  const details = detailsOf(part, relation, isPast);
  const unlisted = whole ?? (phrase ? said(context, tokens, phrase.from, phrase.to) : "");
  return items.flatMap((item, k) => {
    const named = item ? said(context, tokens, ...item) : tidy(unlisted);
    const value = items.length > 1 ? withoutMeasure(named) : named;
    if (item && isVague(tokens, item) && !isDoing(part, item)) return tasteOfThat(part, relation, item);
    const isOne = items.length > 1;
    const text = asOne(sentenceOf(part, restWith(part, phrase, item), leadText(part)), isOne);
    const qualifier = asOne(qualifierOf(part, phrase), isOne);
    const claim = claimOf(subject.path, relation, value, phrase ? qualifier : (statement.circumstance ?? ""));
    const claims = [
      adding(context, getStatementSpan(part), {
        text,
        claim,
        ...details,
        ...toReplacement(k > 0 ? { ...part, isBeside: true } : part, relation, value),
      }),
    ];
    if (relation === "work as") claims.push(...workplace(part));
    return claims;
  });
}

function isPastTold(part: ClausePart): boolean {
  return isOver(part) && begunOf(part) === undefined;
}

/** "I started working at Lumo in March": that goes on since then. */
function begunOf({
  statement,
  dates,
  context,
}: ClausePart): Pick<AddParts, "when" | "validFrom"> | undefined {
  const { verb } = statement.clause;
  const [link] = verb.chain;
  const isBegun =
    verb.tense === "past" && verb.chain.length === 1 && /^(?:start|begin)$/.test(link?.verb ?? "");
  if (!isBegun || verb.denied || !STATIVE.has(verb.lemma.split(" ")[0] ?? "")) return undefined;
  const [date] = dates;
  return date ? { when: date.iso, validFrom: momentOf(date.iso, context.message.zone) } : {};
}

/** Of names or things that are counted and then listed, each. */
function listClaims(part: ClausePart, relation: string, phrase: Phrase): AddProposal[] | undefined {
  const group = groupIn(part, phrase);
  if (group) return groupClaims(part, relation, group);
  const listed = listedBehind(part, phrase);
  return listed && listedClaims(part, relation, listed);
}

/** "memberships at the zoo and the National Trust": a member of each. */
function membershipsOf(part: ClausePart, phrase: Phrase): { part: ClausePart; phrase: Phrase } | undefined {
  const { tokens, phrases } = part;
  const item = phrase.items[0];
  const next = phrases[phrases.indexOf(phrase) + 1];
  const isMember = item !== undefined && /^memberships?$/.test(tokens[item[1] - 1]?.lower ?? "");
  if (!isMember || item[1] - item[0] > 2 || next?.kind !== "preposition" || next.items.length === 0)
    return undefined;
  return { part: { ...part, phrases: phrases.filter((one) => one !== phrase) }, phrase: next };
}

/** Of each of several: "as productivity tools" is "as a productivity tool". */
function asOne(text: string, isOne: boolean): string {
  if (!isOne) return text;
  return text.replace(
    /\bas (?!an? |the |my |their )((?:[\p{L}-]+ ){0,2})([\p{L}-]+s)\b(?=[.,]|$)/u,
    (_all, before: string, noun: string) => {
      const phrase = `${before}${toSingular(noun)}`;
      return `as ${/^[aeiou]/i.test(phrase) ? "an" : "a"} ${phrase}`;
    },
  );
}

const VAGUE = new Set(
  "it this that these those them him her something anything nothing everything one ones stuff thing things someone somebody anyone me us you myself all both there here none".split(
    " ",
  ),
);

function isVague(tokens: readonly Token[], [from, to]: readonly [number, number]): boolean {
  const last = tokens[to - 1];
  return (
    last === undefined ||
    (to - from === 1 && VAGUE.has(last.lower) && !isNarrowed(tokens, to)) ||
    // "building things" is a doing.
    (to - from === 2 &&
      ["stuff", "things", "ones"].includes(last.lower) &&
      !/[a-z]{3}ing$/.test(tokens[from]?.lower ?? ""))
  );
}

/** "I like fixing things": the fixing tells it. */
function isDoing({ statement, tokens }: ClausePart, [from, to]: Stretch): boolean {
  const isThings = to - from === 1 && /^(?:things|stuff)$/.test(tokens[from]?.lower ?? "");
  return isThings && statement.clause.verb.chain.some(({ next }) => next === "gerund");
}

/** "anything spicy", "something with raccoons" */
function isNarrowed(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  const isOpen = /^(?:any|some|every)thing$/.test(before?.lower ?? "") && before?.after.trim() === "";
  return (
    isOpen &&
    (tokens[at]?.class === "adjective" || /^(?:with|about|by|from|to|else)$/.test(tokens[at]?.lower ?? ""))
  );
}

/** Lists fall apart where the members stand for themselves. */
function splitItems(part: ClausePart, phrase: Phrase): (readonly [number, number])[] {
  // "between nine and eleven" is one stretch.
  if (phrase.head === "between") return [[phrase.items[0]?.[0] ?? phrase.from, phrase.to]];
  const isEither = part.tokens.slice(phrase.from, phrase.to).some(({ lower }) => lower === "or");
  if (
    phrase.items.length > 1 &&
    isEither &&
    (part.statement.clause.verb.tense === "past" || isAmount(part, phrase))
  )
    return [[phrase.items[0]?.[0] ?? phrase.from, phrase.to]];
  // Among people nothing is gained where each part can end by itself, and what they share would be lost.
  if (isAmongPeople(part.context) && sharesEnd(part, phrase))
    return [[phrase.items[0]?.[0] ?? phrase.from, phrase.to]];
  const [first, ...others] = phrase.items;
  // "two brothers, 5 and 7": figures behind a thing tell of it, and are nothing that one has.
  if (first && isToldOfFirst(part, first, others)) return [[first[0], phrase.to]];
  // "both football and cricket"
  if (first && others.length > 0 && part.tokens[first[0]]?.lower === "both" && first[1] - first[0] > 1)
    return [[first[0] + 1, first[1]], ...others];
  return phrase.items.length > 1
    ? [...phrase.items]
    : [[phrase.from, phrase.to] as const].map(([from, to]) => [phrase.items[0]?.[0] ?? from, to] as const);
}

/** "two brothers, 5 and 7", "two jobs, cleaning and dog walking": what stands bare behind a number of things says which they are. */
function isToldOfFirst(part: ClausePart, first: Stretch, others: readonly Stretch[]): boolean {
  const { tokens } = part;
  if (others.some((item) => isFigure(part, item))) return !isFigure(part, first);
  const isCounted =
    tokens[first[0]]?.class === "number" && tokens[first[1] - 1]?.after.includes(",") === true;
  const isBare = ([from]: Stretch): boolean => ["noun", "verb"].includes(tokens[from]?.class ?? "");
  return isCounted && others.length > 0 && others.every(isBare);
}

function isFigure({ tokens }: ClausePart, [from, to]: Stretch): boolean {
  return to - from === 1 && tokens[from]?.class === "number";
}

/** "two or three coffees", "three miles or more": how much, and no choice. */
function isAmount({ tokens }: ClausePart, { items }: Phrase): boolean {
  return items.some(([from, to]) => {
    const word = tokens[from];
    // "no kids or pets" is neither.
    if (tokens[items[0]?.[0] ?? from]?.lower === "no") return true;
    const isMore = tokens[from - 1]?.lower === "or" && /^(?:more|less|fewer|so)$/.test(word?.lower ?? "");
    return isMore || (to - from === 1 && word?.class === "number");
  });
}

/** "I work as a cook at the harbour": the place is a claim of its own. */
function workplace(part: ClausePart): AddProposal[] {
  const { context, tokens, statement, phrases } = part;
  const where = phrases.find(({ kind, head }) => kind === "preposition" && (head === "at" || head === "for"));
  if (!where) return [];
  const value = said(context, tokens, where.items[0]?.[0] ?? where.from, where.to);
  return [
    adding(context, getStatementSpan(part), {
      text: compose(statement.subject.display, "works at", value),
      claim: claimOf(statement.subject.path, "work at", value),
    }),
  ];
}

function relationNamed(part: ClausePart, base: string, isPastState: boolean): string {
  const { verb } = part.statement.clause;
  if (isPastState) return `used to ${base}`;
  const deny = /^(not|never) /.exec(base);
  const bare = deny ? base.slice(deny[0].length) : base;
  const plain = bare.replace(/^get (?=to \S)/, "have got ").replace(/^have get/, "have");
  const named = toCanonicalRelation(
    verb.passive && !plain.startsWith("be ") && verb.chain.length === 0
      ? `be ${participle(part)} ${plain.split(" ").slice(1).join(" ")}`.trim()
      : plain,
  );
  return deny ? `${deny[1]} ${named}` : named;
}

function participle({ statement }: ClausePart): string {
  const { clause } = statement;
  return (
    clause.tokens.slice(clause.verb.from, clause.verb.to).findLast(({ class: kind }) => kind === "verb")
      ?.lower ?? clause.verb.lemma
  );
}

const PLANNING = new Set([
  "plan",
  "be going",
  "intend",
  "hope",
  "aim",
  "want",
  "need",
  "have",
  "promise",
  "agree",
  "decide",
]);

function detailsOf(
  part: ClausePart,
  relation: string,
  isPast: boolean,
): Pick<AddParts, "when" | "validFrom"> & { kind?: Kind; importance?: number; holds?: "one" | "many" } {
  const begun = begunOf(part);
  if (begun) return begun;
  const { statement, dates } = part;
  const { verb } = statement.clause;
  const [date] = dates;
  const when = date ? { when: date.iso } : {};
  if (verb.tense === "future" || verb.chain.some((link) => PLANNING.has(link.verb)) || isWish(part)) {
    return { kind: "commitment", importance: 0.6, ...when };
  }
  if (isPast) return { kind: "event", holds: "many", importance: 0.4, ...when };
  if (verb.perfect && !verb.progressive && !relation.startsWith("have been")) {
    return date && !isSince(part) ? { kind: "event", importance: 0.5, ...when } : { ...since(part) };
  }
  if (verb.progressive && date && !isSince(part)) return { kind: "event", importance: 0.6, ...when };
  return { ...since(part), ...(date && !isSince(part) && verb.lemma !== "prefer" ? when : {}) };
}

const TASTE =
  /^(?:not |never |really )?(?:like|love|adore|enjoy|hate|dislike|prefer|be into|can not stand|not like|not enjoy)$/;

/** "Do you play chess? I love it": a taste for what the sentence before was about. Not among people: there it is anybody's. */
function tasteOfThat(part: ClausePart, relation: string, [from, to]: Stretch): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject } = statement;
  const pronoun = tokens[from]?.lower ?? "";
  const isTaste = to - from === 1 && TASTE.test(relation) && /^(?:it|them|those|these|that)$/.test(pronoun);
  if (!isTaste || context.message.name !== undefined || subject.path !== context.discourse.speaker.path)
    return [];
  const value = antecedent(context, pronoun, statement.start);
  if (value === undefined) return [];
  return mineClaims(part, relation, [value]).map((claim) => ({ ...claim, confidence: 0.7 }));
}

/**
 * Whether the members of a list share what ends it: "action and sci-fi films", where the first is one bare word and
 * the second has a word before its noun; "lizards and animals with fur". "Coffee and green tea" looks the same; told
 * whole it is true as well.
 */
function sharesEnd({ tokens, phrases }: ClausePart, phrase: Phrase): boolean {
  const [first, second, ...others] = phrase.items;
  if (!first || !second) return false;
  const behind = phrases[phrases.indexOf(phrase) + 1];
  if (behind?.kind === "preposition" && /^(?:with|without|of|for|from)$/.test(behind.head ?? "")) return true;
  if (others.length > 0 || first[1] - first[0] !== 1) return false;
  const word = tokens[first[0]];
  const isBare = word !== undefined && ["noun", "adjective"].includes(word.class) && !word.tags.has("Plural");
  const opening = tokens[second[0]]?.class ?? "";
  return isBare && second[1] - second[0] > 1 && ["noun", "adjective"].includes(opening);
}

/** "I like MY STEAK RARE and MY TEA WITH LEMON": each with how it is liked. */
function minesOf(part: ClausePart, phrase: Phrase): string[] {
  const { context, tokens, statement } = part;
  const { verb, rest } = statement.clause;
  const first = tokens[phrase.from];
  if (
    !/^(?:like|love|take|prefer|drink|eat|have)$/.test(verb.lemma) ||
    first?.class !== "possessive" ||
    verb.denied ||
    verb.tense === "past"
  )
    return [];
  const parts = said(context, tokens, phrase.from, rest[1]).split(/(?:,| and| but)+ (?=my |our )/i);
  const bare = said(context, tokens, phrase.from, phrase.items[0]?.[1] ?? phrase.to);
  return parts[0] === bare ? [] : parts;
}

function mineClaims(part: ClausePart, relation: string, values: readonly string[]): AddProposal[] {
  const { context, statement } = part;
  const { subject, clause } = statement;
  return values.map((value) =>
    adding(context, getStatementSpan(part), {
      text: compose(
        subject.display,
        inflect(clause.verb, subject.plural),
        thirdPerson(value, context, subject),
      ),
      claim: claimOf(subject.path, relation, value),
    }),
  );
}
