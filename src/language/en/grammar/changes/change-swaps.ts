import type { Claim } from "../../../../domain/memory.ts";
import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { findKinds } from "../../categories.ts";
import { listAttributeRelations } from "../../relations/relations.ts";
import { claimsOf } from "../claims/claims.ts";
import { lastBreath, lastTold } from "../claims/told.ts";
import { getStatementSpan, sentenceOf, verbPhrase } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, type Context, claimOf, said, tidy } from "../context.ts";
import { type Held, held, meant, targetOf, telling } from "../forgetting/targets.ts";
import { type Change, escaped, fromThen, newThing, owner, sayClaim } from "./change.ts";

// --- one thing for another -------------------------------------------------------------------------------------
const SWAPS: readonly RegExp[] = [
  /\b(?:switch|chang|mov|go|went|gone|migrat|convert|transition|jump|graduat|upgrad|downgrad|swap|shift|com|cam)(?:e|ed|d|ing|ped|ping|es|s)?\b(?: (?:over|up|down|across|back|all|everything|completely|(?:my|our|the|his|her|their) [\w-]+))* from (?<old>.+?) (?:over )?(?:to|onto|into) (?<new>.+)$/i,
  /\b(?:replac)(?:e|ed|es|ing) (?<old>.+?) (?:with|by) (?<new>.+)$/i,
  /\b(?:swap|trad|switch|exchang|ditch|dump|drop|chang|substitut|upgrad|abandon|leav|left|quit)(?:e|ed|ped|ping|ing|es|s)?\b(?: in| out| up)? (?<old>.+?) (?:for|in favou?r of) (?<new>.+)$/i,
  /\b(?:upgrad|downgrad|chang|switch|convert)(?:e|ed|ing|es|s)? (?<old>my .+?) (?:to|into) (?<new>.+)$/i,
];

/** "a new trainer, Idris", "a bloke called Idris" */
const NEW_NAME =
  /^(?:an?|my|the|another) [^,]{2,40}?(?:,| called| named) (?<name>\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)/u;

/** "switched from Billdesk to Ledgerly", "replaced juice with kefir": the new takes the place and the relation of the old. */
export function swapped(change: Change): Proposal[] | undefined {
  const { text } = change;
  const onlyNew = newAlone(change) ?? elsewhere(change);
  if (onlyNew) return onlyNew;
  for (const pattern of SWAPS) {
    const match = pattern.exec(text);
    const found = match?.groups;
    if (match && !isCarriedOut(change, match[0])) return undefined;
    const old = tidy(found?.old ?? "").replace(/ (?:in|up|out|over)$/i, "");
    const fresh = newThing(found?.new ?? "");
    if (isNoSwap(old, fresh)) continue;
    const rivals = rivalsOf(change, old);
    const [rival] = rivals;
    if (rival) return [inherit(change, rivals, rival, old, newName(rival, found?.new) ?? fresh)];
    return /^(?:\d|[£$€])/.test(fresh) ? undefined : unknownSwap(change, old, fresh);
  }
  return undefined;
}

function isNoSwap(old: string, fresh: string): boolean {
  return old === "" || fresh === "" || /^\S+ing\b/.test(fresh);
}

/**
 * Whether the swap that a clause names is one that its verb carries out: "I moved from", "we decided to move from", "I made the switch
 * from". Who thinks of it, plans, refuses or regrets it has not made it.
 */
