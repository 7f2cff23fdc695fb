import type { Proposal } from "../../../../ports/language/extractor.ts";
import { ENDING_VERBS, TEMPORARY_ENDING_VERBS } from "../../ending-verbs.ts";
import { toCanonicalRelation } from "../../relations/relations.ts";
import { getStatementSpan, verbPhrase } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { ending, said } from "../context.ts";
import { held, meant, targetOf, telling } from "../forgetting/targets.ts";
import { type Change, endedAt, owner } from "./change.ts";
import { endAll, namesIn } from "./end-all.ts";
import { event, gerundIn } from "./ending-event.ts";

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
  return endAll(change, namesIn(change, first), toCanonicalRelation(relation), true);
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
  return target && [ending(context, getStatementSpan(change), target, endedAt(change))];
}

/** "my mum and I don't talk anymore": the other one. */
function partnerIn({ context, statement }: Change): string | undefined {
  const { subject, tokens } = statement.clause;
  if (!subject || subject[1] - subject[0] < 3) return undefined;
  const text = said(context, tokens, ...subject);
  const other = text.replace(/^(?:me|I) and /i, "").replace(/ and (?:I|me)$/i, "");
  return other === text ? undefined : other;
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
  const relation = toCanonicalRelation(
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
  const ended = target ? [ending(context, getStatementSpan(change), target, endedAt(change))] : [];
  return [...ended, event(change, stop, relation)];
}

const BEFORE_ENDERS = new Set(["have", "decide", "finally", "manage", "get", "need"]);

/** "I need to return the books by Friday": not done yet. */
function isAhead({ chain, tense, perfect }: Change["statement"]["clause"]["verb"]): boolean {
  return chain.length > 0 && tense !== "past" && !perfect;
}

/** "I let the storage unit go": what was let go. */
function isLetGo({ tokens, verb, rest }: Change["statement"]["clause"]): boolean {
  return (
    verb.lemma === "let" &&
    !verb.denied &&
    !verb.modal &&
    !isAhead(verb) &&
    tokens.slice(...rest).some(({ lower }) => lower === "go" || lower === "lapse" || lower === "expire")
  );
}

/** A verb that ends something, told of as done: "quit" and "cut out" look the same in the present. */
function isEnder(verb: Change["statement"]["clause"]["verb"]): boolean {
  // "I can quit if this sticks"
  if (!ENDERS.has(verb.lemma) || verb.modal) return false;
  if (verb.chain.length > 0)
    return !isAhead(verb) && verb.chain.every(({ verb: name }) => BEFORE_ENDERS.has(name));
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

const ENDERS: ReadonlySet<string> = new Set([...ENDING_VERBS, ...TEMPORARY_ENDING_VERBS]);

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
  return target ? [ending(context, getStatementSpan(change), target, endedAt(change))] : [];
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
