import { pastTense } from "../../domain/english.ts";
import type { Claim } from "../../domain/memory.ts";
import { canonicalRelation } from "../../domain/relations.ts";
import type { AddProposal, Proposal } from "../../ports/extractor.ts";
import { claimsOf, datesOf, sentenceOf, verbPhrase } from "./claims.ts";
import { adding, type Context, claimOf, ending, type Statement, said, thirdPerson, tidy } from "./context.ts";
import { momentOf, type SaidDate } from "./dates.ts";
import type { Entity } from "./entities.ts";
import { type Phrase, phrasesOf } from "./phrases.ts";
import { compose } from "./sentence.ts";
import { type Held, held, meant, targetOf, telling } from "./targets.ts";

/** What a clause ends, swaps or moves; undefined where it changes nothing. */
export function changesOf(context: Context, statement: Statement, sentence: string): Proposal[] | undefined {
  const { verb } = statement.clause;
  if (verb.open || (verb.tense === "future" && !/^(?:switch|replace)/.test(verb.lemma))) return undefined;
  const change: Change = {
    context,
    statement,
    sentence,
    phrases: phrasesOf(statement.clause.tokens, ...statement.clause.rest),
    dates: datesOf(context, statement),
    text: tidy(context.content.slice(statement.start, statement.end)),
  };
  for (const read of [
    swapped,
    renamed,
    moved,
    rescheduled,
    risen,
    employed,
    wed,
    instead,
    noLonger,
    stopped,
    over,
    left,
    aged,
    deceased,
  ]) {
    const proposals = read(change);
    if (proposals) return proposals;
  }
  return undefined;
}

/** What somebody unnamed did to a thing of the user's: "they moved my exam", "the gym raised its fee". */
export function byOthers(context: Context, statement: Statement): Proposal[] | undefined {
  if (statement.clause.verb.open) return undefined;
  const change: Change = {
    context,
    statement,
    sentence: "",
    phrases: phrasesOf(statement.clause.tokens, ...statement.clause.rest),
    dates: datesOf(context, statement),
    text: tidy(context.content.slice(statement.start, statement.end)),
  };
  return rescheduled(change) ?? risen(change);
}

interface Change {
  readonly context: Context;
  readonly statement: Statement;
  readonly sentence: string;
  readonly phrases: readonly Phrase[];
  readonly dates: readonly SaidDate[];
  readonly text: string;
}

function place({ statement }: Change): { start: number; end: number } {
  return { start: statement.start, end: statement.end };
}

function fromThen({ dates }: Change): { validFrom?: string } {
  const [date] = dates;
  return date ? { validFrom: momentOf(date.iso) } : {};
}

function endedAt(change: Change): string | undefined {
  const [date] = change.dates;
  const at = date && momentOf(date.iso);
  return at !== undefined && at <= change.context.message.at ? at : undefined;
}

// --- one thing for another -------------------------------------------------------------------------------------

const SWAPS: readonly RegExp[] = [
  /\b(?:switch|chang|mov|go|went|gone|migrat|convert|transition|jump|graduat|upgrad|downgrad|swap|shift|com|cam)(?:e|ed|d|ing|ped|ping|es|s)?\b(?: (?:over|up|down|across|back|all|everything|completely|my \w+))* from (?<old>.+?) (?:over )?(?:to|onto|into) (?<new>.+)$/i,
  /\b(?:replac)(?:e|ed|es|ing) (?<old>.+?) (?:with|by) (?<new>.+)$/i,
  /\b(?:swap|trad|switch|exchang|ditch|dump|drop|chang|substitut|upgrad|abandon)(?:e|ed|ped|ping|ing|es|s)?\b(?: in| out| up)? (?<old>.+?) (?:for|in favou?r of) (?<new>.+)$/i,
  /\b(?:upgrad|downgrad|chang|switch|convert)(?:e|ed|ing|es|s)? (?<old>my .+?) (?:to|into) (?<new>.+)$/i,
];

