import type { Claim } from "../../domain/memory.ts";
import type { Proposal } from "../../ports/extractor.ts";
import { type Change, fromThen, newThing, place, sayIso } from "./change.ts";
import { adding, type Context, claimOf, said, tidy } from "./context.ts";
import { momentOf, type SaidDate } from "./dates.ts";
import { type Entity, isHuman } from "./entities.ts";
import { sentenceOf } from "./parts.ts";
import type { Phrase } from "./phrases.ts";
import { compose } from "./sentence.ts";
import { type Held, held, targetOf, telling } from "./targets.ts";

// --- names, places, days, sums ---------------------------------------------------------------------------------
const RENAMES: readonly RegExp[] = [
  /\b(?:chang\w*|legally chang\w*) (?:my|his|her|its|their) (?:\w+ )?name (?:from .+? )?to (?<name>.+)$/i,
  /\b(?:renam\w*|rechristen\w*) (?:(?:him|her|it|them|himself|herself|itself|themselves|my \w+|the \w+) )?(?:from .+? )?(?:to |as )?(?<name>\p{Lu}.*)$/u,
  /\b(?:goes|go|went|going) by (?<name>\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)?)/u,
  /\b(?:now called|called|known as|is now named) (?<name>\p{Lu}.*?) (?:now|these days|from now on)\b/u,
  /\b(?:she|he|it|they|[\p{Lu}]\w+)['’]?(?:s|re| is| are) (?:now (?<name>\p{Lu}[\p{L}'’-]*)|(?<other>\p{Lu}[\p{L}'’-]*) now)$/u,
];

/** "she's Ines now", "we renamed him Bruno". */
export function renamed(change: Change): Proposal[] | undefined {
  const { context, statement, text } = change;
  const raw = context.content.slice(statement.start, statement.end).replace(/[\s,.!]+$/, "");
  for (const pattern of RENAMES) {
    const found = pattern.exec(raw) ?? pattern.exec(text);
    const name =
      tidy(found?.groups?.name ?? found?.groups?.other ?? "").split(
        /[,.]| now\b| because | after | since /,
      )[0] ?? "";
    if (name === "") continue;
    const entity = renamedEntity(change);
    if (!entity) return undefined;
    const old = held(context).filter(
      ({ claim }) => claim.subject === entity.path && claim.relation === "be called",
    );
    const target = targetOf(old);
    const path =
      entity.path.includes(" ") && entity.name && entity.path.endsWith(entity.name)
        ? entity.path.slice(0, -entity.name.length - 1)
        : entity.path;
    return [
      adding(context, place(change), {
        text: compose(bareDisplay(entity), "is called", name),
        claim: claimOf(path, "be called", name),
        holds: "one",
        importance: 0.8,
        ...(target ? { replaces: target } : {}),
        ...fromThen(change),
      }),
    ];
  }
  return undefined;
}

function bareDisplay(entity: Entity): string {
  return entity.name && entity.display.endsWith(` ${entity.name}`)
    ? entity.display.slice(0, -entity.name.length - 1)
    : entity.display;
}

/** Whose name it is: what the clause renames, or whom it says of that they are called so. */
function renamedEntity(change: Change): Entity | undefined {
  const { clause, subject } = change.statement;
  if (clause.verb.lemma === "change") return namedAnew(change);
  if (clause.verb.lemma !== "rename" && !/chang/.test(clause.verb.lemma)) return subject;
  const item = change.phrases.find(({ kind }) => kind === "noun")?.items[0];
  const first = item && clause.tokens[item[0]];
  if (!item || !first) return subject;
  const { discourse } = change.context;
  if (first.class === "pronoun") return discourse.meantBy(first.lower);
  if (first.class !== "possessive" && first.class !== "determiner") return subject;
  let end = item[0] + 1;
  while (end < item[1] && !/^\p{Lu}/u.test(clause.tokens[end]?.word ?? "A")) end += 1;
  return discourse.resolve(clause.tokens, item[0], Math.max(end, item[0] + 2));
}

/** "changed my name", "she changed her name". */
function namedAnew({ context, statement: { subject }, text }: Change): Entity | undefined {
  const possessive = /\b(my|his|her|its|their) (?:\w+ )?name/i.exec(text)?.[1]?.toLowerCase() ?? "my";
  if (possessive === "my") return subject;
  return subject.path === context.discourse.speaker.path ? context.discourse.meantBy(possessive) : subject;
}

const MOVES = new Set([
  "move",
  "relocate",
  "emigrate",
  "resettle",
  "move in",
  "move out",
  "settle",
  "move away",
  "move back",
  "settle down",
]);

/** "we moved to Leeds last weekend": where one lives from then on. A move ahead is a plan. */
export function moved(change: Change): Proposal[] | undefined {
  const { context, statement } = change;
  const { verb, tokens } = statement.clause;
  if (!MOVES.has(verb.lemma) || verb.denied || verb.chain.length > 0) return undefined;
  const mover = moverIn(change);
  if (!mover) return undefined;
  const company = verb.lemma === "move in" ? movedInWith(change) : undefined;
  if (company) return company;
  const target = whereTo(change);
  if (!target || (verb.progressive && !verb.perfect)) return undefined;
  const item = target.items[0];
  if (!item) return undefined;
  const where = said(context, tokens, ...item);
  const isInto = /^in/.test(target.head ?? "") && verb.lemma === "move in";
  if (isInto || !/^(?:\p{Lu}|(?:the|a|an|my|our|The|A|An|My|Our) )/u.test(where)) return undefined;
  const isThing = /^(?:the|a|an|my|our) /i.test(where);
  const rest = said(context, tokens, ...statement.clause.rest);
  return [
    adding(context, place(change), {
      text: sentenceOf({ context, statement, dates: change.dates }, rest),
      claim: claimOf(mover.path, isThing && !/\p{Lu}/u.test(where) ? "live at" : "live in", where),
      holds: "one",
      kind: "fact",
      importance: 0.8,
      ...fromThen(change),
    }),
  ];
}

function whereTo({ phrases }: Change): Phrase | undefined {
  return phrases.find(
    ({ kind, head }) =>
      kind === "preposition" &&
      /^(?:to|into|over to|out to|up to|down to|back to|in|in to|across to)$/.test(head ?? ""),
  );
}

/** Who lives elsewhere now: the mover, or whom somebody moved; "moved my account to Triodos" is about neither. */
function moverIn({ context, statement, phrases }: Change): Entity | undefined {
  const [first] = phrases;
  if (first?.kind !== "noun") return statement.subject.animate ? statement.subject : undefined;
  const item = first.items[0];
  const moved = item && context.discourse.resolve(statement.clause.tokens, ...item);
  return moved && isHuman(moved) ? moved : undefined;
}

/** "I've moved in with my boyfriend": with whom one lives from then on. */
function movedInWith(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens, rest } = statement.clause;
  const item = phrases.find(({ kind, head }) => kind === "preposition" && head === "with")?.items[0];
  if (!item || (verb.tense !== "past" && !verb.perfect)) return undefined;
  const whom = said(context, tokens, ...item);
  const old = held(context).filter(
    ({ claim }) =>
      claim.subject === statement.subject.path && claim.relation === "live with" && claim.value !== whom,
  );
  const target = targetOf(old);
  const [date] = change.dates;
  return [
    adding(context, place(change), {
      text: sentenceOf({ context, statement, dates: change.dates }, said(context, tokens, ...rest)),
      claim: claimOf(statement.subject.path, "live with", whom),
      importance: 0.8,
      ...(target ? { replaces: target } : {}),
      ...(date ? { when: date.iso } : {}),
      ...fromThen(change),
    }),
  ];
}

