import type { Claim, Memory } from "../../domain/memory.ts";
import { sayDate } from "../../domain/say-date.ts";
import { stem, words as wordsOf } from "../../domain/words.ts";
import type { AddProposal, Proposal } from "../../ports/extractor.ts";
import { adding, type Context, tidy } from "./context.ts";
import { datesIn } from "./dates.ts";
import { type Held, held, targetOf, telling } from "./targets.ts";

const MARK =
  /\b(?:hang on|hold on|actually|i meant|i mean|meant to say|sorry|my mistake|my bad|i misspoke|misspoke|mistyped|typo|correction|scratch that|wait|oops|whoops|i was wrong|i got (?:that|it|his|her|the|my|their) .{0,30}wrong|got .{0,30}(?:wrong|mixed up)|mixed up|i said .{1,40} but|not quite|to correct myself|let me correct|strike that|no,|nope,|nah,|rather|it['’]?s not|should(?:['’]?ve| have)? (?:be|been|said)|is wrong|was wrong)\b/i;
const STRONG =
  /\b(?:i meant|meant to say|my mistake|i misspoke|misspoke|mistyped|typo|correction|scratch that|oops|whoops|miscounted|misremembered|misread|misheard|i was wrong|wrong|mixed up|to correct myself|let me correct|strike that|i said .{1,60} but|should(?:['’]?ve| have) (?:been|said)|make that)\b|,\s*(?:sorry|my bad|oops|whoops|my mistake|typo)[.! ]*$|^(?:(?:oh|ah|um|well|so|but|and)[, ]+)*(?:no|nope|nah|wait|sorry|actually|hang on|hold on)\b/i;

/** One value for another that the words name both: "not Monday but Tuesday". Undefined where nothing is put right. */
export function swapOf(
  context: Context,
  text: string,
  place: { start: number; end: number },
): Proposal[] | undefined {
  if (text.endsWith("?") || !(MARK.test(text) || NOT_BUT.test(text))) return undefined;
  if (/\b(?:any ?more|any longer|no longer)\b/i.test(text)) return undefined;
  const swap = swapIn(text);
  const found = swap && holding(context, swap.old);
  return swap && found ? [corrected(context, place, found, swap.old, swap.fresh)] : undefined;
}

/**
 * What a sentence said, where it opens like a correction: a claim beside one that is known puts that one right, and
 * a value alone ("sorry, Tuesday") the last one of its kind.
 */
export function putRight(
  context: Context,
  text: string,
  place: { start: number; end: number },
  said: readonly Proposal[],
): Proposal[] {
  if (text.endsWith("?") || !STRONG.test(text)) return [...said];
  const told = said.filter((proposal) => proposal.propose !== "add" || !isAboutMistake(proposal));
  const alone = told.length <= 1 ? corrects(context, text) : undefined;
  if (alone?.held.memory?.when !== undefined)
    return [corrected(context, place, alone.held, alone.old, alone.fresh)];
  let isRight = false;
  const right = told.map((proposal) => {
    if (proposal.propose !== "add" || !proposal.claim) return proposal;
    const rival = rivalOf(context, proposal.claim);
    if (!rival) return proposal;
    isRight = true;
    const target = targetOf([rival]);
    return { ...proposal, corrects: true, ...(target ? { replaces: target } : {}) };
  });
  if (isRight) return right;
  const found = corrects(context, text) ?? sameEvent(context, text, told);
  if (found) return [corrected(context, place, found.held, found.old, found.fresh.replace(/^the /i, ""))];
  return told;
}

/** "no wait, I'm flying on the 19th": the same doing on another day, without what it was about. */
function sameEvent(context: Context, text: string, told: readonly Proposal[]): ReturnType<typeof sameKind> {
  const [one] = told;
  if (told.length !== 1 || one?.propose !== "add" || !one.claim) return undefined;
  const { subject, relation } = one.claim;
  const head = relation.split(" ")[0];
  const isSame = (other: Held): boolean =>
    other.memory !== undefined &&
    other.claim.subject === subject &&
    (head === "be" ? other.claim.relation === relation : other.claim.relation.split(" ")[0] === head);
  return sameKind(context, text, isSame);
}

/** What a value alone puts right: "sorry, Tuesday". */
function corrects(context: Context, text: string): ReturnType<typeof sameKind> {
  const lone = loneValue(text);
  return lone === undefined ? undefined : sameKind(context, lone);
}

/** "*Jean": as people mark a correction when they type. */
export function starredValue(
  context: Context,
  text: string,
  place: { start: number; end: number },
): Proposal | undefined {
  const value = /^\*\s?([^*\s][^*]{0,40})$|^([^*]{1,40}[^*\s])\*$/.exec(text.trim());
  const fresh = tidy(value?.[1] ?? value?.[2] ?? "");
  const found = fresh === "" ? undefined : (alike(context, fresh) ?? sameKind(context, fresh));
  return found && corrected(context, place, found.held, found.old, found.fresh);
}

/** What was told last with a word that is spelt almost so: "Jane" for "Jean". */
function alike(context: Context, fresh: string): ReturnType<typeof sameKind> {
  for (const one of held(context).toReversed().slice(0, 6)) {
    const where = `${one.claim.value} ${one.claim.qualifier ?? ""}`;
    const old = (where.match(/[\p{L}\p{N}'’-]+/gu) ?? []).find((word) => isNearly(word, fresh));
    if (old !== undefined) return { held: one, old, fresh };
  }
  return undefined;
}

function isNearly(one: string, other: string): boolean {
  if (one.toLowerCase() === other.toLowerCase() || Math.abs(one.length - other.length) > 2) return false;
  const a = [...one.toLowerCase()].sort().join("");
  const b = [...other.toLowerCase()].sort().join("");
  const shared = [...a].filter((letter) => b.includes(letter)).length;
  return one[0]?.toLowerCase() === other[0]?.toLowerCase() && shared >= Math.max(a.length, b.length) - 2;
}

/** "I got it wrong", "I misspoke". */
function isAboutMistake(proposal: { claim?: Claim }): boolean {
  const claim = proposal.claim;
  return (
    claim !== undefined &&
    (/^(?:misspeak|mistype|mean|mix up|say|correct|scratch|keep|swap|misread|type|get wrong|write|confuse)/.test(
      claim.relation,
    ) ||
      /\b(?:wrong|mixed up|mistake|typo|digits?|spelling|letters)\b/.test(
        `${claim.value} ${claim.qualifier ?? ""}`,
      ))
  );
}

/** What is known of the same thing in the same respect. */
function rivalOf(context: Context, claim: Claim): Held | undefined {
  const stored = held(context).filter(
    ({ memory, claim: one }) =>
      memory !== undefined &&
      one.subject === claim.subject &&
      one.relation === claim.relation &&
      one.value !== claim.value,
  );
  const alike = stored.filter((one) => shapeOf(one.claim.value) === shapeOf(claim.value));
  return newest(alike.length > 0 ? alike : stored.filter(() => claim.relation !== "be"));
}

function shapeOf(value: string): string {
  if (/\d/.test(value)) return "number";
  if (/^(?:an?|the|my) /i.test(value)) return "thing";
  return /^\p{Lu}/u.test(value) ? "name" : "word";
}

const NOT_BUT =
  /\bnot (?:on |in |at |a |an |the )?[^,.;]{1,40}?,? but\b|, not \S+|\bnot \S+(?: \S+)?, (?:it['’]s |he['’]s |she['’]s )?\S+/i;
const OPEN =
  "(?:(?:oh|ah|hmm|um|hang on|hold on|no|nope|wait|sorry|actually|oops|whoops|correction|my bad|my mistake|i misspoke|scratch that|well|so|and|btw|argh|ugh)[,.:!—– -]+)*";

const SWAPS: readonly RegExp[] = [
  /\bnot (?:on |in |at |for |from )?(?<old>[^,.;]{1,40}?),? but (?:on |in |at |for |from )?(?<new>[^,.;!]{1,50})/i,
  /\bi (?:said|wrote|told you|typed) (?<old>.{1,40}?),? (?:but|when) (?:it['’]s|it is|i meant|it should be|that should be|i should have said|he['’]s|she['’]s|they['’]re)(?: actually| really| meant to be| supposed to be)? (?<new>[^,.;!]{1,50})/i,
  /\bi (?:meant|mean)(?: to say)? (?<new>[^,.;!]{1,50}?)(?:,| and| rather than| instead of)? not (?<old>[^,.;!]{1,50})/i,
  /\b(?:it['’]s|it is|he['’]s|she['’]s|they['’]re|is|are|was|were|should be|that['’]s|to|at|on|in|for|from|the|with|called|named) (?<new>[^,.;!]{1,50}?),? (?:and )?not (?:on |in |at |for |from |to |called )?(?<old>[^,.;!]{1,50})/i,
  /\bnot (?:on |in |at |for |from |called )?(?<old>[^,.;]{1,40}?)[,;:—–-]+\s*(?:it['’]s|he['’]s|she['’]s|it is|they['’]re|that['’]s|i meant)? ?(?:on |in |at |for |from )?(?<new>[^,.;!]{1,50})/i,
  /\b(?<new>[^,.;!]{1,40}?) (?:instead of|rather than) (?<old>[^,.;!]{1,40})/i,
  /^(?<new>[^,.;!]{1,40}?), not (?<old>[^,.;!]{1,40})/i,
];

function swapIn(text: string): { old: string; fresh: string } | undefined {
  const plain = text.replace(new RegExp(`^${OPEN}`, "i"), "");
  for (const pattern of SWAPS) {
    const found = pattern.exec(plain);
    if (!found?.groups) continue;
    const old = tidy(found.groups.old ?? "");
    const fresh = tidy(
      (found.groups.new ?? "").replace(
        /^(?:it['’]s|it is|he['’]s|she['’]s|they['’]re|that['’]s|i meant|actually)\s+/i,
        "",
      ),
    );
    if (old !== "" && fresh !== "" && !/^(?:really|sure|sorry|good|bad|bother)/i.test(old))
      return { old, fresh };
  }
  return undefined;
}

/** The newest claim that holds what was wrong. */
function holding(context: Context, old: string): Held | undefined {
  const words = telling(old.replace(/^(?:my|the|a|an|his|her) /i, ""));
  if (words.length === 0) return undefined;
  const all = held(context).filter(({ claim, memory }) => {
    const bag = new Set(wordsOf(`${claim.value} ${claim.qualifier ?? ""} ${memory?.text ?? ""}`).map(stem));
    return words.every((word) => bag.has(word));
  });
  return newest(all);
}

function newest(all: readonly Held[]): Held | undefined {
  return all.reduce<Held | undefined>(
    (best, one) => (best === undefined || (one.memory?.at ?? "9") >= (best.memory?.at ?? "9") ? one : best),
    undefined,
  );
}

/** "sorry, Tuesday", "I meant terminal 2": what is left when the opener goes, where that is one thing. */
function loneValue(text: string): string | undefined {
  const openings = new RegExp(LONE.source, "gi");
  const plain = text.replace(new RegExp(`^${OPEN}`, "i"), "");
  const found = [...text.matchAll(openings), ...plain.matchAll(openings)];
  const trailing =
    /^(?<value>[^,.!?]{1,40}), (?:sorry|my bad|oops|whoops|my mistake|typo|i (?:miscounted|misremembered|misread|misheard|mistyped|forgot))[.! ]*$/i.exec(
      text.trim(),
    );
  if (trailing) found.push(trailing as RegExpExecArray);
  const values = found.map((one) =>
    tidy(
      (one.groups?.value ?? "").replace(/ with (?:an?|one|two|no) (?:\S+ )?['"“]?\p{L}['"”]?s?$/iu, ""),
    ).replace(/^(?:it['’]s|it is|i meant|make that)\s+/i, ""),
  );
  return values.findLast(
    (value) =>
      value !== "" &&
      value.split(" ").length <= 5 &&
      !/\b(?:i|you|we|he|she|they|am|is|are|was|have|do|my|wrong|typo|mistake)\b/i.test(value),
  );
}

const LONE =
  /(?:\bi (?:meant|mean)(?: to say)?|\bshould(?:['’]?ve| have)? (?:be|been|said)|\bmake that|\bit['’]s(?: actually| really)?|\bit is(?: actually| really)?|\bit was(?: actually| really)?|\bthat['’]s|\bcorrection:?|\btypo:?|\b(?:he|she|it)['’]s(?: actually| really)? (?:called|named)|\b(?:his|her|its|the|my) name(?:['’]s| is)(?: actually| really)?|\b(?:wrong|mistyped|typo|misspoke|mistake|mixed (?:it|that|them) up|mixed up)[,.:;!—– -]+(?:it['’]s )?|^(?:(?:oh|hang on|hold on|no|nope|wait|sorry|actually|oops|whoops|scratch that|my bad|my mistake|typo|correction|i misspoke)[,.:!—– -]+)+)\s*(?:on |in |at |for )?(?<value>(?:[^,.;!]|(?<=\d)[.,](?=\d)){1,40}?)(?=[.!,;](?!\d)|$)/i;

const KINDS: readonly RegExp[] = [
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i,
  /\b(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{1,2}(?:st|nd|rd|th)?)?\b/i,
  /\b\d{1,2}(?::\d\d|\.\d\d)? ?(?:am|pm|o['’]clock)\b|\b\d{1,2}:\d\d\b|\b(?:noon|midnight|half past \w+|quarter (?:to|past) \w+)\b/i,
  /\b(?<word>terminal|gate|platform|room|floor|seat|row|unit|flat|apartment|number|no|size|level|line|bus|route|table|locker|desk|page|chapter|track|lane|exit|door|building|block|ward|bay|zone|class|grade|year) (?:[a-z]?\d+[a-z]?|[b-z])\b/i,
  /\b\d{1,2}(?:st|nd|rd|th)\b/i,
  /\b(?:19|20)\d\d\b/,
  /[£$€] ?\d[\d.,]*(?:k|m)?\b|\b\d[\d.,]* ?(?:euros?|pounds?|dollars?|quid|bucks)\b/i,
  /\b\d[\d.,]* ?(?<unit>kg|km|cm|m|mm|g|lbs?|pounds|miles?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?(?: old)?|people|kids|metres|meters|feet|ft|inches|litres|degrees|mg|ml|percent|%)\b/i,
  /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|\d[\d.,]*)\b/i,
];

/** The newest claim that holds a value of the same kind: a weekday for a weekday, "terminal 3" for "terminal 2". */
export function sameKind(
  context: Context,
  value: string,
  fits: (one: Held) => boolean = () => true,
): { held: Held; old: string; fresh: string } | undefined {
  const recent = new Set(context.known.slice(-40).map(({ id }) => id));
  const all = held(context).filter((one) => (!one.memory || recent.has(one.memory.id)) && fits(one));
  for (const pattern of KINDS) {
    const mine = pattern.exec(value);
    if (!mine) continue;
    const unit = (mine.groups?.word ?? mine.groups?.unit)?.toLowerCase();
    const found = all.flatMap((one) => {
      const where = `${one.claim.value} | ${one.claim.qualifier ?? ""} | ${one.memory?.text ?? ""}`;
      const theirs = pattern.exec(where);
      if (
        !theirs ||
        (unit !== undefined && (theirs.groups?.word ?? theirs.groups?.unit)?.toLowerCase() !== unit)
      )
        return [];
      return [{ held: one, old: theirs[0], fresh: mine[0] }];
    });
    const best = newest(found.map((one) => one.held));
    const hit = found.find((one) => one.held === best);
    if (hit) return hit;
  }
  const named = properName(context, value, all);
  return named && { ...named, fresh: value };
}

/** Another value in the place of one that held until now. */
export function replaced(
  context: Context,
  place: { start: number; end: number },
  { held: found, old, fresh }: { held: Held; old: string; fresh: string },
): AddProposal {
  const { corrects: _corrects, ...rest } = corrected(context, place, found, old, fresh);
  return rest;
}

/** A name for the name that was told last. */
function properName(
  _context: Context,
  value: string,
  all: readonly Held[],
): { held: Held; old: string } | undefined {
  if (!/^(?:the )?\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*){0,3}$/u.test(value)) return undefined;
  const last = newest(
    all.filter(
      ({ claim, memory }) => /^(?:the )?\p{Lu}/u.test(claim.value) && memory?.kind !== "instruction",
    ),
  );
  return last && { held: last, old: last.claim.value.replace(/^the /i, "") };
}

/** The old claim with the right words in place of the wrong ones. */
function corrected(
  context: Context,
  place: { start: number; end: number },
  found: Held,
  old: string,
  fresh: string,
): AddProposal {
  const { claim, memory } = found;
  const swap = (text: string): string => replaceWords(text, old, fresh);
  const value = swap(claim.value);
  const qualifier = claim.qualifier === undefined ? undefined : swap(claim.qualifier);
  const changed = value !== claim.value || (qualifier ?? "") !== (claim.qualifier ?? "");
  const next: Claim = {
    ...claim,
    value: changed ? value : fresh,
    ...(qualifier === undefined ? {} : { qualifier }),
  };
  const target = targetOf([found, ...siblings(context, found, old)]);
  const when = whenOf(memory, fresh);
  const text = memory ? textWith(memory, claim, next, swap, when) : `${next.value}`;
  return adding(context, place, {
    text,
    claim: next,
    ...(memory ? { kind: memory.kind } : {}),
    holds: "one",
    corrects: true,
    importance: memory?.importance ?? 0.6,
    ...(target ? { replaces: target } : {}),
    ...(when ? { when } : {}),
  });
}

function textWith(
  memory: Memory,
  claim: Claim,
  next: Claim,
  swap: (text: string) => string,
  when: string | undefined,
): string {
  const swapped = swap(memory.text);
  if (swapped !== memory.text) return swapped;
  const said = memory.when === undefined ? "" : sayDate(memory.when, { weekday: false });
  if (when !== undefined && said !== "" && memory.text.includes(said))
    return memory.text.replace(said, sayDate(when, { weekday: false }));
  if (memory.text.includes(claim.value)) return memory.text.replace(claim.value, next.value);
  return memory.text.replace(/[.!]$/, `, ${next.value}.`);
}

/** Other memories of the same words in which the wrong value stands too. */
function siblings(context: Context, found: Held, old: string): Held[] {
  const message = found.memory?.sources[0]?.message;
  if (!message) return [];
  const words = telling(old);
  return held(context).filter(
    (one) =>
      one !== found &&
      one.memory?.sources[0]?.message === message &&
      one.claim.subject === found.claim.subject &&
      one.claim.relation === found.claim.relation &&
      words.every((word) => telling(one.claim.value).includes(word)),
  );
}

function whenOf(memory: Memory | undefined, fresh: string): string | undefined {
  if (memory?.when === undefined) return undefined;
  const hour = /^(?:at )?(\d{1,2})[:.](\d\d)$/.exec(fresh);
  if (hour?.[1]) return `${memory.when.slice(0, 10)}T${hour[1].padStart(2, "0")}:${hour[2]}:00.000Z`;
  const bare = /^\d{1,2}(?:st|nd|rd|th)$/i.test(fresh) ? `the ${fresh}` : fresh;
  const [date] = datesIn(bare, memory.at, memory.when >= memory.at.slice(0, 10));
  if (!date) return memory.when;
  return date.iso;
}

function replaceWords(text: string, old: string, fresh: string): string {
  const bare = old.replace(/^(?:the|a|an|my|on|in|at) /i, "");
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])${bare.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}])`,
    "iu",
  );
  return text.replace(pattern, fresh.replace(/^(?:the|a|an|my|on|in|at) (?=\S)/i, ""));
}
