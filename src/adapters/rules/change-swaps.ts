import type { Claim } from "../../domain/memory.ts";
import { attributeRelations } from "../../domain/relations.ts";
import type { AddProposal, Proposal } from "../../ports/extractor.ts";
import { type Change, escaped, fromThen, newThing, owner, place, sayClaim } from "./change.ts";
import { claimsOf } from "./claims.ts";
import { adding, claimOf, said, tidy } from "./context.ts";
import { sentenceOf, verbPhrase } from "./parts.ts";
import { type Held, held, meant, targetOf, telling } from "./targets.ts";

// --- one thing for another -------------------------------------------------------------------------------------
const SWAPS: readonly RegExp[] = [
  /\b(?:switch|chang|mov|go|went|gone|migrat|convert|transition|jump|graduat|upgrad|downgrad|swap|shift|com|cam)(?:e|ed|d|ing|ped|ping|es|s)?\b(?: (?:over|up|down|across|back|all|everything|completely|my \w+))* from (?<old>.+?) (?:over )?(?:to|onto|into) (?<new>.+)$/i,
  /\b(?:replac)(?:e|ed|es|ing) (?<old>.+?) (?:with|by) (?<new>.+)$/i,
  /\b(?:swap|trad|switch|exchang|ditch|dump|drop|chang|substitut|upgrad|abandon)(?:e|ed|ped|ping|ing|es|s)?\b(?: in| out| up)? (?<old>.+?) (?:for|in favou?r of) (?<new>.+)$/i,
  /\b(?:upgrad|downgrad|chang|switch|convert)(?:e|ed|ing|es|s)? (?<old>my .+?) (?:to|into) (?<new>.+)$/i,
];

/** "a new trainer, Idris", "a bloke called Idris" */
const NEW_NAME =
  /^(?:an?|my|the|another) [^,]{2,40}?(?:,| called| named) (?<name>\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)/u;

/** "switched from Billdesk to Ledgerly", "replaced juice with kefir": the new takes the place and the relation of the old. */
export function swapped(change: Change): Proposal[] | undefined {
  const { text } = change;
  for (const pattern of SWAPS) {
    const found = pattern.exec(text);
    if (!found?.groups) continue;
    const old = tidy(found.groups.old ?? "");
    const fresh = newThing(found.groups.new ?? "");
    if (old === "" || fresh === "" || /^\S+ing\b/.test(fresh)) continue;
    const rivals = rivalsOf(change, old);
    const [rival] = rivals;
    if (!rival) {
      if (/^(?:\d|[£$€])/.test(fresh)) return undefined;
      return unknownSwap(change, old, fresh);
    }
    return [inherit(change, rivals, rival, old, newName(rival, found.groups.new) ?? fresh)];
  }
  return undefined;
}

/** What the old thing names: by its words, or by what "my major" is told with. */
function rivalsOf(change: Change, old: string): Held[] {
  const named = meant(change.context, { named: old, ...owner(change) });
  const noun = /^(?:my|our) (\S+)$/i.exec(old)?.[1]?.toLowerCase();
  if (named.length > 0 || noun === undefined) return named;
  const { subject } = change.statement;
  const all = held(change.context).filter(({ claim }) => claim.subject === subject.path);
  for (const relation of attributeRelations(noun)) {
    const found = all.filter(({ claim }) => claim.relation === relation);
    if (found.length > 0) return relation === "be" ? [] : found;
  }
  return [];
}

function newName({ claim }: Held, fresh: string | undefined): string | undefined {
  return claim.relation === "be called" ? NEW_NAME.exec(fresh ?? "")?.groups?.name : undefined;
}

function inherit(
  change: Change,
  rivals: readonly Held[],
  rival: Held,
  old: string,
  fresh: string,
): AddProposal {
  const claim = withNew(rival.claim, old, fresh);
  const target = targetOf(
    rivals.filter(
      (one) =>
        one.claim.subject === rival.claim.subject &&
        (one.claim.relation === rival.claim.relation || one.claim.value === rival.claim.value),
    ),
  );
  const text = sayClaim(change, claim);
  return adding(change.context, place(change), {
    text,
    claim,
    ...(target ? { replaces: target } : {}),
    ...fromThen(change),
    importance: 0.7,
  });
}

/** The old claim with the new thing where the old one stood. */
function withNew(claim: Claim, old: string, fresh: string): Claim {
  const words = telling(old);
  const holds = (text: string | undefined): boolean =>
    text !== undefined && words.some((word) => telling(text).includes(word));
  if (!holds(claim.value) && holds(claim.qualifier) && claim.qualifier !== undefined) {
    const value = claim.qualifier;
    const pattern = new RegExp(
      `(?:\\b(?:the|a|an|my) )?\\b${escaped(old.replace(/^(?:the|a|an|my) /i, ""))}\\b`,
      "i",
    );
    const qualifier = pattern.test(value) ? value.replace(pattern, fresh) : fresh;
    return { ...claim, qualifier };
  }
  return { ...claim, value: fresh };
}

/** A swap of something that is not known: what is used now is worth keeping. */
function unknownSwap(change: Change, old: string, fresh: string): Proposal[] | undefined {
  const { context, statement } = change;
  const { lemma } = statement.clause.verb;
  if (
    !/^(?:switch|replace|swap|migrate|trade|ditch|change|convert)/.test(lemma) ||
    statement.clause.verb.denied
  )
    return undefined;
  if (telling(old).length === 0) return undefined;
  return [
    adding(context, place(change), {
      text: sentenceOf(
        { context, statement, dates: change.dates },
        said(context, statement.clause.tokens, ...statement.clause.rest),
      ),
      claim: claimOf(statement.subject.path, "use", fresh, `instead of ${old}`),
      confidence: 0.7,
      ...fromThen(change),
    }),
  ];
}

/** "I use Y instead of X": X goes. */
export function instead(change: Change): Proposal[] | undefined {
  const { context, text } = change;
  const found = /^(?<head>.+?) instead of (?<old>.+)$/i.exec(text);
  if (!found?.groups) return undefined;
  const old = newThing(found.groups.old ?? "").replace(
    /^(?:taking|using|driving|drinking|eating|having|going to|playing|riding|reading|watching|doing|getting|buying|wearing) /i,
    "",
  );
  const rivals = meant(context, { named: old, ...owner(change) });
  const [rival] = rivals;
  if (!rival) return undefined;
  const { clause } = change.statement;
  const object = change.phrases.find(({ kind }) => kind === "noun" || kind === "preposition");
  const item = object?.items[0];
  if (!item || clause.verb.denied) return undefined;
  const target = targetOf(rivals);
  if (verbPhrase({ statement: change.statement }).split(" ")[0] !== rival.claim.relation.split(" ")[0]) {
    const [first, ...others] = claimsOf(context, change.statement);
    return first && [target ? { ...first, replaces: target } : first, ...others];
  }
  const fresh = said(context, clause.tokens, ...item).replace(/ instead of .*$/i, "");
  return [inherit(change, rivals, rival, found.groups.old ?? "", fresh)];
}
