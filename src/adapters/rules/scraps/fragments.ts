import { conjugate, singular } from "../../../domain/english.ts";
import { attributeRelations } from "../../../domain/relations.ts";
import type { AddProposal, Proposal } from "../../../ports/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { lastBreath, lastTold } from "../claims/told.ts";
import type { Clause } from "../clauses/clauses.ts";
import { isHuman } from "../clauses/entities.ts";
import type { Entity } from "../clauses/entity.ts";
import { readList, readNounPhrase } from "../clauses/noun-phrases.ts";
import { adding, type Context, claimOf, ending, saidAt, tidy } from "../context.ts";
import { replaced, sameKind } from "../corrections/corrections.ts";
import { type Held, held, meant, targetOf, telling } from "../forgetting/targets.ts";
import { datesIn } from "../time/dates.ts";
import { isTime } from "../time/times.ts";
import type { Token } from "../words/token.ts";
import { replyTo } from "./asked.ts";

interface Fragment {
  readonly context: Context;
  readonly tokens: readonly Token[];
  readonly text: string;
  readonly place: { readonly start: number; readonly end: number };
}

/** What a sentence without a verb tells: "Dana here", "And Magnet too.", "dentist in two weeks", "Porto." */
export function fragmentClaims(
  context: Context,
  tokens: readonly Token[],
  text: string,
  place: { start: number; end: number },
): Proposal[] {
  if (/\?["”')\]]*\s*$/.test(text) || tokens.length > 14) return [];
  const fragment: Fragment = { context, tokens, text: bared(text), place };
  for (const read of [
    onlyThat,
    introduced,
    endedBefore,
    replyTo,
    labelled,
    revised,
    changedWord,
    added,
    dated,
  ]) {
    const proposals = read(fragment);
    if (proposals) return proposals;
  }
  return [];
}

/** One line without marks at its ends; "too" and "anymore" stay, for here they tell. */
export function bared(text: string): string {
  return text.replace(/\s+/g, " ").replace(/^[\s,;:"“”'(]+|[\s,;:!.?"“”)]+$/g, "");
}

const HERE =
  /^(?:(?:hi|hello|hey|hiya|heya|morning|evening|afternoon|good (?:morning|evening|afternoon)|it['’]?s|this is)(?: there| all| everyone)?[,!. ]+)*(?<name>\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?) here\b/u;
const GREETING =
  /^(?:it|this|that|you|hi|hello|hey|morning|evening|back|not|over|out|in|right|all|everyone|always|still|just|now|same|almost|nearly|only|already|finally|anyone|someone|nobody|lots|more|new|great|glad|happy|welcome|here|there|sitting|standing|waiting|nothing|something)$/i;

/** "hi, Dana here" */
function introduced({ context, text, place }: Fragment): AddProposal[] | undefined {
  const name = HERE.exec(text)?.groups?.name;
  if (name === undefined || GREETING.test(name)) return undefined;
  const { speaker } = context.discourse;
  return [
    adding(context, place, {
      text: compose(speaker.display, "is called", name),
      claim: claimOf(speaker.path, "be called", name),
      importance: 0.8,
    }),
  ];
}

/** "window seats only for me": what one wants and nothing else. */
export function onlyThat({ context, text, place }: Fragment): AddProposal[] | undefined {
  const what =
    /^(?:only )?(?<what>[\p{L} '’-]{3,40}?) only for me(?:,? (?:please|thanks|thank you))?$|^only (?<only>[\p{L} '’-]{3,40}?) for me(?:,? (?:please|thanks|thank you))?$/iu.exec(
      text,
    )?.groups;
  const value = what?.what ?? what?.only;
  if (value === undefined || /\b(?:not|if|the|my|was|is|if)\b/i.test(value)) return undefined;
  const { speaker } = context.discourse;
  return [
    adding(context, place, {
      text: compose(speaker.display, "prefers", value, "only"),
      claim: claimOf(speaker.path, "prefer", value, "only"),
    }),
  ];
}

const NOT_NOW =
  /^(?:(?:well|actually|but|oh|hm+|sadly|no|nope)[,. ]+)*not (?:any ?more|any longer|now|these days)$/i;

/** "Not anymore.": what was said last is over. */
function endedBefore({ context, text, place }: Fragment): Proposal[] | undefined {
  if (!NOT_NOW.test(text)) return undefined;
  const last = lastBreath(context, place.start);
  const target = last.length <= 3 ? targetOf(last) : undefined;
  return target ? [ending(context, place, target)] : undefined;
}

const ADDED =
  /^(?:(?:and|oh|also|plus|then|as well as)[, ]+)+(?<also>.+?)(?:,? (?:too|as well|also))?$|^(?<too>.+?),? (?:too|as well)$|^(?:(?:and|the) )*same (?:for|with|goes for) (?<same>.+)$/i;

/** "And Magnet too.": the same of another thing; "my sister too": the same of another person. */
function added(fragment: Fragment): AddProposal[] | undefined {
  const { context, tokens, text, place } = fragment;
  const found = ADDED.exec(text)?.groups;
  const words = found?.also ?? found?.too ?? found?.same;
  const [last] = lastTold(context, place.start).slice(-1);
  if (words === undefined || !last || /^(?:me|so|that|then|now|it|this|you)\b/i.test(words)) return undefined;
  const start = tokens.findIndex((token) => words.startsWith(context.content.slice(token.start, token.end)));
  const list = start < 0 ? undefined : readList(tokens, start, tokens.length);
  if (!list || isTime(tokens, start, list.to)) return undefined;
  const person = context.discourse.resolve(tokens, start, list.to);
  if (person?.animate && person.path !== context.discourse.speaker.path && isPerson(person))
    return [sameOf(fragment, last, person)];
  return list.items.map((item) => {
    const value = tidy(context.content.slice(tokens[item[0]]?.start, tokens[item[1] - 1]?.end));
    return adding(context, place, {
      text: withValue(last, value),
      claim: { ...last.claim, value },
      ...(last.memory ? { kind: last.memory.kind } : {}),
      holds: "many",
      confidence: 0.8,
    });
  });
}

function isPerson(entity: Entity): boolean {
  return entity.path.includes("/") && isHuman(entity);
}

function sameOf({ context, place }: Fragment, { claim }: Held, person: Entity): AddProposal {
  return adding(context, place, {
    text: compose(person.display, conjugate(claim.relation, "third"), claim.value, claim.qualifier ?? ""),
    claim: { ...claim, subject: person.path },
    confidence: 0.8,
  });
}

function withValue({ memory, claim }: Held, value: string): string {
  const told = memory?.text ?? "";
  if (claim.value !== "" && told.includes(claim.value)) return told.replace(claim.value, value);
  return compose(
    claim.subject === "user" ? "The user" : claim.subject,
    conjugate(claim.relation, "third"),
    value,
    claim.qualifier ?? "",
  );
}

/** "third year of my nursing degree now", after "the second year": the same with one word changed. */
function changedWord({ context, tokens, text, place }: Fragment): AddProposal[] | undefined {
  const isNow = /\b(?:now|these days)\b/i.test(text);
  const end = readNounPhrase(tokens, 0, tokens.length);
  if (!isNow || end === undefined) return undefined;
  const value = tidy(context.content.slice(tokens[0]?.start, tokens[end - 1]?.end));
  const fresh = telling(value);
  const old = held(context).findLast(({ claim, memory }) => {
    const words = telling(claim.value);
    const kept = words.filter((word) => fresh.includes(word)).length;
    return (
      memory !== undefined && words.length > 1 && words.length === fresh.length && kept === words.length - 1
    );
  });
  const target = old && targetOf([old]);
  if (!old || !target) return undefined;
  return [
    adding(context, place, {
      text: withValue(old, value),
      claim: { ...old.claim, value },
      ...(old.memory ? { kind: old.memory.kind } : {}),
      replaces: target,
    }),
  ];
}

/** "down to 76 kilos now!": another value of the kind that was told. */
function revised({ context, text, place }: Fragment): AddProposal[] | undefined {
  const value =
    /^(?:(?:i['’]?m|it['’]?s|now|currently) )*(?:(?:back )?(?:down|up) (?:to|at)|now(?: at| on)?) (?<to>.+)$|^(?<now>.*\d.*?),? (?:now|these days)$/i.exec(
      text,
    )?.groups;
  const found = value && sameKind(context, value.to ?? value.now ?? "");
  return found ? [replaced(context, place, found)] : backOn(context, text, place);
}

/** "back on days now": the other of what one is on. */
export function backOn(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] | undefined {
  const found =
    /^(?:now )?(?:back )?(?<joint>on|in|at) (?<what>[^,.!]{2,30}?) (?:now|again|these days)\b/i.exec(
      text,
    )?.groups;
  if (!found?.what) return undefined;
  const { speaker } = context.discourse;
  const relation = `be ${found.joint?.toLowerCase()}`;
  const old = held(context).filter(
    ({ claim }) => claim.subject === speaker.path && claim.relation === relation,
  );
  const target = old.length === 1 ? targetOf(old) : undefined;
  if (!target) return undefined;
  return [
    adding(context, place, {
      text: compose(speaker.display, `is ${found.joint?.toLowerCase()}`, found.what),
      claim: claimOf(speaker.path, relation, found.what),
      replaces: target,
    }),
  ];
}

/** "my phone number: 0770": a label and its value. */
function labelled({ context, tokens, place }: Fragment): AddProposal[] | undefined {
  const colon = tokens.findIndex(({ after }) => /^\s*[:=]\s/.test(after));
  const isOwn = tokens[0]?.class === "possessive";
  if (colon < 0 || colon > 4) return undefined;
  const start = tokens[0]?.lower === "new" || tokens[0]?.lower === "the" ? 1 : 0;
  const entity = context.discourse.resolve(tokens, isOwn ? 0 : start, colon + 1);
  const value = tidy(context.content.slice(tokens[colon + 1]?.start, place.end));
  if (!entity || value === "" || entity.path === context.discourse.speaker.path) return undefined;
  const listed = labelledList(context, tokens, entity, { colon, place });
  if (listed.length > 0) return listed;
  const isName = /\/names?$/.test(entity.path);
  const path = isName ? entity.path.replace(/\/names?$/, "") : entity.path;
  const relation = isName || (entity.animate && /^\p{Lu}/u.test(value)) ? "be called" : "be";
  const display = isName ? entity.display.replace(/['’]s? names?$/, "") : entity.display;
  return [
    adding(context, place, {
      text: compose(display, relation === "be" ? "is" : "is called", value),
      claim: claimOf(path, relation, value),
      holds: "one",
      importance: 0.7,
    }),
  ];
}

/** "my subscriptions: Calm and Duolingo Plus": each for itself. */
function labelledList(
  context: Context,
  tokens: readonly Token[],
  entity: Entity,
  { colon, place }: { colon: number; place: { readonly start: number; readonly end: number } },
): AddProposal[] {
  const list = readList(tokens, colon + 1, tokens.length);
  const label = entity.path.split("/").at(-1) ?? "";
  if (!list || list.items.length < 2 || singular(label) === label) return [];
  const owner = entity.path.split("/").slice(0, -1).join("/");
  const [relation] = attributeRelations(singular(label));
  return list.items.map((item) => {
    const value = tidy(context.content.slice(tokens[item[0]]?.start, tokens[item[1] - 1]?.end));
    return relation && owner === context.discourse.speaker.path
      ? adding(context, place, {
          text: compose(context.discourse.speaker.display, conjugate(relation, "third"), value),
          claim: claimOf(owner, relation, value),
        })
      : adding(context, place, {
          text: compose(entity.display, "are", value),
          claim: claimOf(entity.path, "be", value),
          holds: "many",
        });
  });
}

/** "Nice weather today": of the day, and nothing that takes place on it. */
const NO_DATE = /^(?:weather|rain|snow|sun|sunshine|storm|traffic|news|mood|stuff|things?|days?|fun|vibes?)$/;

/** "dentist in two weeks", "big exam on Friday": a thing and its day. */
function dated({ context, tokens, place }: Fragment): AddProposal[] | undefined {
  let start = 0;
  while (["adverb", "other", "conjunction"].includes(tokens[start]?.class ?? "")) start += 1;
  const end = readNounPhrase(tokens, start, tokens.length);
  if (end === undefined || isTime(tokens, start, end)) return undefined;
  const rest = context.content.slice(tokens[end]?.start ?? place.end, place.end);
  const [date] = datesIn(rest, saidAt(context.message), true);
  if (!date || date.start > 14 || date.iso < saidAt(context.message).slice(0, date.iso.length))
    return undefined;
  const head = tokens[end - 1];
  if (!head || head.class === "pronoun" || head.class === "adjective" || NO_DATE.test(head.lower))
    return undefined;
  const entity = context.discourse.resolve(tokens, start, end) ?? ownThing(context, tokens, start, end);
  if (!entity || entity.path === context.discourse.speaker.path) return undefined;
  const value = tidy(rest).replace(/^(?:on|in|at) (?=\S)/i, "");
  return [
    adding(context, place, {
      text: compose(entity.display, "is", sayOn(date.iso)),
      claim: claimOf(entity.path, "be on", value),
      kind: "event",
      holds: "one",
      importance: 0.7,
      when: date.iso,
    }),
  ];
}

/** "dentist in two weeks, they're pulling a tooth": what stands before the first clause. */
export function datedLead(context: Context, clause: Clause | undefined): AddProposal[] {
  if (!clause || clause.asks || clause.role === "condition") return [];
  const { tokens, lead } = clause;
  const first = tokens[lead[0]];
  const last = tokens[lead[1] - 1];
  if (!first || !last || lead[1] - lead[0] < 2 || !last.after.includes(",")) return [];
  const place = { start: first.start, end: last.end };
  return dated({ context, tokens: tokens.slice(...lead), text: "", place }) ?? [];
}

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

function sayOn(iso: string): string {
  const [year, month, day] = iso.slice(0, 10).split("-");
  const name = month ? MONTHS[Number(month) - 1] : undefined;
  const time = iso.length > 10 ? ` at ${iso.slice(11, 16)}` : "";
  return `${day ? "on" : "in"} ${[day && String(Number(day)), name, year].filter(Boolean).join(" ")}${time}`;
}

/** Whom one sees by appointment. */
const SEEN =
  /^(?:dentist|orthodontist|doctor|gp|vet|hairdresser|barber|physio|optician|therapist|osteopath|midwife|chiropractor|dermatologist|cardiologist|surgeon|lawyer|solicitor|accountant|nail|hair|hospital|clinic)s?$/;

function ownThing(
  context: Context,
  tokens: readonly Token[],
  start: number,
  end: number,
): Entity | undefined {
  const words = tokens.slice(start, end).filter(({ class: kind }) => kind === "noun" || kind === "name");
  const noun = words.map(({ lower }) => lower).join(" ");
  const thing = SEEN.test(noun) ? `${noun} appointment` : noun;
  if (thing === "" || words.length !== end - start - Number(tokens[start]?.class === "adjective"))
    return undefined;
  const { speaker } = context.discourse;
  const display = speaker.path === "user" ? "The user's" : `${speaker.display}'s`;
  return { path: `${speaker.path}/${thing}`, display: `${display} ${thing}`, animate: false, plural: false };
}

/** "Hugo (8)": how old somebody is who was just named. */
export function agesInBrackets(
  context: Context,
  text: string,
  place: { start: number; end: number },
): AddProposal[] {
  return Array.from(text.matchAll(/(\p{Lu}[\p{L}'’-]+) \((?:aged )?(\d{1,2})\)/gu)).flatMap(
    ([, name = "", age = ""]) => {
      const naming = held(context).findLast(
        ({ claim }) => claim.relation === "be called" && claim.value.toLowerCase() === name.toLowerCase(),
      );
      if (!naming) return [];
      return [
        adding(context, place, {
          text: compose(name, "is", age, "years old"),
          claim: claimOf(naming.claim.subject, "be aged", age),
        }),
      ];
    },
  );
}

const FAREWELL =
  /(?:^|[,;.!:–—-]\s*|\b(?:so|and|well) )(?:no more|bye(?:[ -]?bye)?|goodbye|so long|farewell(?: to)?|adios|(?:i['’]?m |we['’]re )?(?:done|through|finished) with|rip)[, ]+(?<what>[^,;.!?]{2,50}?)(?: for (?:me|us)| from now on| please)?(?=[,;.!?]|$| because | since | as )/giu;

/** "no more meat for me", "bye bye Magnet": what goes, wherever it stands in a sentence. */
export function farewells(context: Context, text: string, place: { start: number; end: number }): Proposal[] {
  return Array.from(text.matchAll(FAREWELL)).flatMap((found) => {
    const named = tidy(found.groups?.what ?? "").replace(/^(?:my|the|our|using|to) /i, "");
    const target = named === "" ? undefined : targetOf(meant(context, { named }));
    return target ? [ending(context, place, target)] : [];
  });
}

const DUE =
  /^(?:(?:they['’]re|it['’]?s|he['’]s|she['’]s) )?due (?<joint>in|on|around|at) (?<when>[^,;.!?]{2,40})/i;

/** "due in October", behind what is due. */
export function dueThen(
  context: Context,
  text: string,
  place: { start: number; end: number },
): AddProposal[] {
  const found = DUE.exec(text.trim())?.groups;
  if (!found?.when) return [];
  const last = context.made.findLast(
    (made): made is AddProposal =>
      made.propose === "add" && /^(?:have|expect|get|be having)$/.test(made.claim?.relation ?? ""),
  );
  const thing = last?.claim?.value.replace(/^(?:an?|the|my|two|three|our) /i, "").toLowerCase();
  if (!last?.claim || thing === undefined || thing.split(" ").length > 2) return [];
  const value = tidy(found.when);
  const [date] = datesIn(`${found.joint} ${value}`, saidAt(context.message), true);
  const isPlural = singular(thing) !== thing;
  return [
    adding(context, place, {
      text: compose(
        last.claim.subject === "user" ? `The user's ${thing}` : `${last.claim.subject}'s ${thing}`,
        isPlural ? "are due" : "is due",
        found.joint ?? "in",
        value,
      ),
      claim: claimOf(`${last.claim.subject}/${thing}`, "be due on", value),
      kind: "event",
      holds: "one",
      ...(date ? { when: date.iso } : {}),
    }),
  ];
}
