import type { Claim } from "../../../../domain/memory.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { findKinds } from "../../categories.ts";
import type { Context } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";

/** What says that it is so from now on and was otherwise. */
const ANEW =
  /\b(?:now|these days|nowadays|from now on|from (?:today|tomorrow|this|next|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d|january|february|march|april|may|june|july|august|september|october|november|december)|as of|instead|any ?more|since|starting|lately|finally)\b/i;
/** What says that it is so beside what was. */
const BESIDE = /\b(?:also|too|as well|another|in addition|plus|still|both|besides|second|extra|again)\b/i;

/** Relations of which people mostly have one at a time, where they say "now": one car, one bank, one hour. */
const MOSTLY_ONE =
  /^(?:drive|ride|bank with|be with|be insured with|study at|go to school at|commute by|get up|wake up|start|finish|sleep|live|work|earn|pay|weigh|charge|cost|wear|see|report to|sit|have lunch|be on|take|be in|meet|train|prefer)\b/;
const HOURS =
  /\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\bnoon\b|\bmidnight\b|\bweekend|\bmorning|\bevening/i;

/**
 * "I take my tea black now", after "I take my tea with milk": in the same frame another filling, where the words say
 * that it is new. Of a thing that happens ("swim class is on Saturdays now") the new time takes the place of the old.
 */
export function inFrame(
  context: Context,
  place: { readonly start: number; readonly end: number },
  claims: readonly AddProposal[],
): readonly AddProposal[] {
  const words = context.content.slice(place.start, place.end + 24).split(/[.!?\n]/)[0] ?? "";
  if (claims.length !== 1 || !ANEW.test(words) || BESIDE.test(words)) return claims;
  return claims.map((one) =>
    one.claim && !one.replaces && one.kind !== "event" ? framed(context, one, one.claim) : one,
  );
}

function framed(context: Context, one: AddProposal, claim: Claim): AddProposal {
  const stored = held(context).filter(({ memory }) => memory !== undefined && memory.kind !== "event");
  const timed = timeBefore(stored, claim);
  if (timed) {
    const target = targetOf([timed]);
    const next = { ...timed.claim, ...moved(timed.claim, claim) };
    const text = told(timed, next) ?? one.text;
    return { ...one, claim: next, text, ...(target ? { replaces: target } : {}) };
  }
  const rivals = stored.filter((other) => isRival(other.claim, claim, stored));
  const target = rivals.length > 0 && rivals.length < 4 ? targetOf(rivals) : undefined;
  return target ? { ...one, replaces: target } : one;
}

/** Of somebody: where they go every day, in whatever words. */
const DAILY = /^(?:go to|attend|be at|be in|study at|train at|learn at|swim at|play at|play for)$/;

function isRival(old: Claim, fresh: Claim, all: readonly Held[]): boolean {
  if (old.subject === fresh.subject && DAILY.test(old.relation) && /^be (?:at|in)$/.test(fresh.relation))
    return true;
  const isThing = old.subject === fresh.subject && old.subject.includes("/");
  if (
    isThing &&
    /^be(?: (?:by|on|in|at|with))?$/.test(old.relation) &&
    /^be (?:by|on|in|at|with)$/.test(fresh.relation)
  )
    return true;
  if (old.subject !== fresh.subject || old.relation !== fresh.relation) return false;
  const [mine, theirs] = [telling(old.value), telling(fresh.value)];
  if (mine.join(" ") === theirs.join(" ")) return differs(old.qualifier, fresh.qualifier);
  if (mine.some((word) => theirs.includes(word))) return true;
  if (old.qualifier !== undefined && bare(old.qualifier) === bare(fresh.qualifier)) return true;
  const kinds = findKinds(fresh.value);
  if (kinds.length > 0) return findKinds(old.value).some((kind) => kinds.includes(kind));
  const beside = all.filter(({ claim }) => claim.subject === old.subject && claim.relation === old.relation);
  return MOSTLY_ONE.test(fresh.relation) && beside.length === 1;
}

function bare(qualifier = ""): string {
  return qualifier
    .replace(/[ ,]*\b(?:now|these days|nowadays|from now on|lately|finally|instead)\b/gi, "")
    .trim()
    .toLowerCase();
}

function differs(one: string | undefined, other: string | undefined): boolean {
  const [a, b] = [bare(one), bare(other)];
  return a !== "" && b !== "" && a !== b;
}

/** When a thing was until now: "meets on Fridays", "starts at nine". */
function timeBefore(stored: readonly Held[], claim: Claim): Held | undefined {
  if (
    !claim.subject.includes("/") ||
    !/^be(?: on| at| in| from)?$/.test(claim.relation) ||
    !HOURS.test(claim.value)
  )
    return undefined;
  const all = stored.filter(
    (other) =>
      sameThing(other.claim.subject, claim.subject) &&
      !/^be called/.test(other.claim.relation) &&
      clockOf(other.claim) !== undefined,
  );
  const alike = all.filter((other) => shape(clockOf(other.claim)) === shape(claim.value));
  return alike.length === 1 ? alike[0] : undefined;
}

/** The part of a claim that tells when. */
function clockOf({ value, qualifier }: Claim): string | undefined {
  if (HOURS.test(value)) return value;
  return qualifier !== undefined && HOURS.test(qualifier) ? qualifier : undefined;
}

function shape(text: string | undefined): string {
  if (text === undefined) return "";
  return /day\b|days\b|weekend/i.test(text) ? "day" : "hour";
}

function moved(old: Claim, fresh: Claim): Partial<Claim> {
  if (HOURS.test(old.value)) return { value: fresh.value };
  const swap = (old.qualifier ?? "").replace(CLOCK, fresh.value.replace(/^(?:on|at) /i, ""));
  return { qualifier: swap };
}

const CLOCK =
  /(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?: (?:mornings?|afternoons?|evenings?|nights?))?|\d{1,2}(?:[:.]\d\d)? ?(?:am|pm)?|(?:mornings?|evenings?|weekends?|noon|midnight))/i;

function told({ memory, claim: old }: Held, next: Claim): string | undefined {
  const [was, is] = [clockOf(old), clockOf(next)];
  if (!memory || was === undefined || is === undefined || !memory.text.includes(was)) return undefined;
  return memory.text.replace(was, is);
}

function sameThing(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [telling(one.split("/").at(-1) ?? ""), telling(other.split("/").at(-1) ?? "")];
  return (
    a.length > 0 &&
    b.length > 0 &&
    (a.every((word) => b.includes(word)) || b.every((word) => a.includes(word)))
  );
}