function isCarriedOut({ statement: { clause } }: Change, match: string): boolean {
  const { tokens, verb } = clause;
  const word = /^[\p{L}'’-]+/u.exec(match)?.[0].toLowerCase();
  const at = tokens.findIndex(({ lower }, i) => i >= verb.from && lower === word);
  if (at < 0) return true;
  if (
    tokens
      .slice(verb.from, at)
      .some(({ class: kind, lower }) => kind === "negation" || /^(?:almost|nearly|against)$/.test(lower))
  )
    return false;
  const links = verb.chain.map((link) => link.verb);
  if (at < verb.to)
    return (
      links.every((link) => CARRIES_OUT.test(link)) && !(links.includes("be going") && verb.tense === "past")
    );
  return MAKES.test(verb.lemma) && links.every((link) => CARRIES_OUT.test(link));
}

const CARRIES_OUT =
  /^(?:start|begin|finish|end(?: up)?|manage|decide|choose|agree|resolve|opt|get|have|go|come|be going|be forced|be made|be told|be asked|help|make|let|stop|continue|keep)$/;
/** What one does with a move or a switch when one makes it. */
const MAKES =
  /^(?:be|make|do|complete|finish|have|get|take|go|start|begin|see|celebrate|end up|succeed|help|announce|come|feel|find|spend|enjoy|love|like|hate|survive|manage)$/;

const ONLY_NEW =
  /\b(?:switch|chang|upgrad|downgrad|convert|transition|migrat|mov|gone|went|go|swap|graduat|progress)(?:e|ed|d|ing|ped|es|s)?(?: (?:over|up|across|back|on))? to (?<new>.+)$/i;

/** "switched to the euphonium", of one who plays the trombone: of the same kind, or what was told right before. */
function newAlone(change: Change): Proposal[] | undefined {
  const { text, statement, phrases } = change;
  const { verb } = statement.clause;
  if (/ from /i.test(text) || verb.denied || verb.chain.length > 0 || phrases[0]?.kind === "noun")
    return undefined;
  if (verb.tense === "present" && !verb.perfect && !verb.progressive) return undefined;
  const fresh = newThing(ONLY_NEW.exec(text)?.groups?.new ?? "");
  if (fresh === "" || /^(?:\d|bed|work|sleep|the (?:gym|shop|doctor|dentist))/i.test(fresh)) return undefined;
  const purpose = /^(?<name>.+?) for (?:my |our |the |all (?:my |our )?)?(?<thing>[\p{L}' -]+)$/u.exec(
    fresh,
  )?.groups;
  if (purpose?.name && purpose.thing) {
    const moved = placedIn(change, telling(purpose.thing), purpose.name);
    if (moved) return moved;
  }
  const rivals = sameKindAs(change, fresh);
  const [rival] = rivals;
  if (!rival || rivals.length > 1) return undefined;
  return [inherit(change, rivals, rival, rival.claim.value, fresh)];
}

function sameKindAs(change: Change, fresh: string): Held[] {
  const { context, statement } = change;
  // "a party with my friends" is no friend.
  const kinds = findKinds(fresh.split(/ (?:with|of|for|in|at|on|from|by) /)[0] ?? fresh);
  const { path } = statement.subject;
  const isOwn = ({ claim, memory }: Held): boolean =>
    memory?.kind !== "event" &&
    claim.value !== "" &&
    (claim.subject === path ||
      (claim.relation === "be" && kinds.includes(claim.subject.slice(path.length + 1))));
  const alike = held(context).filter(
    (one) => isOwn(one) && findKinds(one.claim.value).some((kind) => kinds.includes(kind)),
  );
  if (alike.length > 0 || /^(?:move|go)$/.test(statement.clause.verb.lemma)) return alike;
  const told = lastTold(context).filter((one) => isOwn(one) && isChosen(one, fresh));
  return told.length === 1 ? told : [];
}

/**
 * Whether a claim tells what one can switch from: what one uses, is with or is on. Nobody switches from what they drive, have or teach
 * to a thing of another kind: "I drive a tram. I've switched to insulin."
 */
function isChosen({ claim }: Held, fresh: string): boolean {
  if (/^(?:use|be with)$/.test(claim.relation)) return true;
  // "on the 07:42 to Leeds" and "on antibiotics" are not what "moved to the night shift" and "switched to a side room" leave.
  const isPlain = claim.qualifier === undefined && !isDetermined(fresh);
  return (
    /^(?:be on|take)$/.test(claim.relation) && (isPlain || isDetermined(fresh) === isDetermined(claim.value))
  );
}

function isDetermined(value: string): boolean {
  return /^(?:an?|the|my|our) /i.test(value);
}

/** What is kept with whom: "my account" under "bank with". */
const KEPT_WITH: Readonly<Record<string, RegExp>> = {
  account: /^(?:bank|be|have my account) with$/,
  savings: /^(?:bank|be|save) with$/,
  insurance: /^be (?:insured )?with$/,
  number: /^be with$/,
  phone: /^be with$/,
  contract: /^be with$/,
  broadband: /^be with$/,
};

/** "moved my notes to Obsidian": where a thing is kept, or with whom. */
function elsewhere(change: Change): Proposal[] | undefined {
  const match =
    /\b(?:mov|switch|transferr|shift|migrat|tak|took|chang)(?:e|ed|d|en|ing|s)? (?:all )?(?:my|our|the) (?<thing>[\p{L}' -]{2,30}?)(?: over| across| away)? (?:to|into|onto) (?<new>.+)$/iu.exec(
      change.text,
    );
  const found = match?.groups;
  const fresh = newThing(found?.new ?? "");
  const thing = telling(found?.thing ?? "");
  if (
    match === null ||
    !isCarriedOut(change, match[0]) ||
    fresh === "" ||
    thing.length === 0 ||
    !/^(?:the |an? )?\p{Lu}/u.test(fresh) ||
    change.statement.clause.verb.denied
  )
    return undefined;
  const { context, statement } = change;
  const last = found?.thing?.toLowerCase().split(" ").at(-1) ?? "";
  const keeping = Object.hasOwn(KEPT_WITH, last) ? KEPT_WITH[last] : undefined;
  const own = held(context).filter(
    ({ claim, memory }) => claim.subject === statement.subject.path && memory?.kind !== "event",
  );
  const kept = own.filter(({ claim }) => keeping?.test(claim.relation));
  if (kept.length === 1 && kept[0]) return [inherit(change, kept, kept[0], kept[0].claim.value, fresh)];
  return placedIn(change, thing, fresh);
}

/** "in Paprika", of the recipes that are kept there: elsewhere now. */
function placedIn(change: Change, thing: readonly string[], fresh: string): Proposal[] | undefined {
  const { context, statement } = change;
  const placed = held(context).filter(
    ({ claim, memory }) =>
      claim.subject === statement.subject.path &&
      memory?.kind !== "event" &&
      thing.length > 0 &&
      thing.every((word) => telling(claim.value).includes(word)) &&
      /^(?:in|on|with|at|into|to) \S/.test(claim.qualifier ?? ""),
  );
  const [one] = placed;
  if (!one || placed.length > 1) return undefined;
  const joint = /^\S+/.exec(one.claim.qualifier ?? "")?.[0] ?? "in";
  const claim = { ...one.claim, qualifier: `${joint} ${fresh}` };
  const target = targetOf(placed);
  return [
    adding(context, getStatementSpan(change), {
      text: sayClaim(change, claim),
      claim,
      ...(target ? { replaces: target } : {}),
      ...fromThen(change),
    }),
  ];
}

/** What the old thing names: by its words, or by what "my major" is told with. */
function rivalsOf(change: Change, old: string): Held[] {
  if (/^(?:it|that|this|them)$/i.test(old)) return lastBreath(change.context).slice(0, 1);
  const named = meant(change.context, { named: old, ...owner(change) });
  const noun = /^(?:my|our) (\S+)$/i.exec(old)?.[1]?.toLowerCase();
  if (named.length > 0 || noun === undefined) return named;
  const { subject } = change.statement;
  const all = held(change.context).filter(({ claim }) => claim.subject === subject.path);
  for (const relation of listAttributeRelations(noun)) {
    const found = all.filter(({ claim }) => claim.relation === relation);
    if (found.length > 0) return relation === "be" ? [] : found;
  }
  return [];
}

function newName({ claim }: Held, fresh: string | undefined): string | undefined {
  return claim.relation === "be called" ? NEW_NAME.exec(fresh ?? "")?.groups?.name : undefined;
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
  return adding(change.context, getStatementSpan(change), {
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
  // "a Mini, red with black seats": what was said of the old one does not hold of the new one.
  const { qualifier: told, ...bare } = claim;
  const qualifier = told?.replace(HOW_LONG, "");
  const hangs =
    qualifier !== undefined &&
    /^(?:in|on|at|for|to|with (?:my|the)|every|when|before|after|as|by|from|per|each|once|twice|a (?:day|week|month))\b/.test(
      qualifier,
    );
  return { ...bare, ...(hangs ? { qualifier } : {}), value: fresh };
}

/** "for years", "since 2015": how long the old one lasted. */
const HOW_LONG =
  /(?:^| )(?:for (?:(?!for )[^ ]+ ){0,3}?(?:years?|months?|weeks?|days?|ages|decades?|ever|a while|a bit|yonks)|since .*)$/i;

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
    adding(context, getStatementSpan(change), {
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

/** "I use Y instead of X": X goes. */
export function instead(change: Change): Proposal[] | undefined {
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
  const at = clause.tokens.findIndex(({ lower }) => lower === "instead");
  const isThing = ({ kind, head }: Phrase): boolean =>
    (kind === "noun" || kind === "preposition" || kind === "time") && !head?.startsWith("instead");
  const object =
    change.phrases.findLast((one) => isThing(one) && one.to <= at) ?? change.phrases.find(isThing);
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

/**
 * Short ways to say that one thing took the place of another, and the plain sentence that they stand for. `$<old>` and
 * `$<new>` are what goes and what comes. Add a row to add a way to say it.
 */
const THING = (name: string): string =>
  `(?<${name}>(?!(?:i|we|they|you|he|she)(?:['’]|\\b))[^,.;!?:]{2,40}?)`;
const OPENS = "(?:(?:so|and|but|well|ok(?:ay)?|oh|right|update|finally|now)[, :!]+)*";

export const REWORDINGS: readonly (readonly [RegExp, string])[] = (
  [
    [
      `${THING("old")}(?:['’]s| is| are) out[,;]?(?: and| but)? ${THING("new")}(?:['’]s| is| are) in`,
      "I switched from $<old> to $<new>",
    ],
    [
      `out with (?:the )?${THING("old")}[,;]?(?: and)? in with (?:the )?${THING("new")}`,
      "I switched from $<old> to $<new>",
    ],
    [
      `(?:good)?bye(?:[ -]bye)? ${THING("old")}[,;]?(?: and)? (?:hello|hi|welcome) ${THING("new")}`,
      "I switched from $<old> to $<new>",
    ],
    [
      `(?:hello|hi|welcome) ${THING("new")}[,;]?(?: and)? (?:good)?bye(?:[ -]bye)? ${THING("old")}`,
      "I switched from $<old> to $<new>",
    ],
    [
      `no more ${THING("old")}(?: for (?:me|us))?[,;:–-]+ ?(?:it['’]?s |just |only |i['’]?m on |we['’]?re on )?${THING("new")} (?:now|from now on|these days|instead)`,
      "I switched from $<old> to $<new>",
    ],
    [`it(?:['’]s| is) ${THING("new")} now,? not ${THING("old")}`, "I switched from $<old> to $<new>"],
    [
      `${THING("old")} (?:has been|was|got|['’]s been) (?:replaced|swapped|traded|exchanged) (?:by|with|for) ${THING("new")}`,
      "I replaced $<old> with $<new>",
    ],
    [
      `${THING("new")} (?:has )?(?:replaced|took the place of|has taken the place of) ${THING("old")}`,
      "I replaced $<old> with $<new>",
    ],
    [
      `(?:they|(?:my|the|our) \\p{L}+|\\p{Lu}\\p{L}+|work)(?:['’]?ve|['’]?s| have| has)? (?:just |finally )?(?:moved|switched|changed|transferred|upgraded|downgraded|bumped|shifted) (?:me|us) (?:up |down |over |across )?(?:to|onto|on) ${THING("new")}(?: now)?(?:,.*)?`,
      "I switched to $<new>",
    ],
    [
      `(?<head>.{3,60}?) one of (?:them|these|those|my \\p{L}+|the \\p{L}+|our \\p{L}+)(?<particle> (?:up|away|off|in|out))?[,:;–-]+ ?(?:the )?${THING("new")}`,
      "$<head> the $<new>$<particle>",
    ],
  ] as const
).map(([row, plain]) => [new RegExp(`^${OPENS}${row}$`, "iu"), plain] as const);

/** "my doctor has put me on insulin twice a day"; "put me on hold", "on the train" are of a moment. */
const PUT_ON =
  /^(?:(?:so|and|but|well|ok(?:ay)?|oh|update|now)[, :!]+)*(?:they|he|she|(?:my|the|our) [\p{L}-]+|\p{Lu}\p{L}+|work)(?:['’]?ve|['’]?s| have| has)? (?:just |finally |now |also )*(?:put|started) (?:me|us) on (?<what>(?!(?:the|hold|speaker|speakerphone|loudspeaker|mute|edge|to)\b)[^,;.!?]{2,60})(?:,.*)?$/iu;
const PAST_DAY = /\b(?:(?:19|20)\d\d|ago|yesterday|last (?:\p{L}+)|when)\b/iu;
const SINCE_MONTH =
  /^(?<thing>.+?) (?:back |early |late )?in (?<month>january|february|march|april|may|june|july|august|september|october|november|december)$/iu;

/** What others have put the user on, as the sentence that the user is on it: beside what they are on already. */
export function putOn(text: string): string | undefined {
  const what = PUT_ON.exec(text)?.groups?.what;
  if (what === undefined || PAST_DAY.test(what)) return undefined;
  const { thing, month } = SINCE_MONTH.exec(what)?.groups ?? {};
  return thing === undefined ? `I'm on ${what}` : `I've been on ${thing} since ${month}`;
}

/** "Excel is out, Numbers is in" -> "I switched from Excel to Numbers". */
export function reworded(text: string): string | undefined {
  for (const [pattern, plain] of REWORDINGS) {
    if (pattern.test(text)) return text.replace(pattern, plain);
  }
  return undefined;
}

// --- ended, and in the same breath its successor ---------------------------------------------------------------
const DONE_WITH =
  "(?:don['’]?t|do not|no longer) \\w+|(?:stopped|quit) \\w+ing|quit|dropped|ditched|(?:gave|given) up(?: on)?(?: \\w+ing)?|got rid of|sold|cancelled|canceled|deleted|uninstalled|abandoned|left|binned|scrapped";
const OLD_ONE = `(?:i|we)(?:['’]ve| have)?(?: just| finally| now| recently)? (?:${DONE_WITH}) (?<old>.+?)(?: any ?more| any longer| now)?`;
const SUCCESSORS = [
  "(?:now |these days )(?:it['’]?s|it is|(?:i['’]?m|we['’]?re|i am|we are) on) (?<fresh>.+?)",
  "(?:it['’]?s|it is|(?:i['’]?m|we['’]?re|i am|we are) on) (?<fresh>.+?) (?:now|these days|instead|from now on)",
];
const TAKEN_OVER = SUCCESSORS.map(
  (fresh) =>
    new RegExp(
      `^(?:\\p{L}+,? ){0,2}?${OLD_ONE}(?:(?:[,;.]| [–—-]) ?(?:and |but |so )?| (?:and|but|so) )${fresh}[.!]*$`,
      "iu",
    ),
);

/**
 * "I don't use Magnet anymore, it's Rectangle now": one switched from the one to the other. Undefined where nothing of the old one is known.
 * `text` is a sentence, which stands at `place`.
 */
export function takenOver(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] | undefined {
  const { old, fresh } = TAKEN_OVER.map((one) => one.exec(text.trim())?.groups).find(Boolean) ?? {};
  if (old === undefined || fresh === undefined || fresh.length > 60) return undefined;
  const read = context.readAs(`I switched from ${old} to ${fresh}.`, place);
  return read.some((one) => one.propose === "add" && one.replaces !== undefined) ? [...read] : undefined;
}
