import { singular } from "../../../domain/english.ts";
import type { Kind } from "../../../domain/memory.ts";
import { canonicalRelation } from "../../../domain/relations.ts";
import type { AddProposal } from "../../../ports/extractor.ts";
import { tasteOfThat } from "../clauses/meant-things.ts";
import { readList } from "../clauses/noun-phrases.ts";
import {
  isOver,
  isSince,
  isWish,
  leadText,
  type Part,
  place,
  qualifierOf,
  restWith,
  sentenceOf,
  since,
} from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { sharesEnd } from "../clauses/shared-heads.ts";
import { type AddParts, adding, claimOf, said, thirdPerson, tidy } from "../context.ts";
import { isAmongPeople } from "../standing/among-people.ts";
import { momentOf } from "../time/dates.ts";
import { ANIMALS, FEMALE, MALE } from "../words/lexicon.ts";
import { isName } from "../words/nouns.ts";
import { isPersonNoun } from "../words/persons.ts";
import type { Stretch, Token } from "../words/token.ts";
import { groupClaims, groupIn, namedOne } from "./group-claims.ts";
import { mineClaims, minesOf } from "./mine-claims.ts";
import { compose, inflect } from "./sentence.ts";
import { formerTrade } from "./trades.ts";

const STATIVE = new Set(
  "live work have own love like hate use play drive smoke speak study teach want prefer need know believe support eat drink wear rent weigh earn attend belong keep".split(
    " ",
  ),
);

/** One proposal for each member of the list that the relation holds. */
export function relationClaims(
  part: Part,
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
    const value = item ? said(context, tokens, ...item) : tidy(unlisted);
    if (item && isVague(tokens, item)) return tasteOfThat(part, relation, item);
    const isOne = items.length > 1;
    const text = asOne(sentenceOf(part, restWith(part, phrase, item), leadText(part)), isOne);
    const qualifier = asOne(qualifierOf(part, phrase), isOne);
    const claim = claimOf(subject.path, relation, value, phrase ? qualifier : (statement.circumstance ?? ""));
    const claims = [
      adding(context, place(part), {
        text,
        claim,
        ...details,
        ...replacedBy(k > 0 ? { ...part, isBeside: true } : part, relation, value),
      }),
    ];
    if (relation === "work as") claims.push(...workplace(part));
    return claims;
  });
}

function isPastTold(part: Part): boolean {
  return isOver(part) && begunOf(part) === undefined;
}

/** "I started working at Lumo in March": that goes on since then. */
function begunOf({ statement, dates, context }: Part): Pick<AddParts, "when" | "validFrom"> | undefined {
  const { verb } = statement.clause;
  const [link] = verb.chain;
  const isBegun =
    verb.tense === "past" && verb.chain.length === 1 && /^(?:start|begin)$/.test(link?.verb ?? "");
  if (!isBegun || verb.denied || !STATIVE.has(verb.lemma.split(" ")[0] ?? "")) return undefined;
  const [date] = dates;
  return date ? { when: date.iso, validFrom: momentOf(date.iso, context.message.zone) } : {};
}

/** Of names or things that are counted and then listed, each. */
function listClaims(part: Part, relation: string, phrase: Phrase): AddProposal[] | undefined {
  const group = groupIn(part, phrase);
  if (group) return groupClaims(part, relation, group);
  const listed = listedBehind(part, phrase);
  return listed && listedClaims(part, relation, listed);
}

/** What the new value takes the place of. */
function replacedBy(part: Part, relation: string, value: string): Partial<AddParts> {
  if (part.isBeside) return { holds: "many" };
  const trade = relation === "work as" ? formerTrade(part.context, part.statement, value) : {};
  return { ...replacedNow(part, relation, value), ...trade };
}

/** "memberships at the zoo and the National Trust": a member of each. */
function membershipsOf(part: Part, phrase: Phrase): { part: Part; phrase: Phrase } | undefined {
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
      const phrase = `${before}${singular(noun)}`;
      return `as ${/^[aeiou]/i.test(phrase) ? "an" : "a"} ${phrase}`;
    },
  );
}

/** "podcasts in Overcast, Castro and Pocket Casts": one for each, so that each can end by itself. */
function listedMeans(part: Part, phrase: Phrase): Part[] | undefined {
  const { phrases, statement, tokens } = part;
  const means = phrases[phrases.indexOf(phrase) + 1];
  const isTaken = means?.head === "to" && /^(?:take|drive|bring|send)$/.test(statement.clause.verb.lemma);
  const isMeans =
    means?.kind === "preposition" && (isTaken || /^(?:in|on|with|at|via|through)$/.test(means.head ?? ""));
  if (!isMeans || phrase.items.length > 1 || means.items.length < 2 || means.to !== statement.clause.rest[1])
    return undefined;
  const isKept = /^(?:keep|write|store|track|do|save)$/.test(statement.clause.verb.lemma);
  if (isTaken) return means.items.map((item) => onlyItem(part, means, item));
  const isNamed = means.items.filter((item) => isName(tokens, ...item)).length;
  if (isNamed < (isKept ? 1 : means.items.length)) return undefined;
  return means.items.map((item) => onlyItem(part, means, item));
}

