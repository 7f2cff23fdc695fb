import type { Proposal } from "../../../../ports/language/extractor.ts";
import { claimsOf } from "../claims/claims.ts";
import { getStatementSpan } from "../clauses/parts.ts";
import { type Context, ending, tidy } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import type { Change } from "./change.ts";

/** Relations under which something ahead is kept. */
const AHEAD =
  /^(?:(?:was |were |be |have been )?(?:plan|planning|going|hoping|hope|need|have|want|intend|aim|mean|try|decide|agree|set|about|due|supposed|wish|look forward|save up)(?: to| for| on)?\b|promise|must\b|owe\b|will\b|be moving|be getting|be going|be flying|be travelling|be starting|be running|be selling|be adopting|move to|fly to|travel to)/;

const OPENS =
  "(?:(?:so|and|but|well|ok(?:ay)?|oh|update|news|in the end|actually|sadly|anyway|right)[,:.! –—-]+)*";
const WE =
  "(?:(?:i|we)(?:['’]?ve|['’]?m|['’]?re| have| am| are)? )?(?:(?:just|finally|now|recently|actually|both) )*";
const WHAT = "(?<what>[^,.;!?]{2,60}?)";
const CLOSES = "(?=$|[,.;!]| (?:after all|any ?more|now|because|since|this year|in the end|for now|too)\\b)";

/** How people say that a plan of theirs is off: `what` names it. Add a row to add a way to say it. */
export const DROPPED: readonly RegExp[] = [
  `${WE}changed (?:my|our) minds? (?:about|on) ${WHAT}`,
  `${WE}(?:decided|chosen|chose|resolved|opted) not to ${WHAT}`,
  `${WE}decided against ${WHAT}`,
  `(?:i['’]?m|we['’]?re|i am|we are|so|and|definitely|just)? ?(?:not|no longer) (?!sure|a\\b|the\\b|an\\b)${WHAT} (?:after all|any ?more|in the end)`,
  `${WE}(?:won['’]?t|will not|aren['’]?t|am not going to|['’]?m not going to|['’]?re not going to|not gonna) (?:be )?${WHAT} (?:after all|any ?more|in the end)`,
  `${WE}(?:gave|given) up on (?:the idea of )?${WHAT}`,
  `(?:the |my |our )?${WHAT}(?: is|['’]s| are)(?:n['’]?t| not) (?:happening|going ahead|on)`,
  `(?:the |my |our )?${WHAT} (?:fell|has fallen|falls) (?:through|flat)`,
].map((row) => new RegExp(`^${OPENS}${row}${CLOSES}`, "iu"));

/** How people say that it is done: `what` names it. */
export const FULFILLED: readonly RegExp[] = [
  `(?:the |my |our )?${WHAT}(?: is|['’]s| are) (?:all )?(?:done|sorted|finished|ticked off|dealt with|taken care of|in the bag|over and done with)`,
  `${WE}(?:got|have) (?:the |my |our )?${WHAT} (?:done|sorted|over with)`,
  `${WE}(?:done|did|sorted|ticked off|dealt with|took care of|finished(?: with)?) (?:the |my |our )?${WHAT}`,
].map(
  (row) =>
    new RegExp(
      `^${OPENS}${row}(?=$|[,.;!]| (?:now|already|at last|finally|yesterday|today|last|this|on)\\b)`,
      "iu",
    ),
);

/** "changed our minds about the greyhound", "passport's done": what was ahead is so no longer. */
export function planOver(
  context: Context,
  text: string,
  at: { readonly start: number; readonly end: number },
): Proposal[] | undefined {
  if (/\?$|\b(?:if|might|maybe|should|could|would|almost|nearly|haven['’]?t)\b/i.test(text)) return undefined;
  for (const pattern of [...DROPPED, ...FULFILLED]) {
    const what = tidy(pattern.exec(text)?.groups?.what ?? "");
    const target = what === "" ? undefined : targetOf(ahead(context, what));
    if (target) return [ending(context, at, target)];
  }
  return undefined;
}

const LOOSE = /\b(?:trip|thing|plan|plans|idea|holiday|appointment|whole|getting|doing|going|to)\b/gi;

/** What is ahead of the user and names it in relation or value. */
function ahead(context: Context, what: string): Held[] {
  const words = new Set(telling(what.replace(LOOSE, " ")));
  if (words.size === 0) return [];
  const found = held(context).filter(({ claim, memory }) => {
    const isAhead =
      AHEAD.test(claim.relation) || memory?.kind === "commitment" || isToCome(context, memory?.when);
    if (!memory || !isAhead || !claim.subject.startsWith(context.discourse.speaker.path)) return false;
    const said = new Set(
      telling(
        `${claim.subject.replaceAll("/", " ")} ${claim.relation} ${claim.value} ${claim.qualifier ?? ""}`,
      ),
    );
    return [...words].every((word) => said.has(word));
  });
  return found.length <= 3 ? found : [];
}

function isToCome({ message }: Context, when: string | undefined): boolean {
  return when !== undefined && when >= message.at.slice(0, 10);
}

/** "painted my niece's room yesterday", of one who promised to: the promise is kept. */
export function fulfilled(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens } = statement.clause;
  const isDone =
    (verb.tense === "past" || verb.perfect) && verb.chain.length === 0 && !verb.denied && !verb.progressive;
  const item = phrases.find(({ kind }) => kind === "noun" || kind === "preposition")?.items[0];
  if (!isDone || verb.copula || !item) return undefined;
  const named = telling(context.content.slice(tokens[item[0]]?.start, tokens[item[1] - 1]?.end));
  if (named.length === 0) return undefined;
  const found = held(context).filter(({ claim, memory }) => {
    if (!memory || memory.kind === "event" || claim.subject !== statement.subject.path) return false;
    const isPromise = claim.relation === "promise" || AHEAD.test(claim.relation);
    const doing = `${claim.relation} ${claim.relation === "promise" ? claim.value : ""}`.split(" ");
    return (
      isPromise &&
      doing.includes(verb.lemma) &&
      named.every((word) => telling(`${claim.value} ${claim.qualifier ?? ""}`).includes(word))
    );
  });
  const target = found.length <= 2 ? targetOf(found) : undefined;
  return target && [ending(context, getStatementSpan(change), target), ...claimsOf(context, statement)];
}

/** "we used to have a boat": it is so no longer. */
export function formerly(change: Change): Proposal[] | undefined {
  const { context, statement } = change;
  if (!/\bused to\b/i.test(change.text)) return undefined;
  const claims = claimsOf(context, statement);
  const found = claims.flatMap(({ claim }) => {
    const relation = /^used to (?<doing>.+)$/.exec(claim?.relation ?? "")?.groups?.doing;
    if (!claim || relation === undefined) return [];
    const words = telling(claim.value);
    return held(context).filter(
      (one) =>
        one.memory !== undefined &&
        one.memory.kind !== "event" &&
        one.claim.subject === claim.subject &&
        one.claim.relation === relation &&
        words.every((word) => telling(one.claim.value).includes(word)),
    );
  });
  const target = found.length < 4 ? targetOf(found) : undefined;
  return target ? [ending(context, getStatementSpan(change), target), ...claims] : undefined;
}