/** "switched from FreshBooks to Xero", "replaced coffee with matcha": the new takes the place and the relation of the old. */
function swapped(change: Change): Proposal[] | undefined {
  const { context, text } = change;
  for (const pattern of SWAPS) {
    const found = pattern.exec(text);
    if (!found?.groups) continue;
    const old = tidy(found.groups.old ?? "");
    const fresh = newThing(found.groups.new ?? "");
    if (old === "" || fresh === "" || /^\S+ing\b/.test(fresh)) continue;
    const rivals = meant(context, { named: old, ...owner(change) });
    const [rival] = rivals;
    if (!rival) {
      if (/^(?:\d|[£$€])/.test(fresh)) return undefined;
      return unknownSwap(change, old, fresh);
    }
    return [inherit(change, rivals, rival, old, fresh)];
  }
  return undefined;
}

function owner({ statement, context }: Change): { subject?: string } {
  return statement.subject.path === context.discourse.speaker.path ? {} : { subject: statement.subject.path };
}

/** Up to where something else begins. */
function newThing(text: string): string {
  const cut =
    text.split(
      /,| because | since | as (?:i|my|the|it) | so (?:i|that) | and (?:i|it|we|my) | after | when | for (?:the|my|our|a) (?:\w+ )?(?:health|stomach|sake)| last | this | yesterday| today| in (?:january|february|march|april|may|june|july|august|september|october|november|december)/i,
    )[0] ?? "";
  return tidy(cut).replace(/\s+(?:last|this|next) \w+$/i, "");
}

function inherit(
  change: Change,
  rivals: readonly Held[],
  rival: Held,
  old: string,
  fresh: string,
): AddProposal {
  const claim = withNew(rival.claim, old, fresh);
  const target = targetOf(
    rivals.filter(
      (one) =>
        one.claim.subject === rival.claim.subject &&
        (one.claim.relation === rival.claim.relation || one.claim.value === rival.claim.value),
    ),
  );
  const text = sayClaim(change, claim);
  return adding(change.context, place(change), {
    text,
    claim,
    ...(target ? { replaces: target } : {}),
    ...fromThen(change),
    importance: 0.7,
  });
}

