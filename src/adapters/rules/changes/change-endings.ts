import { pastTense } from "../../../domain/english.ts";
import type { Claim } from "../../../domain/memory.ts";
import { OTHER_ENDERS, PARTING_VERBS } from "../../../domain/parting.ts";
import { canonicalRelation } from "../../../domain/relations.ts";
import type { AddProposal, Proposal } from "../../../ports/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { sentenceOf, verbPhrase } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, ending, type Statement, said, thirdPerson } from "../context.ts";
import { type Held, held, meant, targetOf, telling } from "../forgetting/targets.ts";
import { type Change, endedAt, owner, place, sayIso, thirdRelation } from "./change.ts";
import { endings } from "./members.ts";

// --- endings ---------------------------------------------------------------------------------------------------
const NO_LONGER = /\b(?:any ?more|any longer|no longer|these days|no more)\b/i;

/** "I don't use Padlet anymore", "I'm not a barista any more". */
export function noLonger(change: Change): Proposal[] | undefined {
  const { context, statement, sentence } = change;
  const { clause } = statement;
  const { verb } = clause;
  const words = context.content.slice(statement.start, statement.end + 12);
  const isDenied =
    (verb.denied !== undefined && NO_LONGER.test(words)) ||
    /\bno longer\b/i.test(words) ||
    (/^\W*(?:\p{L}+['’]?\p{L}* ){1,2}no more\b/iu.test(words) && verb.copula);
  if (!isDenied || !NO_LONGER.test(sentence)) return undefined;
  const base = verbPhrase({ statement }).replace(/^(?:not|never) /, "");
  const telling = change.phrases.filter(
    ({ kind }) => kind === "noun" || kind === "preposition" || kind === "adjective",
  );
  const [first] = telling;
  const relation =
    first?.kind === "preposition" || (first?.kind === "adjective" && first.head)
      ? `${base} ${first.head}`
      : base;
  const noLongerOne = verb.copula ? nameEnded(change, first) : undefined;
  if (noLongerOne) return noLongerOne;
  const partner = telling.length === 0 ? partnerIn(change) : undefined;
  if (partner !== undefined) return endAll(change, [partner], undefined, false);
  return endAll(change, namesIn(change, first), canonicalRelation(relation), true);
}

/** "Bluefin isn't a client anymore": whoever bears that noun and name. */
function nameEnded(change: Change, phrase: Phrase | undefined): Proposal[] | undefined {
  const { context, statement } = change;
  const { subject, clause } = statement;
  const noun =
    phrase?.kind === "noun"
      ? said(context, clause.tokens, phrase.from, phrase.to).split(" ").at(-1)
      : undefined;
  const thing = subject.path.split("/").at(-1) ?? "";
  if (noun === undefined || !subject.path.includes("/") || !thing.split(" ").includes(noun)) return undefined;
  const naming = held(context).filter(
    ({ claim }) => claim.subject === subject.path && claim.relation === "be called",
  );
  const target = targetOf(naming);
  return target && [ending(context, place(change), target, endedAt(change))];
}

/** "my mum and I don't talk anymore": the other one. */
function partnerIn({ context, statement }: Change): string | undefined {
  const { subject, tokens } = statement.clause;
  if (!subject || subject[1] - subject[0] < 3) return undefined;
  const text = said(context, tokens, ...subject);
  const other = text.replace(/^(?:me|I) and /i, "").replace(/ and (?:I|me)$/i, "");
  return other === text ? undefined : other;
}

/** The things a phrase names, one by one. */
function namesIn(change: Change, phrase: Phrase | undefined): string[] {
  const { context, statement } = change;
  const { tokens, rest } = statement.clause;
  if (!phrase) return [said(context, tokens, ...rest)];
  const items = phrase.items.length > 0 ? phrase.items : [[phrase.from, phrase.to] as const];
  return items.map((item) => said(context, tokens, ...item));
}

/** Ends what is meant by each name; what was never known is kept as it was said. */
function endAll(
  change: Change,
  names: readonly string[],
  relation: string | undefined,
  keepDenial: boolean,
): Proposal[] {
  return names.flatMap((named) => {
    // Whatever ends, who is called what stays so.
    const wanted = { named, isNoName: true, ...owner(change) };
    const exact = relation === undefined ? [] : meant(change.context, { ...wanted, relation });
    const own = exact.length > 0 ? exact : meant(change.context, wanted);
    const found = own.length > 0 ? own : orElse(withThem(change, named), oneByName(change, named));
    const ended = endings(change.context, place(change), found, named, endedAt(change));
    if (ended.length > 0) return ended;
    return relation !== undefined && keepDenial ? [endUnnamed(change, relation, named)] : [];
  });
}

function orElse(found: readonly Held[], others: readonly Held[]): readonly Held[] {
  return found.length > 0 ? found : others;
}

/** "sold Thunder", of two horses that have names: that one, and how many there are. */
function oneByName({ context }: Change, words: string): Held[] {
  const all = held(context);
  const named = words.replace(/ as (?:an?|my|our) .*$/i, "");
  const naming = all.find(
    ({ claim }) =>
      claim.relation === "be called" &&
      claim.value.toLowerCase() === named.toLowerCase() &&
      claim.subject.endsWith(` ${claim.value}`),
  );
  if (!naming) return [];
  const noun =
    naming.claim.subject
      .slice(0, -naming.claim.value.length - 1)
      .split("/")
      .at(-1) ?? "";
  const counted = all.filter(
    ({ claim }) =>
      /^(?:have|own|keep)$/.test(claim.relation) &&
      /^(?:\d+|two|three|four|five|six|seven|eight) /i.test(claim.value) &&
      telling(claim.value).includes(telling(noun)[0] ?? noun),
  );
  return [naming, ...counted];
}

/** "the kids have quit choir", where the user takes the kids to choir. */
function withThem(change: Change, named: string): Held[] {
  const { context, statement } = change;
  const [root, thing, ...more] = statement.subject.path.split("/");
  if (root !== "user" || thing === undefined || more.length > 0) return [];
  const them = telling(thing);
  return meant(context, { named, isNoName: true }).filter(({ claim }) => {
    const words = telling(`${claim.value} ${claim.qualifier ?? ""}`);
    return them.length > 0 && them.every((word) => words.includes(word));
  });
}

/** "I don't smoke anymore": without a name it ends all of the kind; what was never known is kept as it was said. */
function endUnnamed(change: Change, relation: string, named: string): Proposal {
  const { context, statement } = change;
  const isAll = telling(named).length === 0 && relation !== "be" && relation !== "have";
  const all = isAll
    ? held(context).filter(
        ({ claim }) => claim.subject === statement.subject.path && claim.relation.startsWith(relation),
      )
    : [];
  const target = targetOf(all);
  return target ? ending(context, place(change), target, endedAt(change)) : denial(change, relation, named);
}

function denial(change: Change, relation: string, named: string): AddProposal {
  const { context, statement } = change;
  const { verb, tokens, rest } = statement.clause;
  const told = thirdPerson(said(context, tokens, ...rest), context, statement.subject);
  const text = verb.copula
    ? compose(statement.subject.display, "is no longer", told)
    : compose(
        statement.subject.display,
        "no longer",
        `${thirdRelation(relation.split(" ")[0] ?? relation)}`,
        told,
      );
  return adding(context, place(change), {
    text,
    claim: claimOf(statement.subject.path, `not ${relation}`, named),
    kind: "fact",
    holds: "many",
    confidence: 0.8,
  });
}

/** "I stopped learning Welsh", "gave up smoking", "had to quit padel". */
export function stopped(change: Change): Proposal[] | undefined {
  const { verb } = change.statement.clause;
  if (verb.denied) return undefined;
  const link = verb.chain.findLast(({ next }) => next === "gerund");
  if (link && ["stop", "quit", "give up"].includes(link.verb) && verb.tense !== "future") {
    return stoppedDoing(change, link.verb);
  }
  return isEnder(verb) || isLetGo(change.statement.clause) ? stoppedHaving(change) : undefined;
}

/** "stopped learning Welsh": ends what was learnt; without a thing, all of the doing. */
function stoppedDoing(change: Change, stop: string): Proposal[] {
  const { context, statement, phrases } = change;
  const { verb } = statement.clause;
  const first = phrases.find(({ kind }) => kind === "noun" || kind === "preposition");
  const relation = canonicalRelation(
    first?.kind === "preposition" ? `${verb.lemma} ${first.head}` : verb.lemma,
  );
  const names = first ? namesIn(change, first) : [];
  if (names.length > 0) return [...endAll(change, names, relation, false), event(change, stop, relation)];
  const found = held(context).filter(
    ({ claim }) => claim.subject === statement.subject.path && claim.relation.split(" ")[0] === verb.lemma,
  );
  const doing =
    found.length > 0
      ? found
      : meant(context, { named: gerundIn(statement), isNoName: true, ...owner(change) });
  const target = targetOf(doing);
  const ended = target ? [ending(context, place(change), target, endedAt(change))] : [];
  return [...ended, event(change, stop, relation)];
}

const BEFORE_ENDERS = new Set(["have", "decide", "finally", "manage", "get", "need"]);

/** "I let the storage unit go": what was let go. */
function isLetGo({ tokens, verb, rest }: Change["statement"]["clause"]): boolean {
  return (
    verb.lemma === "let" &&
    !verb.denied &&
    tokens.slice(...rest).some(({ lower }) => lower === "go" || lower === "lapse" || lower === "expire")
  );
}

/** A verb that ends something, told of as done: "quit" and "cut out" look the same in the present. */
function isEnder(verb: Change["statement"]["clause"]["verb"]): boolean {
  if (!ENDERS.has(verb.lemma)) return false;
  if (verb.chain.length > 0) return verb.chain.every(({ verb: name }) => BEFORE_ENDERS.has(name));
  const looksSame = ["quit", "cut out"].includes(verb.lemma);
  return verb.tense !== "present" || looksSame || verb.perfect || verb.progressive;
}

/** "sold the Canon", "left my job at Aldi". */
function stoppedHaving(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens, rest } = statement.clause;
  const object = phrases.find(
    ({ kind, head }) =>
      kind === "noun" ||
      (kind === "preposition" && ["from", "of", "with", "to", "on", "out of", "in"].includes(head ?? "")),
  );
  if (!object || isOnce(change, object)) return undefined;
  const whole = said(context, tokens, ...rest);
  const isList = object.items.length > 1;
  const names = isList ? namesIn(change, object) : [wholeName(change, object)];
  const ended = endAll(change, names, relationEndedBy(verb.lemma, whole), false);
  const jobs = ended.length === 0 ? endsJob(change, whole) : [];
  const name = verb.lemma === "let" ? "let go" : verb.lemma;
  return [...ended, ...jobs, event(change, name, name, object)];
}

const ENDERS: ReadonlySet<string> = new Set([...PARTING_VERBS, ...OTHER_ENDERS]);

/** "finished a Swedish lesson": one of many, and the learning goes on. */
function isOnce({ context, statement }: Change, object: Phrase): boolean {
  const { tokens, verb } = statement.clause;
  const isOne = /^an?$/.test(tokens[object.items[0]?.[0] ?? object.from]?.lower ?? "");
  const name = said(context, tokens, object.from, object.to);
  const isPart = /\b(?:lesson|class|session|episode|chapter|shift|game|match|run|workout|book)$/i.test(name);
  return (
    ["finish", "leave", "quit", "stop", "close"].includes(verb.lemma) &&
    (isOne || (isPart && verb.lemma === "finish"))
  );
}

/** What the verb says of the relation that ends; nothing where it can be any. */
function relationEndedBy(lemma: string, rest: string): string | undefined {
  if (lemma === "unsubscribe") return "be subscribed to";
  if (lemma === "sell" || lemma === "donate") return "own";
  if (lemma === "divorce") return "be married to";
  if (/\bjob\b/.test(rest) && /^(?:quit|leave|lose|resign)/.test(lemma)) return "work at";
  return undefined;
}

/** "my job at Aldi", "the gym": object and what hangs on it, without the time and the reason. */
function wholeName(change: Change, object: Phrase): string {
  const { context, statement, phrases } = change;
  const { tokens } = statement.clause;
  const next = phrases[phrases.indexOf(object) + 1];
  const hangs =
    next?.kind === "preposition" &&
    ["at", "with", "to", "of", "for", "in"].includes(next.head ?? "") &&
    object.kind === "noun"
      ? next.to
      : object.to;
  const start = object.items[0]?.[0] ?? object.from;
  const full = said(context, tokens, start, hangs);
  const short = said(context, tokens, start, object.items.at(-1)?.[1] ?? object.to);
  return meant(context, { named: full, ...owner(change) }).length > 0 || telling(short).length === 0
    ? full
    : short;
}

/** "I quit my job": without a name, what one works at and as ends. */
function endsJob(change: Change, rest: string): Proposal[] {
  const { context, statement } = change;
  if (!/\b(?:job|work|position)\b/i.test(rest) || telling(rest).length > 1) return [];
  const found = held(context).filter(
    ({ claim }) => claim.subject === statement.subject.path && /^work (?:at|as|in)$/.test(claim.relation),
  );
  const target = targetOf(found);
  return target ? [ending(context, place(change), target, endedAt(change))] : [];
}

/** What happened, as an event of its own. */
export function event(change: Change, verb: string, relation: string, object?: Phrase): AddProposal {
  const { context, statement, dates } = change;
  const { tokens, rest } = statement.clause;
  const value = object
    ? said(context, tokens, object.items[0]?.[0] ?? object.from, object.to)
    : said(context, tokens, ...rest);
  const [date] = dates;
  const head = verb.split(" ")[0] ?? verb;
  const isGerund = statement.clause.verb.chain.some(({ next }) => next === "gerund");
  return adding(context, place(change), {
    text:
      sentenceOf({ context, statement: inPast(statement), dates }, said(context, tokens, ...rest)) ||
      compose(statement.subject.display, pastTense(head), value),
    claim: claimOf(statement.subject.path, isGerund ? `${verb} ${gerundIn(statement)}` : relation, value),
    kind: "event",
    holds: "many",
    importance: 0.4,
    ...(date ? { when: date.iso } : {}),
  });
}

/** "I quit smoking": of a verb that looks the same, the past is meant. */
function inPast(statement: Statement): Statement {
  const { clause } = statement;
  const { verb } = clause;
  if (verb.tense !== "present" || verb.perfect || verb.progressive || verb.modal) return statement;
  return { ...statement, clause: { ...clause, verb: { ...verb, tense: "past" } } };
}

function gerundIn(statement: Statement): string {
  const { clause } = statement;
  return (
    clause.tokens.slice(clause.verb.from, clause.verb.to).findLast(({ lower }) => /ing$/.test(lower))
      ?.lower ?? clause.verb.lemma
  );
}

const PARTED = new Set([
  "break up",
  "split up",
  "separate",
  "part",
  "split",
  "get divorced",
  "divorce",
  "call off",
  "fall out",
]);

const TOGETHER =
  /^(?:date|see|be (?:with|together with|married to|engaged to|in a relationship with|dating)|go out with|marry|live with)$/;

/** "has a boyfriend" */
function isHavingPartner({ relation, value }: Claim): boolean {
  return (
    relation === "have" && /\b(?:boyfriend|girlfriend|partner|husband|wife|fianc\p{L}*|spouse)$/iu.test(value)
  );
}

/** "Jonas and I broke up last night", "I broke up with Marco". */
export function over(change: Change): Proposal[] | undefined {
  const { context, statement, phrases, dates } = change;
  const { clause } = statement;
  const { verb, tokens } = clause;
  if (!parts(change) || verb.denied || verb.tense === "future") return undefined;
  const partner = partnerOf(change);
  const found = held(context).filter(
    ({ claim }) =>
      (TOGETHER.test(claim.relation) || isHavingPartner(claim)) &&
      (partner === undefined ||
        telling(partner).some((word) => telling(`${claim.value} ${claim.subject}`).includes(word)) ||
        /boyfriend|girlfriend|partner|husband|wife|fianc/.test(claim.value)),
  );
  const target = targetOf(found);
  // "the band split up", "I left Oslo": of nobody who was together with the speaker.
  const isOwn = statement.subject.path === context.discourse.speaker.path;
  if (!target && (!isOwn || partner === undefined || isState(verb.lemma))) return undefined;
  const [date] = dates;
  const who = partner ?? partnerNamed(found)?.replace(/^an? /i, "their ");
  const text = compose(
    statement.subject.display,
    "broke up with",
    who ?? "their partner",
    date ? `on ${sayIso(date.iso)}` : "",
  );
  const relation = /divorc/.test(change.text) ? "divorce" : "break up with";
  return [
    ...(target ? [ending(context, place(change), target, endedAt(change))] : []),
    adding(context, place(change), {
      text,
      claim: claimOf(statement.subject.path, relation, who ?? "their partner"),
      kind: "event",
      holds: "many",
      importance: 0.7,
      ...(date ? { when: date.iso } : {}),
    }),
  ];

  function partnerOf(_change: Change): string | undefined {
    const withWhom = phrases.find(
      ({ kind, head }) => kind === "preposition" && (head === "with" || head === "from"),
    );
    if (withWhom?.items[0]) return said(context, tokens, ...withWhom.items[0]);
    const span = clause.subject;
    if (isState(verb.lemma) && !verb.copula) {
      const object = said(context, tokens, ...clause.rest);
      return /^(?:me|us)\b/i.test(object) ? (statement.subject.name ?? undefined) : object;
    }
    if (span && span[1] - span[0] >= 3) {
      const text = said(context, tokens, ...span);
      return text.replace(/^(?:me|I) and /i, "").replace(/ and (?:I|me)$/i, "");
    }
    return undefined;
  }
}
/** "Jonas and I broke up", "Noemi and I are over", "he dumped me". */
function parts({ statement, text, context }: Change): boolean {
  const { verb, subject, tokens, rest } = statement.clause;
  if (PARTED.has(verb.lemma) || (verb.lemma === "get" && /\bdivorced\b/i.test(text))) return true;
  const isPair = subject !== undefined && subject[1] - subject[0] >= 3;
  if (verb.copula)
    return isPair && /\b(?:over|done|finished|history|through|no longer together)\b/i.test(text);
  const object = said(context, tokens, ...rest);
  return isState(verb.lemma) && (/^(?:me|us)\b/i.test(object) || /^\p{Lu}\p{L}+$/u.test(object));
}

/** Verbs that part people, and things too. */
function isState(lemma: string): boolean {
  return ["dump", "leave", "be"].includes(lemma);
}

function partnerNamed(found: readonly Held[]): string | undefined {
  return found[0]?.claim.value;
}

/** "I left Acme", "we're done with Figma", "I'm through with sugar". */
export function left(change: Change): Proposal[] | undefined {
  const { statement, phrases } = change;
  const { verb } = statement.clause;
  const words = change.text.toLowerCase();
  const done = verb.copula && /\b(?:done|through|finished) with\b|\b(?:off|over)\b/.test(words);
  if (!done || verb.denied) return undefined;
  const phrase = phrases.find(
    ({ kind, head }) =>
      (kind === "preposition" && /with|off|over/.test(head ?? "")) ||
      (kind === "adjective" && head !== undefined),
  );
  if (!phrase || phrase.items.length === 0) return undefined;
  const ended = endAll(change, namesIn(change, phrase), undefined, false);
  return ended.length > 0 ? ended : undefined;
}

/** "our cat Milo died": what was true of it in the present ends with it; that there was a cat stays. */
export function deceased(change: Change): Proposal[] | undefined {
  const { context, statement, dates } = change;
  const { verb } = statement.clause;
  if (!(verb.lemma === "die" || verb.lemma === "pass away") || verb.denied) return undefined;
  if (verb.tense !== "past" && !verb.perfect) return undefined;
  const { subject } = statement;
  if (!subject.animate) return undefined;
  const [date] = dates;
  const thing = subject.path.split("/").at(-1) ?? "";
  const found = held(context).filter(
    ({ claim }) =>
      claim.subject === context.discourse.speaker.path &&
      /^(?:have|own|get|adopt|keep|rescue)$/.test(claim.relation) &&
      telling(thing).every((word) => telling(claim.value).includes(word)),
  );
  const target = subject.path.includes("/") ? targetOf(found) : undefined;
  return [
    ...(target ? [ending(context, place(change), target, endedAt(change))] : []),
    adding(context, place(change), {
      text: compose(subject.display, "died", date ? `on ${sayIso(date.iso)}` : ""),
      claim: claimOf(subject.path, "die", date ? sayIso(date.iso) : ""),
      kind: "event",
      holds: "many",
      importance: 0.8,
      ...(date ? { when: date.iso } : {}),
    }),
  ];
}