/** "they moved my desk to the fifth floor", "my class was moved to room 4": where a thing is from then on. */
export function placed(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens } = statement.clause;
  if (!/^(?:move|shift|relocate|transfer|put)$/.test(verb.lemma) || verb.denied) return undefined;
  const target = phrases.find(
    ({ kind, head }) => kind === "preposition" && /^(?:to|into|in|on)$/.test(head ?? ""),
  );
  const item = target?.items[0];
  const thing = item && movedThing(change);
  if (!item || !thing || thing.animate || thing.path === context.discourse.speaker.path) return undefined;
  const old = held(context).filter(
    ({ claim }) =>
      sameThing(claim.subject, thing.path) && /^be (?:in|on|at|near|by|under|behind)$/.test(claim.relation),
  );
  const [first] = old;
  if (!first) return undefined;
  const where = said(context, tokens, ...item);
  const joint = jointFor(where, first.claim.relation.slice(3));
  const replaced = targetOf(old);
  return [
    adding(context, place(change), {
      text: compose(thing.display, thing.plural ? "are" : "is", joint, where),
      claim: claimOf(first.claim.subject, `be ${joint}`, where),
      holds: "one",
      importance: 0.6,
      ...(replaced ? { replaces: replaced } : {}),
      ...fromThen(change),
    }),
  ];
}

