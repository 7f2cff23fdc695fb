import type { Proposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, tidy } from "../context.ts";
import { telling } from "../forgetting/targets.ts";
import type { KnownMemory } from "../known-memory.ts";

const OPENS =
  "(?:(?:so|and|but|well|ok(?:ay)?|oh|update|news|guess what|yes|yay|ugh|sadly|anyway|surprise|finally)[,:.! –—-]+)*";
const WE =
  "(?:(?:i|we)(?:['’]?ve|['’]?m|['’]?re| have| am| are)? )?(?:(?:just|finally|now|recently|actually|officially|both|all) )*";
const WHAT = "(?<what>[^,.;!?]{2,50}?)";
const CLOSES = "(?=$|[,.;!]| (?:again|now|after all|since|because|this|last|lol|though|tho|at last)\\b)";

/** How people say that they took something up again: `what` names it. Add a row to add a way to say it. */
export const RESUMES: readonly RegExp[] = [
  `${WE}back (?:on|at|to|with|in|into|using|doing|playing|taking|learning|eating|drinking)(?: the| my| our)? ${WHAT}`,
  `${WE}(?:picked|picking|took|taken|taking|started|starting) ${WHAT} (?:back up|up again|again|back)`,
  `${WE}(?:picked|picking|took|taken|taking) (?:back )?up ${WHAT} again`,
  `${WE}(?:re-?joined|re-?joining|re-?subscribed to|re-?installed|re-?started|re-?opened|resumed|resuming|re-?activated|renewed|un-?paused|re-?downloaded|re-?hired|bought back|went back (?:to|on)|gone back (?:to|on)|going back (?:to|on)|got back (?:in)?to|returned to|signed (?:back )?up (?:again )?(?:for|to|with)) ${WHAT}`,
  `${WE}(?:started|begun|began|starting|beginning) (?:\\p{L}+ing|to \\p{L}+) ${WHAT} again`,
  `${WE}(?:use|play|do|take|eat|drink|go to|learn|read|watch|wear|attend|using|playing|doing|taking|eating|drinking|learning|got|have|see|seeing|subscribe to|work at|work for|live in) ${WHAT} again`,
  `${WHAT}(?:['’]s| is| are) back(?: on)?(?: again| now)?$`,
].map((row) => new RegExp(`^${OPENS}${row}${CLOSES}`, "iu"));

const UNSURE =
  /\b(?:if|might|may|could|would|should|want|wish|hope|not|never|almost|nearly|can['’]?t|thinking|maybe|plan)\b|n['’]t\b|\?$/i;

/** "I'm back on Spotify", "picked Czech back up": what had ended is so again, in the words in which it was told. */
export function resumed(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] | undefined {
  if (!/\bback\b|\bagain\b|\bre-?\p{L}{4,}|\bsigned up\b/iu.test(text) || UNSURE.test(text)) return undefined;
  for (const pattern of RESUMES) {
    const what = tidy(pattern.exec(text)?.groups?.what ?? "").replace(/^(?:the|my|our|a|an|to) /i, "");
    const found = what === "" ? [] : endedAs(context, what);
    if (found.length > 0) return found.map((memory) => again(context, place, memory));
  }
  return undefined;
}

/** What ended last and names it; where several ended at once, all of them that name it. */
function endedAs(context: Context, what: string): KnownMemory[] {
  const asked = telling(what);
  if (asked.length === 0) return [];
  const named = context.ended().filter(({ claim, kind }) => {
    const words = telling(`${claim?.value ?? ""} ${claim?.qualifier ?? ""}`);
    return claim !== undefined && kind !== "event" && asked.every((word) => words.includes(word));
  });
  const [first] = named;
  const isHeld = context.known.some(
    ({ status, claim }) =>
      status === "current" &&
      claim?.relation === first?.claim?.relation &&
      claim?.value === first?.claim?.value,
  );
  return first && !isHeld ? [first] : [];
}

function again(
  context: Context,
  place: { readonly start: number; readonly end: number },
  { text, claim, kind, importance }: KnownMemory,
): Proposal {
  return adding(context, place, {
    text,
    claim: claim ?? { subject: "user", relation: "do", value: text },
    kind,
    importance,
  });
}
