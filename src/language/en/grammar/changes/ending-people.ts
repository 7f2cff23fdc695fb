import type { Claim } from "../../../../domain/memory.ts";
import type { Proposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { adding, claimOf, ending, said } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import { type Change, endedAt, place, sayIso } from "./change.ts";

const PARTED = new Set([
  "break up",
  "split up",
  "separate",
  "part",
  "split",
  "get divorced",
  "divorce",
  "call off",
  "fall out",
]);

const TOGETHER =
  /^(?:date|see|be (?:with|together with|married to|engaged to|in a relationship with|dating)|go out with|marry|live with)$/;

/** "has a boyfriend" */
function isHavingPartner({ relation, value }: Claim): boolean {
  return (
    relation === "have" && /\b(?:boyfriend|girlfriend|partner|husband|wife|fianc\p{L}*|spouse)$/iu.test(value)
  );
}

/** "Jonas and I broke up last night", "I broke up with Marco". */
export function over(change: Change): Proposal[] | undefined {
  const { context, statement, phrases, dates } = change;
  const { clause } = statement;
  const { verb, tokens } = clause;
  if (!parts(change) || verb.denied || verb.tense === "future") return undefined;
  const partner = partnerOf(change);
  const found = held(context).filter(
    ({ claim }) =>
      (TOGETHER.test(claim.relation) || isHavingPartner(claim)) &&
      (partner === undefined ||
        telling(partner).some((word) => telling(`${claim.value} ${claim.subject}`).includes(word)) ||
        /boyfriend|girlfriend|partner|husband|wife|fianc/.test(claim.value)),
  );
  const target = targetOf(found);
  // "the band split up", "I left Oslo": of nobody who was together with the speaker.
  const isOwn = statement.subject.path === context.discourse.speaker.path;
  if (!target && (!isOwn || partner === undefined || isState(verb.lemma))) return undefined;
  const [date] = dates;
  const who = partner ?? partnerNamed(found)?.replace(/^an? /i, "their ");
  const text = compose(
    statement.subject.display,
    "broke up with",
    who ?? "their partner",
    date ? `on ${sayIso(date.iso)}` : "",
  );
  const relation = /divorc/.test(change.text) ? "divorce" : "break up with";
  return [
    ...(target ? [ending(context, place(change), target, endedAt(change))] : []),
    adding(context, place(change), {
      text,
      claim: claimOf(statement.subject.path, relation, who ?? "their partner"),
      kind: "event",
      holds: "many",
      importance: 0.7,
      ...(date ? { when: date.iso } : {}),
    }),
  ];

  function partnerOf(_change: Change): string | undefined {
    const withWhom = phrases.find(
      ({ kind, head }) => kind === "preposition" && (head === "with" || head === "from"),
    );
    if (withWhom?.items[0]) return said(context, tokens, ...withWhom.items[0]);
    const span = clause.subject;
    if (isState(verb.lemma) && !verb.copula) {
      const object = said(context, tokens, ...clause.rest);
      return /^(?:me|us)\b/i.test(object) ? (statement.subject.name ?? undefined) : object;
    }
    if (span && span[1] - span[0] >= 3) {
      const text = said(context, tokens, ...span);
      return text.replace(/^(?:me|I) and /i, "").replace(/ and (?:I|me)$/i, "");
    }
    return undefined;
  }
}

/** "Jonas and I broke up", "Noemi and I are over", "he dumped me". */
function parts({ statement, text, context }: Change): boolean {
  const { verb, subject, tokens, rest } = statement.clause;
  if (PARTED.has(verb.lemma) || (verb.lemma === "get" && /\bdivorced\b/i.test(text))) return true;
  const isPair = subject !== undefined && subject[1] - subject[0] >= 3;
  if (verb.copula)
    return isPair && /\b(?:over|done|finished|history|through|no longer together)\b/i.test(text);
  const object = said(context, tokens, ...rest);
  return isState(verb.lemma) && (/^(?:me|us)\b/i.test(object) || /^\p{Lu}\p{L}+$/u.test(object));
}

/** Verbs that part people, and things too. */
function isState(lemma: string): boolean {
  return ["dump", "leave", "be"].includes(lemma);
}

function partnerNamed(found: readonly Held[]): string | undefined {
  return found[0]?.claim.value;
}

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
  const target = subject.path.includes("/") ? targetOf(found) : undefined;
  return [
    ...(target ? [ending(context, place(change), target, endedAt(change))] : []),
    adding(context, place(change), {
      text: compose(subject.display, "died", date ? `on ${sayIso(date.iso)}` : ""),
      claim: claimOf(subject.path, "die", date ? sayIso(date.iso) : ""),
      kind: "event",
      holds: "many",
      importance: 0.8,
      ...(date ? { when: date.iso } : {}),
    }),
  ];
}
