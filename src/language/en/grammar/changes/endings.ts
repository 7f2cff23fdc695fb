import { stem } from "../../../../domain/search/search-terms.ts";
import type { Proposal } from "../../../../ports/language/extractor.ts";
import { lastBreath } from "../claims/told.ts";
import { type Context, tidy } from "../context.ts";
import { type Held, held, meant, telling } from "../forgetting/targets.ts";
import { ENDED_IT, IT_ENDED, OVER_WITH, STATE_NOUNS, TAKEN_OFF } from "./ending-idioms.ts";
import { endings } from "./members.ts";

const OPENERS =
  "(?:(?:so|and|but|well|ok(?:ay)?|oh|ugh|sadly|update|news|big news|sad news|fyi|btw|anyway|finally|honestly|yesterday|today|last \\w+|this \\w+|in the end|at last|right|good news|yay|alas|guess what|well then|tbh|also|now|yep|yes|no)[,:.! –—-]+)*";
const WE =
  "(?:(?:i|we)(?:['’]?ve|['’]?m|['’]?re| have| had| am| are| was| were)? )?(?:both )?(?:(?:just|finally|had to|have to|decided to|recently|basically|officially|sadly|also|now|got to|ended up|actually|happily|gladly|only just|already|pretty much|think i['’]?m|think we['’]?re|guess i['’]?m|totally|completely|so|all|went and) )*";
const WORD = "(?!(?:because|since|after|when|so|as|for the|and)\\b)[^\\s,;!?()]+";
const WHAT = `(?<what>${WORD}(?: ${WORD}){0,5}?)`;
/** "Figma and Notion", before a verb that goes with several. */
const SEVERAL = `${WORD}(?: ${WORD})?(?: and ${WORD}(?: ${WORD})?)+(?! ?(?:is|was|has|['’]s)\\b)`;
const SUBJECT = `(?<what>${SEVERAL}|${WORD}(?: ${WORD}){0,5}?)`;
const STOPS =
  "(?=$|[,;.!?()–—]| because\\b| since\\b| after\\b| when\\b| so\\b| as\\b| and\\b| but\\b| last\\b| this\\b| yesterday\\b| today\\b| in (?:january|february|march|april|may|june|july|august|september|october|november|december|the end)\\b| for (?:good|now|health|the|my)\\b| at (?:the|last)\\b| on (?:\\p{Lu}|my)| (?:completely|entirely|altogether|already|now|too|a(?:nd)? while back|ages ago|\\w+ (?:days?|weeks?|months?|years?) ago|about|lol|haha|tho|though|thank)\\b)";

/** A way to say it, and what a sentence must hold for it to be worth a look: to compile the whole takes milliseconds. */
interface Way {
  readonly likely: RegExp;
  readonly pattern: RegExp;
}

function wayOf(row: string, whole: string): Way {
  const likely = row.replace("{}", "[^]*").replaceAll("\\p{L}", "\\S");
  return { likely: new RegExp(likely, "iu"), pattern: new RegExp(whole, "iu") };
}

function patternOf(row: string, before: string): Way {
  return wayOf(row, `^${before}${row.replace("{}", WHAT)}${STOPS}`);
}

const BY_USER = ENDED_IT.map((row) => patternOf(row, `${OPENERS}${WE}`));
const BY_OTHERS = TAKEN_OFF.map((row) =>
  patternOf(
    row,
    `${OPENERS}(?:(?:they|(?:the|my|our) [\\p{L}' ]{2,24}?|\\p{Lu}\\p{L}+|doctors?|work|doc)(?:['’]?ve|['’]?s| have| has| had)? )(?:(?:just|finally|also|now|recently) )*`,
  ),
);
const BY_ITSELF = IT_ENDED.map((row) =>
  wayOf(
    row,
    `^${OPENERS}(?:(?:the|my|our|that|this|both|all) )*${SUBJECT}(?: ?(?=['’]s)| )${row}(?![\\p{L}'’])`,
  ),
);
const PARTED = OVER_WITH.map((row) => patternOf(row, OPENERS));
const WAYS: readonly Way[] = [...PARTED, ...BY_USER, ...BY_OTHERS, ...BY_ITSELF];