/** The clause as if the list held that one alone. */
function onlyItem(part: Part, means: Phrase, item: Stretch): Part {
  return {
    ...part,
    only: { all: [means.items[0]?.[0] ?? means.from, means.to], one: item },
    phrases: part.phrases.map((one) => (one === means ? { ...means, items: [item] } : one)),
  };
}

interface Listed {
  readonly items: readonly (readonly [number, number])[];
  /** "courses" */
  readonly kind: string;
}

/** "three courses: statistics, ceramics and Japanese": the list behind the number. */
function listedBehind(part: Part, phrase: Phrase): Listed | undefined {
  const { tokens } = part;
  const [item, ...others] = phrase.items;
  if (!item || !others.every((other) => isName(tokens, ...other))) return undefined;
  const noun = tokens[item[1] - 1];
  const counted = tokens
    .slice(...item)
    .some(
      ({ class: kind, lower }) =>
        kind === "number" || ["several", "some", "few", "these", "following"].includes(lower),
    );
  if (!noun || !counted || singular(noun.lower) === noun.lower || !/[,:(–—-]/.test(noun.after))
    return undefined;
  const list = readList(tokens, item[1], tokens.length);
  if (!list || list.items.length < 2) return undefined;
  return { items: list.items, kind: singular(noun.lower) };
}

function listedClaims(part: Part, relation: string, listed: Listed): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const last = tokens[listed.items.at(-1)?.[1] ?? 0] ?? tokens.at(-1);
  const end = Math.max(
    statement.end,
    tokens[(listed.items.at(-1)?.[1] ?? 1) - 1]?.end ?? last?.end ?? statement.end,
  );
  const article = /^[aeiou]/.test(listed.kind) ? "an" : "a";
  const names = namesOf(part, listed);
  if (names) {
    const counted = said(context, tokens, part.phrases[0]?.items[0]?.[0] ?? 0, listed.items[0]?.[0] ?? 0);
    const whole = adding(
      context,
      { start: statement.start, end },
      {
        text: compose(subject.display, inflect(clause.verb, subject.plural), counted),
        claim: claimOf(subject.path, relation, counted),
      },
    );
    return [whole, ...names.map((name) => namedOne(part, listed.kind, name, end))];
  }
  return listed.items.map((item) => {
    const value = said(context, tokens, ...item);
    const text = compose(
      subject.display,
      inflect(clause.verb, subject.plural),
      thirdPerson(value, context, subject),
      `as ${article} ${listed.kind}`,
    );
    return adding(
      context,
      { start: statement.start, end },
      { text, claim: claimOf(subject.path, relation, value, `as ${article} ${listed.kind}`) },
    );
  });
}

/** "three kids: Ada, Bruno and little Cleo": names of persons or animals. */
function namesOf({ context, tokens }: Part, { kind, items }: Listed): string[] | undefined {
  const head = kind.split(" ").at(-1) ?? kind;
  if (!isPersonNoun(head) && !ANIMALS.has(head) && !FEMALE.has(head) && !MALE.has(head)) return undefined;
  const names = items.map((item) => said(context, tokens, ...item).replace(/^(?:little|big|baby|old) /i, ""));
  return names.every((name) => /^\p{Lu}\S*(?: \p{Lu}\S*)*$/u.test(name)) ? names : undefined;
}

/** Relations of which people have one at a time, though the table leaves more: with "now" the new one replaces. */
const ONE_NOW = new Set(
  "go to|attend|bank with|be with|work in|work on|study|drive|ride|take|live with|train at|play for|see|be on|be at|read|watch|commute by|be into|shop at|sleep in|support|wear|eat|drink|be scared of|study with|insure with|stay at|volunteer at|teach at|use for|be subscribed to".split(
    "|",
  ),
);

/** "these days I sleep seven hours", "the pass costs 104 euros now": the same with another number. */
export function measuredBefore(part: Part, relation: string, value: string): string | undefined {
  const { context, statement } = part;
  const shape = shapeOf(value);
  if (!shape.includes("#") || isOver(part)) return undefined;
  const same = context.known.filter(
    ({ status, claim }) =>
      status === "current" &&
      claim?.subject === statement.subject.path &&
      claim.relation === relation &&
      claim.value.toLowerCase() !== value.toLowerCase() &&
      shapeOf(claim.value) === shape,
  );
  return same.length === 1 ? same[0]?.id : undefined;
}

