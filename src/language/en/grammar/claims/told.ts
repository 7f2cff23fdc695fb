import type { Context } from "../context.ts";
import { type Held, held } from "../forgetting/targets.ts";
import { askedAfter, askedLast } from "../scraps/assistant-question.ts";

/**
 * What words that stand alone ("not anymore", "me too", "that was a joke") go back to: what this message told last,
 * else what the assistant has just asked after, else what the user's last turn told.
 */
export function lastTold(context: Context, start = 0, isEventToo = false): Held[] {
  const all = held(context).filter(({ memory }) => isEventToo || memory?.kind !== "event");
  const made = all.filter(({ memory }) => memory === undefined);
  if (made.length > 0) return made.slice(-1);
  const asked = askedLast(context, start);
  const meantByIt = asked ? askedAfter(context, asked) : [];
  if (meantByIt.length > 0) return meantByIt;
  return fromLastTurn(context, all);
}

function fromLastTurn({ earlier }: Context, all: readonly Held[]): Held[] {
  const turn = earlier.findLast(({ role }) => role === "user");
  if (turn) return all.filter(({ memory }) => memory?.sources.some(({ message }) => message === turn.id));
  // A conversation that opens with "it's gone" goes on where the last one ended.
  const last = all.findLast(({ memory }) => memory !== undefined)?.memory?.sources.at(-1)?.message;
  return all.filter(({ memory }) => memory?.sources.at(-1)?.message === last);
}

/** Of what was told last, what was said in one breath: one subject, one relation, one sentence. */
export function lastBreath(context: Context, start = 0, isEventToo = false): Held[] {
  const told = toldHere(context, start, isEventToo);
  const last = told.findLast(({ claim }) => claim.relation !== "be called") ?? told.at(-1);
  if (!last) return [];
  return told.filter((one) => isOneBreath(one, last));
}

/** All that this message made, where it made anything; `lastTold` gives its last claim alone. */
function toldHere(context: Context, start: number, isEventToo: boolean): Held[] {
  const made = held(context).filter(({ memory }) => memory === undefined);
  return made.length > 0 ? made : lastTold(context, start, isEventToo);
}

function isOneBreath(one: Held, other: Held): boolean {
  if (one.claim.subject !== other.claim.subject || one.claim.relation !== other.claim.relation) return false;
  const [mine] = one.memory?.sources ?? [];
  const [theirs] = other.memory?.sources ?? [];
  return mine?.message === theirs?.message;
}
