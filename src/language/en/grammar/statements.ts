import { isValueContained } from "../../../domain/memory.ts";
import type { AddProposal, Proposal } from "../../../ports/language/extractor.ts";
import { changesOf } from "./changes/changes.ts";
import { inFrame } from "./changes/frames.ts";
import { claimsOf } from "./claims/claims.ts";
import { companionsApart } from "./claims/companions.ts";
import { withObject } from "./clauses/relatives.ts";
import { type Context, ending, type Statement } from "./context.ts";
import { isTaskTalk } from "./no-facts/task-talk.ts";
import { isFiction } from "./no-facts/unreal.ts";
import { isAmongPeople } from "./standing/among-people.ts";
import { isRetellable } from "./standing/retelling.ts";
import { type Standing, standsAlone } from "./standing/standing.ts";

/** What a statement changes or tells, where it tells something that is so of somebody's life. */
export function readStatement(context: Context, statement: Statement, sentence: string): Proposal[] {
  if (isFiction(statement)) return [];
  const whole = withObject(context, statement);
  if (whole) return whole;
  const standing = standingOf(context, statement);
  const isKept = (claim: AddProposal): boolean =>
    standsAlone(claim, standing) &&
    !isTaskTalk(statement, claim) &&
    (!standing.isStrict || isRetellable({ context, statement, proposal: claim }));
  const changes = changesOf(context, statement, sentence)?.flatMap((one) =>
    companionsApart(context, statement, one),
  );
  if (changes)
    return standing.isStrict ? changes.filter((one) => one.propose !== "add" || isKept(one)) : changes;
  const claims = claimsOf(context, statement)
    .flatMap((one) => companionsApart(context, statement, one))
    .filter(isKept);
  return [...denials(context, claims), ...inFrame(context, statement, claims)];
}

function standingOf(context: Context, { clause, subject }: Statement): Standing {
  const first = clause.subject && clause.tokens[clause.subject[0]];
  const isStrict = isAmongPeople(context);
  const isPronoun = /^(?:it|that|this|these|those|they|which|who)$/.test(first?.lower ?? "");
  const isGerund = clause.verb.form === "gerund" && !clause.subject;
  return {
    isStrict,
    isGerund,
    isThing: !subject.animate || first?.tags.has("Place") === true,
    isPointed: isPronoun || (isStrict && first?.lower === "the" && !subject.animate),
  };
}

/** "I'm not allergic to peanuts after all": what was held, and is denied without a circumstance. */
function denials(context: Context, claims: readonly AddProposal[]): Proposal[] {
  return claims.flatMap(({ claim, start, end }) => {
    const bare = /^not (?<relation>.+)$/.exec(claim?.relation ?? "")?.groups?.relation;
    if (!claim || bare === undefined || claim.value === "" || isCircumstance(claim.qualifier)) return [];
    const held = context.known.filter(
      (one) =>
        one.status === "current" &&
        one.claim?.subject === claim.subject &&
        one.claim.relation === bare &&
        isValueContained(one.claim.value, claim.value),
    );
    const ids = held.map(({ id }) => id);
    return ids.length > 0 && ids.length < 3 ? [ending(context, { start, end }, { ids })] : [];
  });
}

function isCircumstance(qualifier: string | undefined): boolean {
  return qualifier !== undefined && !/^(?:after all|any ?more|really|actually|at all)\b/i.test(qualifier);
}
