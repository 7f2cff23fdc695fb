import type { Claim } from "../../../../domain/memory.ts";
import type { Proposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, ending } from "../context.ts";
import { type Held, targetOf, telling } from "../forgetting/targets.ts";

interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * Ends what is meant by a name. Where a memory lists it among others ("on Saturdays and Sundays"), the others stay:
 * the memory is told anew without it.
 */
export function endings(
  context: Context,
  place: Place,
  found: readonly Held[],
  named: string,
  validTo?: string,
): Proposal[] {
  const target = targetOf(found);
  const left = found.flatMap((one) => without(context, place, one, named) ?? []);
  return target ? [ending(context, place, target, validTo), ...left] : [];
}

function without(context: Context, place: Place, one: Held, named: string): Proposal | undefined {
  const left = withoutMember(one, named);
  if (!left || !one.memory) return undefined;
  return adding(context, place, { ...left, kind: one.memory.kind, importance: one.memory.importance });
}

/** Of a memory that lists several things the one that stays: the others go. */
export function onlyMember(one: Held, kept: string): ReducedMemory | undefined {
  if (!one.memory) return undefined;
  const parts = one.memory.text.replace(/[.!]$/, "").split(MARKS);
  const at = parts.findIndex((part, k) => isMember(part, kept, k === 0));
  if (parts.length < 2 || at < 0) return undefined;
  let left: ReducedMemory = { text: one.memory.text, claim: one.claim };
  for (const [k, part] of parts.entries()) {
    if (k === at) continue;
    const name = k === 0 ? part.split(" ").slice(-1).join(" ") : part;
    left = withoutMember({ memory: { ...one.memory, text: left.text }, claim: left.claim }, name) ?? left;
  }
  return left.text === one.memory.text ? undefined : left;
}

/** What a memory says without some of its words. */
interface ReducedMemory {
  readonly text: string;
  readonly claim: Claim;
}

/** The claim and its text without one of the things it lists; undefined where it lists nothing beside it. */
function withoutMember({ claim, memory }: Held, named: string): ReducedMemory | undefined {
  const last = named.split(/ (?:on|in|at|to|for|with|of|from) /).at(-1) ?? named;
  for (const item of new Set([named, last])) {
    const text = memory && less(memory.text, item);
    const next = text === undefined ? undefined : lessClaim(claim, item);
    if (text !== undefined && next) return { text, claim: next };
  }
  return undefined;
}

function lessClaim(claim: Claim, item: string): Claim | undefined {
  const { qualifier, ...bare } = claim;
  const value = less(claim.value, item);
  if (value !== undefined) return { ...claim, value };
  if (qualifier === undefined) return undefined;
  const beside = less(qualifier, item);
  if (beside !== undefined) return { ...claim, qualifier: beside };
  // A list that runs over from the one into the other.
  const across = less(`${claim.value}, ${qualifier}`, item);
  const rest = qualifier.replace(item, "").trim();
  if (rest !== qualifier && rest !== "") return { ...claim, qualifier: rest };
  return across === undefined ? undefined : { ...bare, value: across };
}

const MARKS = /,? and |, |,? & /;

/** "A, B and C" without B. */
function less(text: string, named: string): string | undefined {
  const end = /[.!]$/.exec(text)?.[0] ?? "";
  const parts = text.slice(0, text.length - end.length).split(MARKS);
  const at = parts.length > 1 ? parts.findIndex((part, k) => isMember(part, named, k === 0)) : -1;
  const part = parts[at];
  if (part === undefined) return undefined;
  if (at > 0) return `${joined(parts.filter((_one, k) => k !== at))}${end}`;
  const [next = "", ...others] = parts.slice(1);
  const head = headOf(part, named);
  if (head === undefined || isTornOff(head, withoutRepeat(next, head))) return undefined;
  return `${joined([`${head}${withoutRepeat(next, head)}`, ...others])}${end}`;
}

/** The words before the first member: "The user watches " of "The user watches Bake Off". */
function headOf(part: string, named: string): string | undefined {
  const bare = named.replace(/^(?:the|my|an?|our) /i, "");
  const from = part.toLowerCase().lastIndexOf(bare.toLowerCase());
  if (from < 0 || from + bare.length < part.length - 2) return undefined;
  return part.slice(0, from).replace(/(?:^|(?<= ))(?:the|an?|my|their) $/i, "");
}

/** "plays tuba in" without its band, and "bass in a trio" behind it: they were no members of one list. */
function isTornOff(head: string, next: string): boolean {
  if (!/ (?:on|in|at|to|for|with|from|of|by) $/.test(head)) return false;
  return /(?:^|\s)(?:on|in|at|to|for|with|from|by|since|until|during) /.test(next);
}

/** "on Saturdays and on Sundays": the joint stands once. */
function withoutRepeat(next: string, head: string): string {
  const joint = / (?<joint>on|in|at|to|for|with) $/.exec(head)?.groups?.joint;
  return joint !== undefined && next.startsWith(`${joint} `) ? next.slice(joint.length + 1) : next;
}

function isMember(part: string, named: string, isFirst: boolean): boolean {
  const asked = telling(named);
  const words = telling(part);
  if (asked.length === 0 || !asked.every((word) => words.includes(word))) return false;
  const edges = isFirst ? [words.at(-1)] : [words[0], words.at(-1)];
  return edges.some((word) => asked.includes(word ?? "")) && (isFirst || words.length <= asked.length + 1);
}

function joined(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length === 1 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}
