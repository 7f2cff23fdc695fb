import { conjugate } from "../../domain/english.ts";
import type { AddProposal, Proposal } from "../../ports/extractor.ts";
import type { Clause } from "./clauses.ts";
import { adding, type Context, claimOf } from "./context.ts";
import type { Entity } from "./entities.ts";
import { compose } from "./sentence.ts";

interface Echo {
  readonly clause: Clause;
  readonly subject: Entity;
  readonly start: number;
  readonly end: number;
}

/** What the clause before told, in the words of this sentence. */
export type Told = readonly Proposal[];

const LIGHT =
  /^(?:not|too|either|also|though|neither|so|as|well|really|never|anymore|either|sadly|no|me|and)$/;

/**
 * "My flatmate's vegan and I'm not", "she eats meat, I don't", "my brother does too": a clause without words of its
 * own takes those of the clause before.
 */
export function echoed(context: Context, before: Told, { clause, subject, start, end }: Echo): AddProposal[] {
  const { tokens, verb, rest } = clause;
  const isBare = tokens.slice(...rest).every(({ lower }) => LIGHT.test(lower));
  const isAuxiliary = ["be", "do", "have"].includes(verb.lemma) || (verb.modal !== undefined && isBare);
  const hasDone = verb.lemma === "do" && rest[1] > rest[0] && !isBare;
  if (!isBare || !isAuxiliary || hasDone || verb.to - verb.from > 2) return [];
  const isDenied =
    verb.denied !== undefined ||
    tokens.slice(...rest).some(({ lower }) => /^(?:not|never|neither)$/.test(lower));
  const told = before.filter(
    (one): one is AddProposal =>
      one.propose === "add" &&
      one.claim !== undefined &&
      one.kind !== "entity" &&
      one.claim.subject !== subject.path,
  );
  return told.slice(-3).flatMap(({ claim, kind }) => {
    if (!claim || (verb.lemma === "be") !== /^(?:(?:not|never) )?be\b/.test(claim.relation)) return [];
    const bare = claim.relation.replace(/^(?:not|never) /, "");
    const relation = isDenied ? `not ${bare}` : bare;
    return [
      adding(
        context,
        { start, end },
        {
          text: compose(
            subject.display,
            conjugate(relation, subject.plural ? "they" : "third"),
            claim.value,
            claim.qualifier ?? "",
          ),
          claim: claimOf(subject.path, relation, claim.value, claim.qualifier),
          kind,
          confidence: 0.8,
        },
      ),
    ];
  });
}