/** "on the fifth floor", "in room 4". */
function jointFor(where: string, old: string): string {
  if (/\b(?:floor|shelf|wall|desk|balcony|roof|table)\b/i.test(where)) return "on";
  return /\b(?:room|garage|cellar|basement|kitchen|drawer|cupboard|box|shed|attic|bag)\b/i.test(where)
    ? "in"
    : old;
}

const RESCHEDULES =
  /\b(?:mov|push|postpon|reschedul|extend|adjourn|brought forward|bring forward|shift|delay|chang|bump|put|set)(?:e|ed|d|back|ing|ped)?\b(?: (?:my|our|the|his|her|their) [\w' -]+?)?(?: (?:back|forward|off|out|up))?(?: from .+?)? (?:to|until|till|for|by)\b/i;

/** "to Friday", "until 6pm": a new day or hour without a date. */
const SPOKEN_DAY =
  /\b(?:to|until|till|for) (?:the )?(?<day>(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|afternoons?|evenings?|weekends?)(?: .*)?|\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|o['’]clock)?)$/i;

/** "The party got moved to 22 June", "they pushed my exam to Friday". */
export function rescheduled(change: Change): Proposal[] | undefined {
  const { context, statement, text, dates } = change;
  const spoken = SPOKEN_DAY.exec(text)?.groups?.day;
  const found = RESCHEDULES.exec(text);
  if (!found || (dates.length === 0 && spoken === undefined)) return undefined;
  const date = dates.at(-1);
  if (date && spoken === undefined && isFarBehind(text, found, date)) return undefined;
  const thing = ownThing(change, movedThing(change));
  if (!thing) return undefined;
  const value = date
    ? context.content.slice(statement.start + date.start, statement.start + date.end)
    : (spoken ?? "");
  const old = dated(context, thing);
  const target = targetOf(old);
  const verb = /^\d/.test(value) && !date ? "is at" : "is on";
  return [
    adding(context, place(change), {
      text: compose(thing.display, companyOf(old[0]?.claim), verb, date ? sayIso(date.iso) : value),
      claim: claimOnDay(thing, old[0]?.claim, value),
      holds: "one",
      kind: date ? "event" : "fact",
      importance: 0.7,
      ...(date ? { when: date.iso } : {}),
      ...(target ? { replaces: target } : {}),
    }),
  ];
}

/** "moved to Canal Street last month": a place, and when that was. */
function isFarBehind(text: string, found: RegExpExecArray, date: SaidDate): boolean {
  const behind = found.index + found[0].length;
  return (
    date.start - behind > 16 ||
    (/^\s*\p{Lu}\p{L}+ \p{Lu}/u.test(text.slice(behind)) && date.start > behind + 4)
  );
}

function ownThing({ context }: Change, thing: Entity | undefined): Entity | undefined {
  return thing && !thing.animate && thing.path !== context.discourse.speaker.path ? thing : undefined;
}

/** What was moved: the object that somebody moved, or the subject that "got moved". */
function movedThing({ context, statement, phrases }: Change): Entity | undefined {
  const { tokens, verb } = statement.clause;
  const object = phrases.find(
    ({ kind, items }) => kind === "noun" && items[0] && tokens[items[0][0]]?.class !== "pronoun",
  )?.items[0];
  const byOthers = /^(?:get|have|be)$/.test(verb.lemma) || verb.passive;
  const isObject = object && (!byOthers || verb.lemma === "have");
  return isObject ? context.discourse.resolve(tokens, ...object) : statement.subject;
}

/** What is known of the thing's day; else what has a day and names the thing. */
function dated(context: Context, thing: Entity): Held[] {
  const all = held(context);
  const own = all.filter(
    ({ claim, memory }) =>
      sameThing(claim.subject, thing.path) &&
      (/^be (?:on|due|at)/.test(claim.relation) ||
        memory?.when !== undefined ||
        (claim.relation === "be" &&
          /^(?:at |around )?(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|noon|midnight)/i.test(
            claim.value,
          ))),
  );
  if (own.length > 0) return own;
  const name = telling(thing.path.split("/").at(-1) ?? "");
  return all.filter(({ memory, claim }) => {
    if (memory?.when === undefined) return false;
    const words = telling(`${claim.value} ${claim.subject}`);
    return name.every((word) => words.includes(word));
  });
}

/** "with Mr Lambert", without the day and hour that were said behind it: an event that is moved keeps its company. */
function companyOf(claim: Claim | undefined): string {
  const company = /\b(?:with|for|about) .*$/i.exec(claim?.qualifier ?? "")?.[0] ?? "";
  return company
    .replace(/,? (?:on|at|in|this|next|tomorrow|today|tonight|until|from|by) .*$/i, "")
    .replace(/ (?:tomorrow|today|tonight)$/i, "");
}

/** An event keeps its claim and changes its day; of a thing the day is the claim. */
function claimOnDay(thing: Entity, old: Claim | undefined, value: string): Claim {
  if (old?.relation === "be") return claimOf(old.subject, "be", value);
  if (old && !/^be /.test(old.relation)) return claimOf(old.subject, old.relation, old.value, companyOf(old));
  return claimOf(old?.subject ?? thing.path, old?.relation ?? "be on", value);
}

function sameThing(one: string, other: string): boolean {
  const a = telling(one.split("/").at(-1) ?? "");
  const b = telling(other.split("/").at(-1) ?? "");
  return (
    a.length > 0 &&
    b.length > 0 &&
    (a.every((word) => b.includes(word)) || b.every((word) => a.includes(word)))
  );
}

const CHANGED = /\bchang(?:ed|es) (?:from \S+ )?to (?<value>\S.*)$/i;
const RISES =
  /\b(?:went|gone|go|goes|going|rose|risen|rise|jumped|increased|dropped|fell|fallen|shot|climbed|came|come|been (?:raised|increased|cut|bumped|upped|lowered|reduced)|got (?:raised|bumped|cut|increased|upped|reduced)|(?:is|are|was|'s) (?:raised|bumped|cut|increased|upped|up|down|reduced)|raised|bumped|upped|put|changed|changing)\b(?: (?:up|down|all the way|(?:my|our|the|his|her|their) [\w' -]+?|back))*(?: from \S+(?: \S+)?)? to (?<value>(?:about |around |over )?[£$€]?\d.*)$/i;

/** "my salary went up to 61k". */
export function risen(change: Change): Proposal[] | undefined {
  const { context, statement, text, phrases } = change;
  const { tokens, verb } = statement.clause;
  const said = RISES.exec(text) ?? (verb.lemma === "change" && !verb.denied ? CHANGED.exec(text) : undefined);
  const value = tidy(said?.groups?.value?.split(/,(?!\d)| because | from | since | as of | so /)[0] ?? "");
  if (value === "") return undefined;
  const object = phrases.find(({ kind }) => kind === "noun")?.items[0];
  const transitive =
    !verb.passive && /^(?:raise|bump|up|put|increase|cut|change)$/.test(verb.lemma) && object;
  const thing = transitive ? context.discourse.resolve(tokens, ...object) : statement.subject;
  if (!thing || thing.animate || thing.path === context.discourse.speaker.path) return undefined;
  const paid = paidFor(change, thing, value);
  if (paid) return [paid];
  return [
    adding(context, place(change), {
      text: compose(thing.display, "is", value),
      claim: claimOf(thing.path, "be", value),
      holds: "one",
      importance: 0.7,
      ...fromThen(change),
    }),
  ];
}

/** "my phone's gone up to 15 a month", where the user pays 12 for it. */
function paidFor(change: Change, thing: Entity, value: string): Proposal | undefined {
  const { context } = change;
  const noun = telling(thing.path.split("/").at(-1) ?? "");
  const old = held(context).find(
    ({ claim, memory }) =>
      memory !== undefined &&
      /^(?:pay|pay for|spend|cost)$/.test(claim.relation) &&
      /\d/.test(claim.value) &&
      noun.length > 0 &&
      noun.every((word) => telling(claim.qualifier ?? "").includes(word)),
  );
  const sum = /[£$€]?\d[\d.,]*/.exec(value)?.[0];
  const target = old && targetOf([old]);
  if (!old?.memory || !target || sum === undefined) return undefined;
  const swap = (text: string): string => text.replace(/[£$€]?\d[\d.,]*/, sum);
  return adding(context, place(change), {
    text: swap(old.memory.text),
    claim: { ...old.claim, value: swap(old.claim.value) },
    replaces: target,
    ...fromThen(change),
  });
}

const JOINS =
  /\b(?:start(?:ed|ing)?(?: (?:work(?:ing)?|a (?:new )?job|my new job))?|got (?:a|the|my)(?: new)? (?:job|position|role|gig)|landed (?:a|the)(?: new)? (?:job|role)|join(?:ed|ing)?|hired|new job|took (?:a|the)(?: new)? (?:job|position|role)|accepted (?:a|the)(?: new)? (?:job|position|role|offer))(?: (?:as (?:an?|the) [\w -]+?))?(?: (?:at|for|with|by|from))? (?<where>\p{Lu}.*)$/u;

/** "I started at Fernhill last week", "got a job at Acme". */
export function employed(change: Change): Proposal[] | undefined {
  const { context, statement, text } = change;
  const { verb } = statement.clause;
  if (verb.denied || verb.progressive || (verb.tense === "present" && !verb.perfect)) return undefined;
  if (!/^(?:start|get|land|join|hire|take|accept|have)$/.test(verb.lemma)) return undefined;
  const found = JOINS.exec(text)?.groups?.where;
  if (
    found === undefined ||
    (verb.lemma === "start" &&
      !/\b(?:start\w*)(?: (?:work\w*|a (?:new )?job|my new job))? (?:at|for|with)\b|as an? /i.test(text))
  )
    return undefined;
  if (
    verb.lemma === "join" &&
    !/\b(?:Ltd|Inc|GmbH|Bank|Hospital|School|Clinic|Labs?|Studio|Group|University|Partners)\b|as an? /.test(
      text,
    )
  )
    return undefined;
  const where = newThing(found).split(/ (?:as|on|in|doing|last|this) /)[0] ?? "";
  if (where === "") return undefined;
  const title = /\bas (an? [\w -]+?)(?: (?:at|for|with|in)\b|$|,)/i.exec(text)?.[1];
  const subject = statement.subject;
  const proposals = [
    adding(context, place(change), {
      text: compose(subject.display, "works at", where),
      claim: claimOf(subject.path, "work at", where),
      importance: 0.8,
      ...fromThen(change),
    }),
  ];
  if (title)
    proposals.push(
      adding(context, place(change), {
        text: compose(subject.display, "works as", title),
        claim: claimOf(subject.path, "work as", title),
        importance: 0.8,
        ...fromThen(change),
      }),
    );
  return proposals;
}

/** "we got engaged", "I married Sam". */
export function wed(change: Change): Proposal[] | undefined {
  const { context, statement, text } = change;
  const found =
    /\b(?:got|get|am|'m|were|was|are|is|have|has|'ve)?\s*\b(?<state>married|engaged)\b(?: to)?(?: (?<whom>(?:my )?[\p{L} '’-]+?))?(?: (?:last|this|in|on|yesterday|at|today|over|two|three|a|\d).*)?$/iu.exec(
      text,
    );
  const { verb } = statement.clause;
  if (
    !found?.groups ||
    verb.tense === "future" ||
    verb.progressive ||
    verb.chain.length > 0 ||
    !/^(?:get|marry)$/.test(verb.lemma)
  )
    return undefined;
  const whom = tidy(found.groups.whom ?? "").replace(/^(?:on|in|at|by|for|during|over)\b.*$/i, "");
  const married = found.groups.state?.toLowerCase() === "married";
  const relation = married ? "be married to" : "be engaged to";
  return [
    adding(context, place(change), {
      text: sentenceOf(
        { context, statement, dates: change.dates },
        said(context, statement.clause.tokens, ...statement.clause.rest),
      ),
      claim:
        whom === ""
          ? claimOf(statement.subject.path, "be", married ? "married" : "engaged")
          : claimOf(statement.subject.path, relation, whom),
      importance: 0.9,
      ...(change.dates[0]
        ? { when: change.dates[0].iso, validFrom: momentOf(change.dates[0].iso, change.context.message.zone) }
        : {}),
    }),
  ];
}

/** "I just turned 35". */
export function aged(change: Change): Proposal[] | undefined {
  const { context, statement, text } = change;
  const age = /\bturn(?:ed|s)? (\d{1,3})\b/i.exec(text)?.[1];
  const { verb } = statement.clause;
  if (!age || verb.lemma !== "turn" || verb.tense === "future" || (verb.tense === "present" && !verb.perfect))
    return undefined;
  return [
    adding(context, place(change), {
      text: compose(statement.subject.display, "is", age, "years old"),
      claim: claimOf(statement.subject.path, "be aged", age),
      importance: 0.7,
    }),
  ];
}
