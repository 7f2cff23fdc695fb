import type { Proposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { getStatementSpan } from "../clauses/parts.ts";
import { adding, claimOf, ending } from "../context.ts";
import { held, targetOf, telling } from "../forgetting/targets.ts";
import { type Change, endedAt, sayIso } from "./change.ts";

/** "our cat Milo died": what was true of it in the present ends with it; that there was a cat stays. */
export function deceased(change: Change): Proposal[] | undefined {
  const { context, statement, dates } = change;
  const { verb } = statement.clause;
  if (!(verb.lemma === "die" || verb.lemma === "pass away") || verb.denied) return undefined;
  if (verb.tense !== "past" && !verb.perfect) return undefined;
  const { subject } = statement;
  if (!subject.animate) return undefined;
  const [date] = dates;
  const thing = subject.path.split("/").at(-1) ?? "";
  const found = held(context).filter(
    ({ claim }) =>
      claim.subject === context.discourse.speaker.path &&
      /^(?:have|own|get|adopt|keep|rescue)$/.test(claim.relation) &&
      telling(thing).every((word) => telling(claim.value).includes(word)),
  );
  const noun = thing.replace(/ \p{Lu}.*$/u, "");
  const counted = held(context).filter(
    ({ claim }) =>
      noun !== thing &&
      claim.subject === context.discourse.speaker.path &&
      claim.relation === "have" &&
      /^(?:\d+|two|three|four|five|six) /i.test(claim.value) &&
      telling(noun).every((word) => telling(claim.value).includes(word)),
  );
  const target = subject.path.includes("/") ? targetOf([...found, ...counted]) : undefined;
  return [
    ...(target ? [ending(context, getStatementSpan(change), target, endedAt(change))] : []),
    adding(context, getStatementSpan(change), {
      text: compose(subject.display, "died", date ? `on ${sayIso(date.iso)}` : ""),
      claim: claimOf(subject.path, "die", date ? sayIso(date.iso) : ""),
      kind: "event",
      holds: "many",
      importance: 0.8,
      ...(date ? { when: date.iso } : {}),
    }),
  ];
}
