import type { Proposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import type { Entity } from "../clauses/entity.ts";
import { getStatementSpan } from "../clauses/parts.ts";
import { adding, claimOf, tidy } from "../context.ts";
import { canChange } from "../corrections/replacements.ts";
import { held, targetOf, telling } from "../forgetting/targets.ts";
import { type Change, fromThen, newThing } from "./change.ts";

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
      adding(context, getStatementSpan(change), {
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

const CHANGED = /\bchang(?:ed|es) (?:from \S+ )?to (?<value>\S.*)$/i;

const RISES =
  /\b(?:went|gone|go|goes|going|rose|risen|rise|jumped|increased|dropped|fell|fallen|shot|climbed|came|come|been (?:raised|increased|cut|bumped|upped|lowered|reduced)|got (?:raised|bumped|cut|increased|upped|reduced)|(?:is|are|was|'s) (?:raised|bumped|cut|increased|upped|up|down|reduced)|raise|rise|increase|pay cut|raised|bumped|upped|put|changed|changing)\b(?: (?:up|down|all the way|(?:my|our|the|his|her|their) [\w' -]+?|back))*(?: from \S+(?: \S+)?)? to (?<value>(?:about |around |over )?[£$€]?\d.*)$/i;

/** "my salary went up to 61k". */
export function risen(change: Change): Proposal[] | undefined {
  const { context, statement, text, phrases } = change;
  const { tokens, verb } = statement.clause;
  const said = RISES.exec(text) ?? (verb.lemma === "change" && !verb.denied ? CHANGED.exec(text) : undefined);
  const told = said?.groups?.value?.split(/,(?!\d)| because | from | since | as of | so /)[0] ?? "";
  const value = tidy(withoutDate(change, told));
  if (value === "") return undefined;
  const object = phrases.find(({ kind }) => kind === "noun")?.items[0];
  const transitive =
    !verb.passive && /^(?:raise|bump|up|put|increase|cut|change)$/.test(verb.lemma) && object;
  const isPay = /\b(?:pay )?(?:raise|rise|increase|pay cut)\b/i.test(text) && verb.lemma === "get";
  const pay = isPay ? payOf(statement.subject) : undefined;
  const thing = pay ?? (transitive ? context.discourse.resolve(tokens, ...object) : statement.subject);
  if (!thing || thing.animate || thing.path === context.discourse.speaker.path) return undefined;
  const paid = paidFor(change, thing, value);
  if (paid) return [paid];
  return [
    adding(context, getStatementSpan(change), {
      text: compose(thing.display, "is", value),
      claim: claimOf(thing.path, "be", value),
      holds: "one",
      importance: 0.7,
      ...fromThen(change),
    }),
  ];
}

/** "1100 starting January", "1100 in May": the sum without the day from which it holds. */
function withoutDate({ context, statement, dates }: Change, value: string): string {
  const [date] = dates;
  const words = date && context.content.slice(statement.start + date.start, statement.start + date.end);
  const at = words === undefined ? -1 : value.indexOf(words);
  return at <= 0
    ? value
    : value
        .slice(0, at)
        .replace(/[\s,]+(?:(?:starting|beginning|effective|from|in|on|at|by|the|this|next|last)\s+)*$/i, "");
}

/** "I got a raise to 44,250": what somebody is paid. */
function payOf({ path, display }: Entity): Entity {
  return { path: `${path}/salary`, display: `${display}'s salary`, animate: false, plural: false };
}

const SUM = /[£$€]?\d[\d.,]*(?: ?(?:mg|mcg|g|ml))?(?![\p{L}\d])|[£$€]?\d[\d.,]*/u;

/** "my phone's gone up to 15 a month", where the user pays 12 for it. */
function paidFor(change: Change, thing: Entity, value: string): Proposal | undefined {
  const { context } = change;
  const noun = telling(thing.path.split("/").at(-1) ?? "");
  const changes = canChange(context, value);
  const old = held(context).find(
    ({ claim, memory }) =>
      memory !== undefined &&
      changes({ claim, memory }) &&
      /^(?:pay|pay for|spend|cost|take)$/.test(claim.relation) &&
      /\d/.test(claim.value) &&
      noun.length > 0 &&
      noun.every((word) => telling(`${claim.value} ${claim.qualifier ?? ""}`).includes(word)),
  );
  const sum = SUM.exec(value)?.[0];
  const target = old && targetOf([old]);
  if (!old?.memory || !target || sum === undefined) return undefined;
  const swap = (text: string): string => text.replace(SUM, sum);
  return adding(context, getStatementSpan(change), {
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
    adding(context, getStatementSpan(change), {
      text: compose(subject.display, "works at", where),
      claim: claimOf(subject.path, "work at", where),
      importance: 0.8,
      ...fromThen(change),
    }),
  ];
  if (title)
    proposals.push(
      adding(context, getStatementSpan(change), {
        text: compose(subject.display, "works as", title),
        claim: claimOf(subject.path, "work as", title),
        importance: 0.8,
        ...fromThen(change),
      }),
    );
  return proposals;
}

/** "I just turned 35". */
export function aged(change: Change): Proposal[] | undefined {
  const { context, statement, text } = change;
  const age = /\bturn(?:ed|s)? (\d{1,3})\b/i.exec(text)?.[1];
  const { verb } = statement.clause;
  if (!age || verb.lemma !== "turn" || verb.tense === "future" || (verb.tense === "present" && !verb.perfect))
    return undefined;
  return [
    adding(context, getStatementSpan(change), {
      text: compose(statement.subject.display, "is", age, "years old"),
      claim: claimOf(statement.subject.path, "be aged", age),
      importance: 0.7,
    }),
  ];
}
