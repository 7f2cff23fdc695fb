import type { Question } from "../../../ports/language/question-reader.ts";
import { discourse, speakerEntity } from "../grammar/clauses/entities.ts";
import { headWord, joinSpan } from "../grammar/clauses/head-words.ts";
import { tidy } from "../grammar/context.ts";
import type { KnownMemory } from "../grammar/known-memory.ts";
import { FIRST_PERSON } from "../grammar/words/lexicon.ts";
import { nounOf } from "../grammar/words/nouns.ts";
import type { Token } from "../grammar/words/token.ts";

/** A question as it is read. */
export interface Asking {
  readonly text: string;
  readonly tokens: Token[];
  readonly context: { readonly at: string; readonly known: readonly Pick<KnownMemory, "claim" | "status">[] };
}

/** What the question word brings with it: "which KEYBOARD", "FOR whom". */
export interface Frame {
  readonly wh: string;
  readonly topic: string;
  readonly stranded?: string;
}

/** Resolves noun phrases as the one who asks would mean them. */
export function resolver(context: Asking["context"]): ReturnType<typeof discourse> {
  const claims = context.known.flatMap(({ claim, status }) => (claim && status === "current" ? [claim] : []));
  return discourse(
    speakerEntity(undefined),
    () => claims,
    () => [],
  );
}

/** The path of whom or what a noun phrase of the question names. */
export function pathAt(asking: Asking, from: number, to: number): string | undefined {
  const { tokens, context } = asking;
  const slice = tokens.slice(from, to);
  if (slice.some((token) => token.class === "pronoun" && FIRST_PERSON.has(token.lower))) return "user";
  const entity = resolver(context).resolve(tokens, from, to);
  return entity?.path ?? pathInSmall(asking, from, to);
}

/** A name in small letters, as people type it. */
function pathInSmall({ tokens, context }: Asking, from: number, to: number): string | undefined {
  const text = joinSpan(tokens, [from, to]).toLowerCase();
  const slice = tokens.slice(from, to);
  const isBare = slice.length <= 2 && slice.every(({ class: kind }) => kind === "noun" || kind === "name");
  const found =
    context.known.find(
      ({ claim }) => claim?.relation === "be called" && claim.value.toLowerCase() === text,
    ) ?? (isBare ? context.known.find(({ claim }) => claim?.subject.toLowerCase() === text) : undefined);
  return found?.claim?.subject;
}

/** The noun that a noun phrase of the question is about. */
export function headOf(tokens: readonly Token[], start: number, end: number): string {
  const of = tokens.findIndex((token, i) => i > start && i < end && token.lower === "of");
  return headWord(tokens, nounOf(tokens, start, of > start ? of : end));
}

/** What stands behind the verb and narrows the question. */
export function narrowing(asking: Asking, from: number): Pick<Question, "narrows"> {
  const text = tidy(joinSpan(asking.tokens, [from, asking.tokens.length]));
  return text === "" ? {} : { narrows: text };
}

const GENERIC_TOPIC =
  /^(?:activit(?:y|ies)|possessions?|belongings|items?|things?|stuff|one|ones|kinds?|types?|sorts?|names?|of|all)$/i;

export function topicPart(frame: Frame): Pick<Question, "topic"> {
  const topic = frame.topic
    .split(" ")
    .filter((word) => !GENERIC_TOPIC.test(word))
    .join(" ");
  return topic === "" ? {} : { topic };
}

const ASKS_WHEN = /^(?:day|date|time|month|year|weekday)\b|\bdate\b|\bday of the week\b/i;
const ASKS_MANY = /^(?:many|much|far|long|old|often|tall|big|heavy|high|fast|late|early)\b/i;

/** What kind of answer the question word asks for. */
export function askedFor(frame: Frame): Question["asks"] {
  if (frame.wh === "who" || frame.wh === "whom") return "who";
  if (frame.wh === "where") return "where";
  if (frame.wh === "when" || ASKS_WHEN.test(frame.topic)) return "when";
  return frame.wh === "how" && ASKS_MANY.test(frame.topic) ? "how_many" : "value";
}

/** The words of a noun phrase, without what does not count when values are compared. */
export function valueText(tokens: readonly Token[], from: number, to: number): string {
  return tidy(joinSpan(tokens, [from, to])).replace(
    /^(?:any|a|an|the|some|my|our|still|together with)\s+/i,
    "",
  );
}