const COUNTED = /\b(?:\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/gi;

/** A value with its numbers made alike: "about five hours" and "seven hours". */
function shapeOf(value: string): string {
  return value
    .toLowerCase()
    .replace(/^(?:about|around|only|just|nearly|almost|roughly|an?|the) /, "")
    .replace(COUNTED, "#");
}

const SCHOOL =
  /\b(?:school|nursery|college|university|uni|primary|academy|kindergarten|preschool|high|secondary|grammar|daycare|creche)\b/i;

/** "she goes to Hillside now": ends the one before it. */
function replacedNow(part: Part, relation: string, value: string): { replaces?: { ids: string[] } } {
  const { context, statement } = part;
  const measured = measuredBefore(part, relation, value);
  if (measured) return { replaces: { ids: [measured] } };
  if (!ONE_NOW.has(relation)) return {};
  const slot = context.known.filter(
    ({ status, claim }) =>
      status === "current" &&
      claim?.subject === statement.subject.path &&
      claim.relation === relation &&
      claim.value.toLowerCase() !== value.toLowerCase(),
  );
  const schools =
    relation === "go to" && SCHOOL.test(value)
      ? slot.filter(({ claim }) => SCHOOL.test(claim?.value ?? ""))
      : [];
  const words = context.content.slice(statement.start, statement.end + 14);
  const begins = statement.clause.verb.chain.some(({ verb }) => verb === "start" || verb === "begin");
  const isBegun =
    begins && slot.length === 0
      ? context.known.filter(
          ({ status, claim }) =>
            status === "current" &&
            claim?.subject === statement.subject.path &&
            claim.relation === relation &&
            claim.value.toLowerCase() === value.toLowerCase(),
        )
      : [];
  if (isBegun.length === 1) return { replaces: { ids: isBegun.map(({ id }) => id) } };
  const isNow = /\b(?:now|these days|nowadays)\b/i.test(words) && !isOver(part) && slot.length === 1;
  const ids = (isNow ? slot : schools).map(({ id }) => id);
  return ids.length > 0 ? { replaces: { ids } } : {};
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
    (to - from > 1 && ["stuff", "things", "ones"].includes(last.lower) && to - from < 3)
  );
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
function splitItems(part: Part, phrase: Phrase): (readonly [number, number])[] {
  // "between nine and eleven" is one stretch.
  if (phrase.head === "between") return [[phrase.items[0]?.[0] ?? phrase.from, phrase.to]];
  if (
    phrase.items.length > 1 &&
    part.statement.clause.verb.tense === "past" &&
    part.tokens.slice(phrase.from, phrase.to).some(({ lower }) => lower === "or")
  ) {
    return [[phrase.from, phrase.to]];
  }
  // Among people nothing is gained where each part can end by itself, and what they share would be lost.
  if (isAmongPeople(part.context) && sharesEnd(part, phrase))
    return [[phrase.items[0]?.[0] ?? phrase.from, phrase.to]];
  const [first, ...others] = phrase.items;
  // "both football and cricket"
  if (first && others.length > 0 && part.tokens[first[0]]?.lower === "both" && first[1] - first[0] > 1)
    return [[first[0] + 1, first[1]], ...others];
  return phrase.items.length > 1
    ? [...phrase.items]
    : [[phrase.from, phrase.to] as const].map(([from, to]) => [phrase.items[0]?.[0] ?? from, to] as const);
}

/** "I work as a cook at the harbour": the place is a claim of its own. */
function workplace(part: Part): AddProposal[] {
  const { context, tokens, statement, phrases } = part;
  const where = phrases.find(({ kind, head }) => kind === "preposition" && (head === "at" || head === "for"));
  if (!where) return [];
  const value = said(context, tokens, where.items[0]?.[0] ?? where.from, where.to);
  return [
    adding(context, place(part), {
      text: compose(statement.subject.display, "works at", value),
      claim: claimOf(statement.subject.path, "work at", value),
    }),
  ];
}

function relationNamed(part: Part, base: string, isPastState: boolean): string {
  const { verb } = part.statement.clause;
  if (isPastState) return `used to ${base}`;
  const deny = /^(not|never) /.exec(base);
  const bare = deny ? base.slice(deny[0].length) : base;
  const plain = bare.replace(/^get (?=to \S)/, "have got ").replace(/^have get/, "have");
  const named = canonicalRelation(
    verb.passive && !plain.startsWith("be ") && verb.chain.length === 0
      ? `be ${participle(part)} ${plain.split(" ").slice(1).join(" ")}`.trim()
      : plain,
  );
  return deny ? `${deny[1]} ${named}` : named;
}

function participle({ statement }: Part): string {
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
  part: Part,
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
