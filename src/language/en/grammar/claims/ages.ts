import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, claimOf } from "../context.ts";
import { compose } from "./sentence.ts";

/** "turned 30 last week", "not bad for 63", "my knees creak at 52": how old somebody is, told in passing. */
const PASSING: readonly RegExp[] = [
  /^(?:(?:well|so|hey|hi|yay|omg|guess what|i|i've|i have|just|finally|recently|and)[,!. ]+)*turned (?<age>\d{2})(?= (?:last|this|yesterday|today|on|in|two|a|the|and|recently)\b|[,;.!?]|$)/i,
  /\b(?:not (?:too )?bad|pretty good|quite something|impressive|great going|well done) (?:for|at) (?:a |an )?(?<age>\d{2})(?: year[- ]old)?(?=[,;.!?]|$)/i,
  /(?:^|[,;.!?] ?|\b(?:and|but) )(?:i|i'm|my|still)\b(?![^,;.!?]*\b(?:meet|start|begin|open|close|arrive|leave|get|wake|go|come|finish|end|due|call|bed|train|bus|flight|class|appointment|until|till|was|were|had|did)\b)[^,;.!?]* at (?<age>2[5-9]|[3-9]\d)(?=[,;.!?]|$)/i,
];

export function agesInPassing(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] {
  const age = PASSING.map((form) => form.exec(text)?.groups?.age).find((one) => one !== undefined);
  if (age === undefined) return [];
  const { speaker } = context.discourse;
  return [
    adding(context, place, {
      text: compose(speaker.display, "is", age, "years old"),
      claim: claimOf(speaker.path, "be aged", age),
      confidence: 0.8,
    }),
  ];
}
