import type { Claim, Memory } from "../../../domain/memory.ts";
import { sayDate } from "../../../domain/say-date.ts";
import { stem, words as wordsOf } from "../../../domain/words.ts";
import type { AddProposal, Proposal } from "../../../ports/extractor.ts";
import { lastBreath } from "../claims/told.ts";
import { adding, type Context, tidy } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import { loneValues } from "../scraps/lone-values.ts";
import { datesIn } from "../time/dates.ts";
import { KINDS, MARK, NOT_BUT, OPEN, STRONG, SWAPS } from "./correction-words.ts";

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
  if (alone && (alone.held.memory?.when !== undefined || isSameInOther(alone.held, told)))
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

/** "sorry it's Tuesdays", after "the choir rehearses on Mondays": of the same thing, with nothing but a form of "be". */
function isSameInOther({ claim }: Held, [one]: readonly Proposal[]): boolean {
  if (one?.propose !== "add" || !one.claim) return false;
  return (
    one.claim.subject === claim.subject &&
    /^be(?: |$)/.test(one.claim.relation) &&
    claim.relation !== "be called"
  );
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
  for (const lone of loneValues(text)) {
    const found = sameKind(context, lone) ?? alike(context, lone);
    if (found) return found;
  }
  const [lone] = loneValues(text);
  const [last] = lastBreath(context);
  const isAlike = lone !== undefined && /^an? /i.test(lone) && /^an? /i.test(last?.claim.value ?? "");
  return isAlike ||
    /\b(?:i meant|i mean|typo|correction|(?:scratch|strike|scrap) that|make that|should be)\b/i.test(text)
    ? lastValue(context, lone)
    : undefined;
}

/** "i meant violin", after one thing alone was told: that thing. */
function lastValue(context: Context, fresh: string | undefined): ReturnType<typeof sameKind> {
  const [last, more] = lastBreath(context);
  if (!last || more || fresh === undefined || last.claim.value === "" || last.claim.relation === "be called")
    return undefined;
  return {
    held: last,
    old: last.claim.value.replace(/^(?:the|an?|my|our) /i, ""),
    fresh: fresh.replace(/^(?:the|an?) /i, ""),
  };
}

/** "*Jean": as people mark a correction when they type. */
export function starredValue(
  context: Context,
  text: string,
  place: { start: number; end: number },
): Proposal | undefined {
  const value = /^\*\s?([^*\s][^*]{0,40})$|^([^*]{1,40}[^*\s])\*$/.exec(text.trim());
  const fresh = tidy(value?.[1] ?? value?.[2] ?? "");
  const found =
    fresh === ""
      ? undefined
      : (alike(context, fresh) ?? sameKind(context, fresh) ?? lastValue(context, fresh));
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

function swapIn(text: string): { old: string; fresh: string } | undefined {
  const plain = text.replace(new RegExp(`^${OPEN}`, "iu"), "");
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
  if (!/^(?:the )?\p{Lu}[\p{L}\p{N}.'’-]*(?: (?:\p{Lu}|\d)[\p{L}\p{N}'’-]*){0,3}$/u.test(value))
    return undefined;
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
  // "the 9th": of the month that was told.
  const day = /^(?:the )?(\d{1,2})(?:st|nd|rd|th)$/i.exec(fresh)?.[1];
  if (day !== undefined && memory.when.length >= 10)
    return `${memory.when.slice(0, 8)}${day.padStart(2, "0")}${memory.when.slice(10)}`;
  const bare = fresh;
  const [date] = datesIn(bare, memory.at, memory.when >= memory.at.slice(0, 10));
  if (!date) return memory.when;
  return date.iso;
}

function replaceWords(text: string, wrong: string, fresh: string): string {
  const unit = / (\S+)$/.exec(fresh)?.[1];
  // "not 2, 3 kg": the unit stands there already.
  const old = unit !== undefined && text.includes(`${wrong} ${unit}`) ? `${wrong} ${unit}` : wrong;
  const bare = old.replace(/^(?:the|a|an|my|on|in|at) /i, "");
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])${bare.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}])`,
    "iu",
  );
  return text.replace(pattern, fresh.replace(/^(?:the|a|an|my|on|in|at) (?=\S)/i, ""));
}