/** The old claim with the new thing where the old one stood. */
function withNew(claim: Claim, old: string, fresh: string): Claim {
  const words = telling(old);
  const holds = (text: string | undefined): boolean =>
    text !== undefined && words.some((word) => telling(text).includes(word));
  if (!holds(claim.value) && holds(claim.qualifier) && claim.qualifier !== undefined) {
    const value = claim.qualifier;
    const pattern = new RegExp(
      `(?:\\b(?:the|a|an|my) )?\\b${escaped(old.replace(/^(?:the|a|an|my) /i, ""))}\\b`,
      "i",
    );
    const qualifier = pattern.test(value) ? value.replace(pattern, fresh) : fresh;
    return { ...claim, qualifier };
  }
  return { ...claim, value: fresh };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** A claim as a sentence about its subject. */
function sayClaim(change: Change, claim: Claim): string {
  const { context, statement } = change;
  const { speaker } = context.discourse;
  const isSpeaker = claim.subject === speaker.path;
  const display = isSpeaker
    ? speaker.display
    : claim.subject === statement.subject.path
      ? statement.subject.display
      : displayOf(claim.subject);
  const verb = thirdRelation(claim.relation);
  const rest = thirdPerson(
    [claim.value, claim.qualifier ?? ""].filter(Boolean).join(" "),
    context,
    isSpeaker ? speaker : statement.subject,
  );
  return compose(display, verb, rest);
}

function thirdRelation(relation: string): string {
  const [head = "", ...rest] = relation.split(" ");
  const forms: Readonly<Record<string, string>> = { be: "is", have: "has", do: "does", go: "goes" };
  if (head === "not")
    return `${rest[0] === "be" ? "is not" : `does not ${rest[0] ?? ""}`} ${rest.slice(1).join(" ")}`.trim();
  const third =
    forms[head] ??
    (/(?:s|x|z|ch|sh)$/.test(head)
      ? `${head}es`
      : /[^aeiou]y$/.test(head)
        ? `${head.slice(0, -1)}ies`
        : `${head}s`);
  return [third, ...rest].join(" ");
}

/** "user/flatmate/parrot" -> "The user's flatmate's parrot". */
export function displayOf(path: string): string {
  const [root = "", ...parts] = path.split("/");
  const first = root === "user" ? "The user" : root;
  return parts.reduce((text, part) => `${text}'s ${part}`, first);
}

/** A swap of something that is not known: what is used now is worth keeping. */
function unknownSwap(change: Change, old: string, fresh: string): Proposal[] | undefined {
  const { context, statement } = change;
  const { lemma } = statement.clause.verb;
  if (
    !/^(?:switch|replace|swap|migrate|trade|ditch|change|convert)/.test(lemma) ||
    statement.clause.verb.denied
  )
    return undefined;
  if (telling(old).length === 0) return undefined;
  return [
    adding(context, place(change), {
      text: sentenceOf(
        { context, statement, dates: change.dates },
        said(context, statement.clause.tokens, ...statement.clause.rest),
      ),
      claim: claimOf(statement.subject.path, "use", fresh, `instead of ${old}`),
      confidence: 0.7,
      ...fromThen(change),
    }),
  ];
}

// --- names, places, days, sums ---------------------------------------------------------------------------------

const RENAMES: readonly RegExp[] = [
  /\b(?:chang\w*|legally chang\w*) (?:my|his|her|its|their) (?:\w+ )?name (?:from .+? )?to (?<name>.+)$/i,
  /\b(?:renam\w*|rechristen\w*) (?:(?:him|her|it|them|himself|herself|itself|themselves|my \w+|the \w+) )?(?:from .+? )?(?:to |as )?(?<name>\p{Lu}.*)$/u,
  /\b(?:goes|go|went|going) by (?<name>\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)?)/u,
  /\b(?:now called|called|known as|is now named) (?<name>\p{Lu}.*?) (?:now|these days|from now on)\b/u,
  /\b(?:she|he|it|they|[\p{Lu}]\w+)['’]?(?:s|re| is| are) (?:now (?<name>\p{Lu}[\p{L}'’-]*)|(?<other>\p{Lu}[\p{L}'’-]*) now)$/u,
];

/** "she's Zelda now", "we renamed him Bruno". */
function renamed(change: Change): Proposal[] | undefined {
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

/** "we moved to Bristol last weekend": where one lives from then on. A move ahead is a plan. */
function moved(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens } = statement.clause;
  if (!MOVES.has(verb.lemma) || verb.denied || verb.chain.length > 0) return undefined;
  const target = phrases.find(
    ({ kind, head }) =>
      kind === "preposition" &&
      /^(?:to|into|over to|out to|up to|down to|back to|in|in to|across to)$/.test(head ?? ""),
  );
  const isPerson = statement.subject.animate;
  if (!target || !isPerson || (verb.progressive && !verb.perfect)) return undefined;
  const item = target.items[0];
  if (!item) return undefined;
  const where = said(context, tokens, ...item);
  if (/^in/.test(target.head ?? "") && verb.lemma === "move in") return undefined;
  if (!/^\p{Lu}/u.test(where) && !/^(?:the|a|an|my|our) /i.test(where)) return undefined;
  const isThing = /^(?:the|a|an|my|our) /i.test(where);
  const rest = said(context, tokens, ...statement.clause.rest);
  return [
    adding(context, place(change), {
      text: sentenceOf({ context, statement, dates: change.dates }, rest),
      claim: claimOf(
        statement.subject.path,
        isThing && !/\p{Lu}/u.test(where) ? "live at" : "live in",
        where,
      ),
      holds: "one",
      kind: "fact",
      importance: 0.8,
      ...fromThen(change),
    }),
  ];
}

const RESCHEDULES =
  /\b(?:mov|push|postpon|reschedul|brought forward|bring forward|shift|delay|chang|bump|put|set)(?:e|ed|d|back|ing|ped)?\b(?: (?:my|our|the|his|her|their) [\w' -]+?)?(?: (?:back|forward|off|out|up))?(?: from .+?)? (?:to|until|till|for|by)\b/i;

/** "to Friday", "until 6pm": a new day or hour without a date. */
const SPOKEN_DAY =
  /\b(?:to|until|till|for) (?:the )?(?<day>(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|afternoons?|evenings?|weekends?)(?: .*)?|\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|o['’]clock)?)$/i;

/** "The party got moved to 22 June", "they pushed my exam to Friday". */
function rescheduled(change: Change): Proposal[] | undefined {
  const { context, statement, text, dates } = change;
  const spoken = SPOKEN_DAY.exec(text)?.groups?.day;
  if (!RESCHEDULES.test(text) || (dates.length === 0 && spoken === undefined)) return undefined;
  const date = dates.at(-1);
  const thing = movedThing(change);
  if (!thing || thing.animate || thing.path === context.discourse.speaker.path) return undefined;
  const value = date
    ? context.content.slice(statement.start + date.start, statement.start + date.end)
    : (spoken ?? "");
  const old = dated(context, thing);
  const target = targetOf(old);
  const verb = /^\d/.test(value) && !date ? "is at" : "is on";
  return [
    adding(context, place(change), {
      text: compose(thing.display, verb, date ? sayIso(date.iso) : value),
      claim: claimOnDay(thing, old[0]?.claim, value),
      holds: "one",
      kind: date ? "event" : "fact",
      importance: 0.7,
      ...(date ? { when: date.iso } : {}),
      ...(target ? { replaces: target } : {}),
    }),
  ];
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
      (/^be (?:on|due)/.test(claim.relation) || memory?.when !== undefined),
  );
  if (own.length > 0) return own;
  const name = telling(thing.path.split("/").at(-1) ?? "");
  return all.filter(({ memory, claim }) => {
    if (memory?.when === undefined) return false;
    const words = telling(`${claim.value} ${claim.subject}`);
    return name.every((word) => words.includes(word));
  });
}

/** An event keeps its claim and changes its day; of a thing the day is the claim. */
function claimOnDay(thing: Entity, old: Claim | undefined, value: string): Claim {
  if (old && !/^be /.test(old.relation)) return claimOf(old.subject, old.relation, old.value);
  return claimOf(old?.subject ?? thing.path, old?.relation ?? "be on", value);
}

function sayIso(iso: string): string {
  const [year, month, day] = iso.slice(0, 10).split("-");
  const names = "January February March April May June July August September October November December".split(
    " ",
  );
  const time = iso.length > 10 ? ` at ${iso.slice(11, 16)}` : "";
  return (
    [day && String(Number(day)), month && names[Number(month) - 1], year].filter(Boolean).join(" ") + time
  );
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

const RISES =
  /\b(?:went|gone|go|goes|going|rose|risen|rise|jumped|increased|dropped|fell|fallen|shot|climbed|came|come|been (?:raised|increased|cut|bumped|upped|lowered|reduced)|got (?:raised|bumped|cut|increased|upped|reduced)|(?:is|are|was|'s) (?:raised|bumped|cut|increased|upped|up|down|reduced)|raised|bumped|upped|put|changed|changing)\b(?: (?:up|down|all the way|(?:my|our|the|his|her|their) [\w' -]+?|back))*(?: from \S+(?: \S+)?)? to (?<value>(?:about |around |over )?[£$€]?\d.*)$/i;

/** "my salary went up to 61k". */
function risen(change: Change): Proposal[] | undefined {
  const { context, statement, text, phrases } = change;
  const value = tidy(
    RISES.exec(text)?.groups?.value?.split(/,(?!\d)| because | from | since | as of | so /)[0] ?? "",
  );
  if (value === "") return undefined;
  const { tokens, verb } = statement.clause;
  const object = phrases.find(({ kind }) => kind === "noun")?.items[0];
  const transitive =
    !verb.passive && /^(?:raise|bump|up|put|increase|cut|change)$/.test(verb.lemma) && object;
  const thing = transitive ? context.discourse.resolve(tokens, ...object) : statement.subject;
  if (!thing || thing.animate || thing.path === context.discourse.speaker.path) return undefined;
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

const JOINS =
  /\b(?:start(?:ed|ing)?(?: (?:work(?:ing)?|a (?:new )?job|my new job))?|got (?:a|the|my)(?: new)? (?:job|position|role|gig)|landed (?:a|the)(?: new)? (?:job|role)|join(?:ed|ing)?|hired|new job|took (?:a|the)(?: new)? (?:job|position|role)|accepted (?:a|the)(?: new)? (?:job|position|role|offer))(?: (?:as (?:an?|the) [\w -]+?))?(?: (?:at|for|with|by|from))? (?<where>\p{Lu}.*)$/u;

/** "I started at Fernhill last week", "got a job at Acme". */
function employed(change: Change): Proposal[] | undefined {
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
function wed(change: Change): Proposal[] | undefined {
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
  const whom = tidy(found.groups.whom ?? "");
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
      ...(change.dates[0] ? { when: change.dates[0].iso, validFrom: momentOf(change.dates[0].iso) } : {}),
    }),
  ];
}

/** "I use Y instead of X": X goes. */
function instead(change: Change): Proposal[] | undefined {
  const { context, text } = change;
  const found = /^(?<head>.+?) instead of (?<old>.+)$/i.exec(text);
  if (!found?.groups) return undefined;
  const old = newThing(found.groups.old ?? "").replace(
    /^(?:taking|using|driving|drinking|eating|having|going to|playing|riding|reading|watching|doing|getting|buying|wearing) /i,
    "",
  );
  const rivals = meant(context, { named: old, ...owner(change) });
  const [rival] = rivals;
  if (!rival) return undefined;
  const { clause } = change.statement;
  const object = change.phrases.find(({ kind }) => kind === "noun" || kind === "preposition");
  const item = object?.items[0];
  if (!item || clause.verb.denied) return undefined;
  const target = targetOf(rivals);
  if (verbPhrase({ statement: change.statement }).split(" ")[0] !== rival.claim.relation.split(" ")[0]) {
    const [first, ...others] = claimsOf(context, change.statement);
    return first && [target ? { ...first, replaces: target } : first, ...others];
  }
  const fresh = said(context, clause.tokens, ...item).replace(/ instead of .*$/i, "");
  return [inherit(change, rivals, rival, found.groups.old ?? "", fresh)];
}

// --- endings ---------------------------------------------------------------------------------------------------

const NO_LONGER = /\b(?:any ?more|any longer|no longer|these days|no more)\b/i;

/** "I don't use Miro anymore", "I'm not a barista any more". */
function noLonger(change: Change): Proposal[] | undefined {
  const { context, statement, sentence } = change;
  const { clause } = statement;
  const { verb } = clause;
  const words = context.content.slice(statement.start, statement.end + 12);
  const isDenied =
    (verb.denied !== undefined && NO_LONGER.test(words)) ||
    /\bno longer\b/i.test(words) ||
    (/\b(?:no more)\b/i.test(words) && verb.copula);
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
  return endAll(change, namesIn(change, first), canonicalRelation(relation), true);
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
    const wanted = { named, ...owner(change) };
    const exact = relation === undefined ? [] : meant(change.context, { ...wanted, relation });
    const target = targetOf(exact.length > 0 ? exact : meant(change.context, wanted));
    if (target) return [ending(change.context, place(change), target, endedAt(change))];
    return relation !== undefined && keepDenial ? [endUnnamed(change, relation, named)] : [];
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

/** "I stopped learning Kotlin", "gave up smoking", "had to quit padel". */
function stopped(change: Change): Proposal[] | undefined {
  const { verb } = change.statement.clause;
  if (verb.denied) return undefined;
  const link = verb.chain.findLast(({ next }) => next === "gerund");
  if (link && ["stop", "quit", "give up"].includes(link.verb) && verb.tense !== "future") {
    return stoppedDoing(change, link.verb);
  }
  return isEnder(verb) ? stoppedHaving(change) : undefined;
}

/** "stopped learning Kotlin": ends what was learnt; without a thing, all of the doing. */
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
  const target = targetOf(found);
  const ended = target ? [ending(context, place(change), target, endedAt(change))] : [];
  return [...ended, event(change, stop, relation)];
}

const BEFORE_ENDERS = new Set(["have", "decide", "finally", "manage", "get", "need"]);

/** A verb that ends something, told of as done: "quit" and "cut out" look the same in the present. */
function isEnder(verb: Change["statement"]["clause"]["verb"]): boolean {
  if (!ENDERS.has(verb.lemma)) return false;
  if (verb.chain.length > 0) return verb.chain.every(({ verb: name }) => BEFORE_ENDERS.has(name));
  const looksSame = ["quit", "cut out"].includes(verb.lemma);
  return verb.tense !== "present" || looksSame || verb.perfect || verb.progressive;
}

/** "sold the Fuji", "left my job at Kumon". */
function stoppedHaving(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens, rest } = statement.clause;
  const object = phrases.find(
    ({ kind, head }) =>
      kind === "noun" ||
      (kind === "preposition" && ["from", "of", "with", "to", "on", "out of", "in"].includes(head ?? "")),
  );
  if (!object) return undefined;
  const whole = said(context, tokens, ...rest);
  const isList = object.items.length > 1;
  const names = isList ? namesIn(change, object) : [wholeName(change, object)];
  const ended = endAll(change, names, relationEndedBy(verb.lemma, whole), false);
  const jobs = ended.length === 0 ? endsJob(change, whole) : [];
  return [...ended, ...jobs, event(change, verb.lemma, verb.lemma, object)];
}

const ENDERS = new Set(
  "quit stop cancel sell drop ditch dump delete uninstall unsubscribe leave donate return retire resign abandon discontinue terminate close scrap lose axe bin chuck give hand divorce finish swear give-up"
    .split(" ")
    .concat(
      "give up",
      "get rid",
      "give away",
      "throw away",
      "throw out",
      "phase out",
      "opt out",
      "sell off",
      "drop out",
      "move out",
      "trade in",
      "hand in",
      "call off",
      "pay off",
      "go off",
      "cut out",
      "give back",
    ),
);

/** What the verb says of the relation that ends; nothing where it can be any. */
function relationEndedBy(lemma: string, rest: string): string | undefined {
  if (lemma === "unsubscribe") return "be subscribed to";
  if (lemma === "sell" || lemma === "donate") return "own";
  if (lemma === "divorce") return "be married to";
  if (/\bjob\b/.test(rest) && /^(?:quit|leave|lose|resign)/.test(lemma)) return "work at";
  return undefined;
}

/** "my job at Kumon", "the gym": object and what hangs on it, without the time and the reason. */
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
function event(change: Change, verb: string, relation: string, object?: Phrase): AddProposal {
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

/** "Marco and I broke up last night", "I broke up with Marco". */
function over(change: Change): Proposal[] | undefined {
  const { context, statement, phrases, dates } = change;
  const { clause } = statement;
  const { verb, tokens } = clause;
  if (!PARTED.has(verb.lemma) && !(verb.lemma === "get" && /\bdivorced\b/i.test(change.text)))
    return undefined;
  if (verb.denied || verb.tense === "future") return undefined;
  const partner = partnerOf(change);
  const found = held(context).filter(
    ({ claim }) =>
      TOGETHER.test(claim.relation) &&
      (partner === undefined ||
        telling(partner).some((word) => telling(`${claim.value} ${claim.subject}`).includes(word)) ||
        /boyfriend|girlfriend|partner|husband|wife|fianc/.test(claim.value)),
  );
  const target = targetOf(found);
  const [date] = dates;
  const who = partner ?? partnerIn(found);
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
    if (span && span[1] - span[0] >= 3) {
      const text = said(context, tokens, ...span);
      return text.replace(/^(?:me|I) and /i, "").replace(/ and (?:I|me)$/i, "");
    }
    return undefined;
  }
}

function partnerIn(found: readonly Held[]): string | undefined {
  return found[0]?.claim.value;
}

/** "I left Acme", "we're done with Figma", "I'm through with sugar". */
function left(change: Change): Proposal[] | undefined {
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

/** "I just turned 35". */
function aged(change: Change): Proposal[] | undefined {
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

/** "our cat Milo died": what was true of it in the present ends with it; that there was a cat stays. */
function deceased(change: Change): Proposal[] | undefined {
  const { context, statement, dates } = change;
  const { verb } = statement.clause;
  if (!(verb.lemma === "die" || verb.lemma === "pass away") || verb.denied) return undefined;
  const { subject } = statement;
  const [date] = dates;
  const thing = subject.path.split("/").at(-1) ?? "";
  const found = held(context).filter(
    ({ claim }) =>
      claim.subject === context.discourse.speaker.path &&
      /^(?:have|own)$/.test(claim.relation) &&
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
