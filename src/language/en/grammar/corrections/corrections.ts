import type { Claim } from "../../../../domain/memory.ts";
import { extractTerms, stem, splitWords as wordsOf } from "../../../../domain/search/search-terms.ts";
import type { Proposal } from "../../../../ports/language/extractor.ts";
import { lastBreath } from "../claims/told.ts";
import { type Context, tidy } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import { isYearlyDay } from "../time/dates.ts";
import { BEHIND, BRINGS, MARK, NOT_BUT, OPEN, SETTLED, STRONG, SWAPS } from "./correction-words.ts";
import { corrected, newest, sameKind } from "./replacements.ts";

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
  const isStrong = STRONG.test(text) || SETTLED.test(text);
  if (text.endsWith("?") || !isStrong || COURTESIES.test(text)) return [...said];
  const told = said.filter((proposal) => proposal.propose !== "add" || !isAboutMistake(proposal));
  const alone = told.length <= 1 ? corrects(context, text) : undefined;
  const isDay = alone?.held.memory?.when !== undefined || isYearlyDay(alone?.held.claim.subject ?? "");
  if (alone && (isDay || isSameInOther(alone.held, told)))
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

/** "ok thx, good night": nothing but courtesies, which put nothing right. */
const COURTESIES =
  /^(?:(?:ok(?:ay)?|fine|alright|right|sorry|soz|oh|ah|so|then|thx|thanx|thanks?(?: you| a lot| so much| again)?|ty|tysm|cheers|ta|bye|good ?bye|good ?night|night|nite|lol|haha|cool|great|nice|perfect|np|mate|love|dear|pls|please|later|see you|ttyl)(?:[\s,.!…-]+|$))+$/i;

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
    const words = (where.match(/[\p{L}\p{N}'’-]+/gu) ?? []).filter((word) => extractTerms(word).length > 0);
    const old = words.find((word) => isNearly(word, fresh));
    if (old !== undefined) return { held: one, old, fresh };
  }
  return undefined;
}

function isNearly(one: string, other: string): boolean {
  if (one.toLowerCase() === other.toLowerCase() || Math.abs(one.length - other.length) > 2) return false;
  const a = [...one.toLowerCase()].sort().join("");
  const b = [...other.toLowerCase()].sort().join("");
  const shared = [...a].filter((letter) => b.includes(letter)).length;
  const most = Math.max(a.length, b.length);
  return one[0]?.toLowerCase() === other[0]?.toLowerCase() && shared >= most - (most <= 4 ? 1 : 2);
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

const OPENED = new RegExp(`^${OPEN}`, "iu");

/** "sorry, Tuesday", "oops no, it's Saturday, I mixed it up": what is left when the openers go, where that is one thing. */
function loneValues(text: string): string[] {
  const behind = text.trim().replace(BEHIND, "");
  const plain = behind.replace(OPENED, "");
  const pieces = [plain, ...text.split(/(?:[,;!:–—]|\.(?!\d))\s+/)].flatMap((piece) => {
    const opened = piece.trim().replace(OPENED, "");
    return opened.split(/(?:[,;!:–—]|(?<!\b\p{Lu})\.(?!\d))(?:\s+|$)/u)[0] ?? "";
  });
  return [...new Set(pieces.map(valueIn))].filter((value) => value !== "" && isOneThing(value));
}

/** "it's the 19th" -> "19th"; how somebody spells it goes. */
function valueIn(piece: string): string {
  const bare = piece.replace(BRINGS, "").replace(BRINGS, "");
  return tidy(bare.replace(/ with (?:an?|one|two|no) (?:\S+ )?['"“]?\p{L}['"”]?s?$/iu, ""));
}

function isOneThing(value: string): boolean {
  const isSaid =
    /\b(?:i|you|we|he|she|they|am|is|are|was|have|has|do|does|did|got|my|wrong|typo|mistake|not|that|this|it|its|sorry|actually)\b/i;
  return value.split(" ").length <= 5 && !isSaid.test(value);
}
