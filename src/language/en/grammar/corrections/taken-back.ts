import type { Proposal } from "../../../../ports/language/extractor.ts";
import { lastBreath } from "../claims/told.ts";
import { type Context, ending } from "../context.ts";
import { targetOf } from "../forgetting/targets.ts";

/** What says, as a whole sentence, that the words before were not meant: add a row to add a way to say it. */
export const TAKES_BACK: readonly RegExp[] = [
  // "that was a joke", "I was only kidding", "it's a lie"
  /^(?:that|this|it|all that|the last bit|that last bit|i) ?(?:['’]s|['’]m| is| was| am)?(?: all| just| only| obviously| clearly| totally| of course| actually)* (?:a (?:bad |silly |stupid )?(?:joke|lie|fib|prank)|jokes|joking|kidding|lying|sarcasm|sarcastic|being (?:sarcastic|silly)|untrue|made up|not true|not serious|nonsense)$/i,
  /^(?:nah |no |lol |haha+ )?(?:just|only|totally|obviously)? ?(?:kidding|joking|jk|messing|teasing|pulling your leg)(?: around| about| with you)?$/i,
  // "that isn't true", "none of that is true"
  /^(?:that|none of (?:that|it)|it) ?(?:['’]s|is|was)? ?(?:not|isn['’]?t|wasn['’]?t)? (?:really |actually |at all )?(?:true|serious)$/i,
  /^i (?:just |totally )?(?:made (?:that|it|all that) (?:all )?up|take (?:that|it) (?:all )?back|lied|didn['’]?t mean (?:it|that)|don['’]?t mean (?:it|that))$/i,
  /^(?:scratch|strike|ignore|disregard) (?:that|what i (?:just )?said)$/i,
];

const AROUND =
  /^(?:(?:ok(?:ay)?|no|nah|well|oh|haha+|lol|btw|sorry|wait|but|and|hm+|actually|obviously|seriously)[,.! ]+)+|[,.! ]+(?:obviously|of course|lol|haha+|sorry|btw|by the way|actually|clearly|ofc|don['’]?t worry|guys|though|tho)$/gi;

/** "jk i hate it": the joke, and what is so. */
const JOKED_BEFORE =
  /^(?:(?:nah|no|lol|haha+) )?(?:jk|(?:just|only) (?:kidding|joking)|kidding|joking)\b[,.!: ]+(?:lol[,.! ]+)?(?<truth>(?:i|my|we|it|he|she|they)\b.{3,})$/i;

/** "that was a joke": what was told right before was never so. */
export function takenBack(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] | undefined {
  const bare = text.replace(AROUND, "").replace(AROUND, "");
  const truth = JOKED_BEFORE.exec(bare)?.groups?.truth;
  if (truth !== undefined && lastBreath(context, place.start, true).length > 0)
    return [...(takenBack(context, "just kidding", place) ?? []), ...context.readAs(truth, place)];
  if (!TAKES_BACK.some((pattern) => pattern.test(bare))) return undefined;
  const target = targetOf(lastBreath(context, place.start, true));
  return target ? [{ ...ending(context, place, target), propose: "retract" }] : [];
}