/** It may be so, it is not so, or another is meant to have said it. */
const UNSURE =
  /\b(?:if|might|(?<!\b(?:since|in|last|next|this|until|till|from|of|by|for|on|\d) )may|could|would|should|wanna|want to|wants to|going to|gonna|plan|planning|thinking|hope|hoping|wish|almost|nearly|never|said|says|told|tells|imagine|maybe i should|can['’]?t|cannot|wouldn['’]?t|couldn['’]?t|haven['’]?t (?!renewed|extended|re|.* (?:since|in (?:years|months|ages)))|hasn['’]?t|not like|until|unless|when i|used to think|will|i['’]?ll|we['’]?ll|about to|tempted|considering)\b|\?\s*$/i;

/** What a sentence ends by a set phrase, wherever the thing was told: tried where its clauses changed nothing. */
export function idiomEndings(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] {
  if (text.length > 220 || text.endsWith("?")) return [];
  const pieces = piecesOf(text);
  for (const [k, piece] of pieces.entries()) {
    if (UNSURE.test(piece.split(/[,;–—]/)[0] ?? "")) return [];
    const proposals = endedIn(context, piece, place, k === 0 ? "" : text.slice(0, text.indexOf(piece)));
    if (proposals.length > 0) return proposals;
  }
  return [];
}

const LISTED = /^(?:\S+(?: \S+)?, )+\S+(?: \S+)?,? and (?=\S)/;

/** The sentence, and what stands behind its commas and its "so": "the server died, binned the lot". */
function piecesOf(text: string): string[] {
  const rest = text.split(/[,;:–—(]+\s*|\s+(?:so|and|but)\s+/i).slice(1);
  // "Figma, Notion and Linear are history": what ends is a list.
  const listed = text.replace(LISTED, (list) => list.replace(/,(?: and)? /g, " and "));
  return [text, ...(listed === text ? [] : [listed]), ...rest]
    .map((piece) => piece.trim())
    .filter((piece) => piece.length > 3);
}

function endedIn(
  context: Context,
  piece: string,
  place: { readonly start: number; readonly end: number },
  before: string,
): Proposal[] {
  for (const { likely, pattern } of WAYS) {
    if (!likely.test(piece)) continue;
    const { what: named = "", did, uses } = pattern.exec(piece)?.groups ?? {};
    const what = tidy(named);
    if (what === "") continue;
    const proposals = endNamed(context, place, { what, before, verb: uses ? "use" : did });
    if (proposals.length > 0) return proposals;
  }
  return [];
}

interface NamedEnding {
  readonly what: string;
  /** The words of the sentence before. */
  readonly before: string;
  readonly verb: string | undefined;
}

/** Ends what some words name, or what "it" means. */
function endNamed(
  context: Context,
  place: { readonly start: number; readonly end: number },
  { what, before, verb }: NamedEnding,
): Proposal[] {
  if (IT.test(what))
    return endings(context, place, ofVerb(context, pointedAt(context, before, place.start), verb), what);
  const each = endEach(context, place, what, verb);
  return each.length > 0
    ? each
    : endings(context, place, ofVerb(context, namedBy(context, what), verb), what);
}

/** "Figma and Notion are history": of several, each, where each is known. */
function endEach(
  context: Context,
  place: { readonly start: number; readonly end: number },
  what: string,
  did: string | undefined,
): Proposal[] {
  const names = what.split(/,? and | & /).map((name) => tidy(name));
  if (names.length < 2) return [];
  const ended = names.map((name) =>
    endings(context, place, ofVerb(context, namedBy(context, name), did), name),
  );
  return ended.every((one) => one.length > 0) ? ended.flat() : [];
}

/** "Coffee isn't something I drink anymore": what the user did, by that verb; all of it where the words name none. */
function ofVerb(context: Context, found: readonly Held[], did: string | undefined): readonly Held[] {
  if (did === undefined) return found;
  const verb = stem(did.toLowerCase());
  return found.filter(
    ({ claim }) =>
      claim.subject === context.discourse.speaker.path && stem(claim.relation.split(" ")[0] ?? "") === verb,
  );
}

const IT = /^(?:it|them|that|this|him|her|these|those|the lot|the thing|that one|this one|it all)$/i;

/** What "it" means: what the words before it in the sentence name, else the one thing that was told last. */
function pointedAt(context: Context, before: string, start: number): readonly Held[] {
  const words = telling(before);
  const named = stored(held(context)).filter(({ claim, memory }) => {
    const own = telling(claim.value);
    const isNamed = own.length > 0 && own.every((word) => words.includes(word));
    return (
      isNamed &&
      memory?.kind !== "event" &&
      claim.relation !== "be called" &&
      claim.subject === context.discourse.speaker.path
    );
  });
  if (named.length > 0) return named.length <= 2 ? named : [];
  const last = stored(lastBreath(context, start)).filter(({ claim }) => claim.relation !== "be called");
  return last.length === 1 ? last : [];
}

/** Words for a thing that its claim need not hold: "the Lisbon trip", "the tutoring thing". */
const LOOSE =
  /\b(?:thing|things|stuff|trip|holiday|visit|plan|plans|idea|project|app|habit|business|lark|nonsense|account|subscription|membership|deal|classes|lessons|sessions|course|gig|job|contract|lot|collection|habit|routine)\b/gi;

function namedBy(context: Context, what: string): readonly Held[] {
  const named = what
    .replace(
      /^(?:(?:the|my|our|a|an|that|this|those|these|old|poor|dear|trusty|stupid|both|all|of|playing|using|taking|doing|going to|eating|drinking|smoking) )+/i,
      "",
    )
    .replace(/ (?:too|now|completely|entirely|altogether)$/i, "");
  if (/^(?:it|them|that|this|him|her|everything|all|these|those|one|some|work|home|bed|me|us)$/i.test(named))
    return [];
  const exact = stored(meant(context, { named, isNoName: true })).filter((one) => bearsHead(one, named));
  if (exact.length > 0) return exact;
  const got = acquired(context, named);
  if (got.length > 0) return got;
  const state = statesOf(context, named);
  if (state.length > 0) return state;
  const loose = named.replace(LOOSE, " ").replace(/\s+/g, " ").trim();
  if (loose === "" || telling(loose).length === 0) return [];
  const found = loose === named ? [] : stored(meant(context, { named: loose, isNoName: true }));
  return found.length > 0 ? found : planned(context, loose);
}

/** "the Figma outage" is no Figma: what the noun itself names must be told. */
function bearsHead({ claim }: Held, named: string): boolean {
  const head = telling(named).at(-1) ?? "";
  const words = telling(
    `${claim.subject.replaceAll("/", " ")} ${claim.relation} ${claim.value} ${claim.qualifier ?? ""}`,
  );
  return words.includes(head);
}

/** "got a monstera": told as it happened, and had since. */
function acquired(context: Context, named: string): readonly Held[] {
  const words = telling(named);
  return stored(held(context)).filter(
    ({ claim }) =>
      claim.subject === context.discourse.speaker.path &&
      /^(?:get|buy|adopt|rescue|order|inherit|win|receive|pick up|build|plant|take in|foster)$/.test(
        claim.relation,
      ) &&
      words.length > 0 &&
      words.every((word) => telling(claim.value).includes(word)),
  );
}

/** What this very sentence told is not what it ends. */
function stored(found: readonly Held[]): readonly Held[] {
  return found.filter(({ memory }) => memory !== undefined);
}

/** "the engagement", "my job", "the relationship with Tilde": a state of the user by its noun. */
function statesOf(context: Context, named: string): readonly Held[] {
  const words = telling(named);
  const row = STATE_NOUNS.find(([noun]) => words.includes(stem(noun)));
  if (!row) return [];
  const [noun, relations] = row;
  const others = words.filter((word) => word !== stem(noun));
  return stored(held(context)).filter(
    ({ claim }) =>
      claim.subject === context.discourse.speaker.path &&
      relations.some((one) => one === claim.relation || one === `${claim.relation} ${claim.value}`) &&
      others.every((word) => telling(claim.value).includes(word)),
  );
}

/** What is still to come and names it: "the driving test is off". */
function planned(context: Context, named: string): readonly Held[] {
  const words = telling(named);
  const found = held(context).filter(({ claim, memory }) => {
    if (memory === undefined || (memory.when ?? "") < context.message.at.slice(0, 10)) return false;
    const said = telling(
      `${claim.subject.replaceAll("/", " ")} ${claim.relation} ${claim.value} ${claim.qualifier ?? ""}`,
    );
    return words.every((word) => said.includes(word));
  });
  return found.length <= 2 ? found : [];
}
