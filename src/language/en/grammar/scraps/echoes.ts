import type { Claim, Kind } from "../../../../domain/memory.ts";
import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { conjugate } from "../../word-forms.ts";
import { compose } from "../claims/sentence.ts";
import { lastBreath } from "../claims/told.ts";
import type { Clause } from "../clauses/clauses.ts";
import { isHuman } from "../clauses/entities.ts";
import type { Entity } from "../clauses/entity.ts";
import { adding, type Context, claimOf } from "../context.ts";
import type { Token } from "../words/token.ts";

interface Echo {
  readonly clause: Clause;
  readonly subject: Entity;
  readonly start: number;
  readonly end: number;
}

/** What the clause before told; where it told nothing, what was told last. */
type EchoedClaims = readonly Pick<AddProposal, "claim" | "kind">[];

/** What a clause proposed, as what the next one can echo. */
export function toldIn(proposals: readonly Proposal[]): EchoedClaims {
  return proposals.filter((one): one is AddProposal => one.propose === "add" && one.claim !== undefined);
}

/** What was told last, as what "my sister does too" can echo. */
export function toldBefore(context: Context, start: number): EchoedClaims {
  return lastBreath(context, start).map(({ claim, memory }) => ({ claim, kind: memory?.kind ?? "fact" }));
}

const LIGHT =
  /^(?:not|too|either|also|though|neither|so|as|well|really|never|anymore|either|sadly|no|me|and|one)$/;

/**
 * "My flatmate's vegan and I'm not", "she eats meat, I don't", "my brother does too": a clause without words of its
 * own takes those of the clause before.
 */
export function echoed(
  context: Context,
  before: EchoedClaims,
  { clause, subject, start, end }: Echo,
): AddProposal[] {
  const { tokens, verb, rest } = clause;
  const isBare = tokens.slice(...rest).every(({ lower }) => LIGHT.test(lower));
  const isAuxiliary = ["be", "do", "have"].includes(verb.lemma) || (verb.modal !== undefined && isBare);
  const hasDone = verb.lemma === "do" && rest[1] > rest[0] && !isBare;
  // "I'm doing a beginner's welding course": its object was not read as one.
  const isProgressive = /ing$/.test(tokens[verb.to - 1]?.lower ?? "");
  if (!isBare || !isAuxiliary || hasDone || isProgressive || verb.to - verb.from > 2) return [];
  const isDenied =
    verb.denied !== undefined ||
    tokens.slice(...rest).some(({ lower }) => /^(?:not|never|neither)$/.test(lower));
  const told = before.filter(({ claim, kind }) => kind !== "entity" && claim?.subject !== subject.path);
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

const OPENS = "(?:(?:and|but|oh|yes|yeah|haha|well|actually|nah|no|aw)[,! ]+)*";
const CLOSES = "(?:,? (?:tbh|actually|lol|haha|though|tho|honestly|to be honest|now|really|btw))*";

/** How people say that the same goes for somebody else. Add a row to add a way to say it. */
export const SAME: readonly RegExp[] = [
  new RegExp(
    `^${OPENS}(?:same here|ditto|likewise|snap|same for me|same with me|same|that makes two of us)${CLOSES}$`,
    "i",
  ),
  new RegExp(`^${OPENS}(?<who>[^,.]{1,40}?),? (?:too|as well|also|neither|either)${CLOSES}$`, "i"),
  new RegExp(
    `^${OPENS}(?:so|neither|nor|as)(?:['’]s| (?:do|does|did|am|is|are|was|have|has|can|can['’]t|will|would)) (?<who>[^,.]{1,40}?)${CLOSES}$`,
    "i",
  ),
  new RegExp(`^${OPENS}(?:the )?same (?:for|with|goes for) (?<who>[^,.]{1,40}?)${CLOSES}$`, "i"),
];

const SPEAKER = /^(?:me|i|myself|us|we)$/i;

/** "Me too", "neither do I", "same here", "so is my wife": what was told last of somebody, said of somebody else. */
export function agreed(
  context: Context,
  tokens: readonly Token[],
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] | undefined {
  const found = SAME.map((pattern) => pattern.exec(text)).find(Boolean);
  if (!found) return undefined;
  const who = found.groups?.who;
  const subject =
    who === undefined || SPEAKER.test(who) ? context.discourse.speaker : personIn(context, tokens, who);
  if (!subject?.animate) return undefined;
  const told = toldBefore(context, place.start).filter(
    ({ claim, kind }) => kind !== "entity" && claim?.subject !== subject.path,
  );
  if (told.length === 0 || told.length > 4) return undefined;
  return told.flatMap(({ claim, kind }) => (claim ? [sameOf(context, place, subject, { claim, kind })] : []));
}

function personIn(context: Context, tokens: readonly Token[], who: string): Entity | undefined {
  const start = tokens.findIndex((token) => who.startsWith(context.content.slice(token.start, token.end)));
  const end = tokens.findIndex(({ end: at }) => at === (tokens[start]?.start ?? 0) + who.length);
  if (start < 0 || end < start) return undefined;
  const entity = context.discourse.resolve(tokens, start, end + 1);
  const isKnown = entity !== undefined && (entity.path.includes("/") || isSpokenOf(context, entity));
  return isKnown && isHuman(entity) ? entity : undefined;
}

function isSpokenOf({ known }: Context, { path }: Entity): boolean {
  return known.some(({ status, claim }) => status === "current" && claim?.subject === path);
}

function sameOf(
  context: Context,
  place: { readonly start: number; readonly end: number },
  subject: Entity,
  { claim, kind }: { readonly claim: Claim; readonly kind: Kind },
): AddProposal {
  const verb = conjugate(claim.relation, subject.plural ? "they" : "third");
  return adding(context, place, {
    text: compose(subject.display, verb, claim.value, claim.qualifier ?? ""),
    claim: claimOf(subject.path, claim.relation, claim.value, claim.qualifier),
    kind,
    confidence: 0.8,
  });
}
